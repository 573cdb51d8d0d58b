package vfs

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("vfs.seed", 0, "seed of random tests; 0 = fresh")

func seed(t *testing.T) uint64 {
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-vfs.seed=%d", s)
	return s
}

// must returns a value whose error is nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func content(t *testing.T, d FS, name string) []byte {
	t.Helper()
	f := must(d.Open(name))
	defer f.Close()
	b := make([]byte, must(f.Size()))
	if n, err := f.ReadAt(b, 0); n != len(b) || err != nil && err != io.EOF {
		t.Fatalf("read %q: %d bytes of %d, %v", name, n, len(b), err)
	}
	return b
}

func put(t *testing.T, d FS, name string, b []byte, sync bool) {
	t.Helper()
	f := must(d.Create(name))
	_, err := f.WriteAt(b, 0)
	ok(t, err)
	if sync {
		ok(t, f.Sync())
	}
	ok(t, f.Close())
}

// disks runs a test on every disk, in a directory of its own.
func disks(t *testing.T, test func(t *testing.T, d FS, dir string)) {
	t.Run("disk=os", func(t *testing.T) { test(t, OS, t.TempDir()) })
	t.Run("disk=mem", func(t *testing.T) {
		d := NewMem()
		ok(t, d.MkdirAll("/x/y"))
		test(t, d, "/x/y")
	})
	t.Run("disk=crash", func(t *testing.T) {
		d := NewCrash(1)
		ok(t, d.MkdirAll("/x/y"))
		test(t, d, "/x/y")
	})
}

func TestNames(t *testing.T) {
	disks(t, func(t *testing.T, d FS, dir string) {
		a, b, sub := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "s", "u")
		if _, err := d.Open(a); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of a missing file: %v", err)
		}
		if _, err := d.Create(filepath.Join(dir, "none", "a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("create in a missing directory: %v", err)
		}
		if _, err := d.List(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("list of a missing directory: %v", err)
		}
		put(t, d, a, []byte("first"), true)
		put(t, d, b, []byte("second"), true)
		ok(t, d.MkdirAll(sub), d.MkdirAll(sub), d.SyncDir(dir))
		put(t, d, filepath.Join(sub, "c"), []byte("third"), true)
		if got, want := must(d.List(dir)), []string{"a", "b", "s"}; !slices.Equal(got, want) {
			t.Errorf("list: %q, want %q", got, want)
		}
		ok(t, d.Rename(a, b))
		if got := content(t, d, b); string(got) != "first" {
			t.Errorf("after a replacing rename: %q", got)
		}
		if err := d.Rename(a, b); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rename of a missing file: %v", err)
		}
		moved := filepath.Join(dir, "t")
		ok(t, d.Rename(filepath.Join(dir, "s"), moved))
		if got := content(t, d, filepath.Join(moved, "u", "c")); string(got) != "third" {
			t.Errorf("in a renamed directory: %q", got)
		}
		if err := d.Remove(moved); err == nil {
			t.Error("a directory with something in it was removed")
		}
		ok(t, d.RemoveAll(moved), d.RemoveAll(moved))
		if err := d.Remove(moved); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove of a missing name: %v", err)
		}
		open := must(d.Open(b))
		ok(t, d.Remove(b))
		buf := make([]byte, 5)
		if _, err := open.ReadAt(buf, 0); err != nil && err != io.EOF || string(buf) != "first" {
			t.Errorf("an open file after its removal: %q, %v", buf, err)
		}
		ok(t, open.Close())
		if got := must(d.List(dir)); len(got) != 0 {
			t.Errorf("left over: %q", got)
		}
		if free := must(d.FreeBytes(dir)); free <= 0 {
			t.Errorf("%d bytes free", free)
		}
	})
}

// TestBytes compares every disk with a slice.
func TestBytes(t *testing.T) {
	s := seed(t)
	disks(t, func(t *testing.T, d FS, dir string) {
		rng := rand.New(rand.NewPCG(s, 0))
		f := must(d.Create(filepath.Join(dir, "f")))
		defer f.Close()
		var want []byte
		for i := range 400 {
			off := rng.IntN(300 << 10)
			switch rng.IntN(8) {
			case 0:
				ok(t, f.Truncate(int64(off)))
				want = sized(want, off)
			case 1:
				ok(t, f.Sync())
			case 2:
				buf := make([]byte, rng.IntN(100<<10))
				n, err := f.ReadAt(buf, int64(off))
				have := []byte(nil)
				if off < len(want) {
					have = want[off:min(len(want), off+len(buf))]
				}
				if n < len(buf) && err != io.EOF || n == len(buf) && err != nil && err != io.EOF {
					t.Fatalf("op %d: read of %d at %d of %d: %d, %v", i, len(buf), off, len(want), n, err)
				}
				if !bytes.Equal(buf[:n], have) {
					t.Fatalf("op %d: read of %d at %d of %d differs", i, len(buf), off, len(want))
				}
			default:
				p := make([]byte, rng.IntN(100<<10))
				for k := range p {
					p[k] = byte(rng.Uint32())
				}
				if n, err := f.WriteAt(p, int64(off)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
				if len(p) > 0 {
					want = sized(want, max(len(want), off+len(p)))
					copy(want[off:], p)
				}
			}
			if size := must(f.Size()); size != int64(len(want)) {
				t.Fatalf("op %d: size %d, want %d", i, size, len(want))
			}
		}
		if got := content(t, d, filepath.Join(dir, "f")); !bytes.Equal(got, want) {
			t.Error("content differs at the end")
		}
	})
}

func TestCreateTruncates(t *testing.T) {
	disks(t, func(t *testing.T, d FS, dir string) {
		name := filepath.Join(dir, "f")
		put(t, d, name, []byte("something"), true)
		put(t, d, name, []byte("no"), true)
		if got := content(t, d, name); string(got) != "no" {
			t.Errorf("%q", got)
		}
	})
}

func TestLock(t *testing.T) {
	disks(t, func(t *testing.T, d FS, dir string) {
		name := filepath.Join(dir, "lock")
		l := must(d.Lock(name))
		_, err := d.Lock(name)
		var locked *LockedError
		if !errors.As(err, &locked) || locked.Path != name || locked.Pid != os.Getpid() {
			t.Fatalf("second lock: %v", err)
		}
		ok(t, l.Close())
		l = must(d.Lock(name))
		ok(t, l.Close())
	})
}

func TestLockFileHoldsPid(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	ok(t, os.WriteFile(name, []byte("99999999999 left by somebody\n"), 0o644))
	l := must(OS.Lock(name))
	defer l.Close()
	if got, want := string(must(os.ReadFile(name))), strconv.Itoa(os.Getpid())+"\n"; got != want {
		t.Errorf("lock file holds %q, want %q", got, want)
	}
}

func TestClosedFile(t *testing.T) {
	disks(t, func(t *testing.T, d FS, dir string) {
		f := must(d.Create(filepath.Join(dir, "f")))
		ok(t, f.Close())
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write to a closed file: %v", err)
		}
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
	})
}

func TestMemGivesMemoryBack(t *testing.T) {
	d := NewMem()
	f := must(d.Create("f")).(*memFile)
	_, err := f.WriteAt(make([]byte, 1<<20), 0)
	ok(t, err, f.Truncate(100))
	if n := len(f.node.chunks); n != 1 {
		t.Errorf("%d chunks after truncation", n)
	}
	ok(t, f.Truncate(1<<40)) // a sparse file costs nothing
	buf := make([]byte, 8)
	if n, err := f.ReadAt(buf, 1<<39); n != 8 || err != nil || !bytes.Equal(buf, make([]byte, 8)) {
		t.Errorf("in a hole: %x, %v", buf[:n], err)
	}
	small := must(d.Create("small")).(*memFile)
	_, err = small.WriteAt([]byte("x"), 0)
	ok(t, err)
	if c := cap(small.node.chunks[0]); c > 512 {
		t.Errorf("one byte takes %d", c)
	}
}

// TestMemConcurrent is for the race detector, and checks that readers see whole records.
func TestMemConcurrent(t *testing.T) {
	f := must(NewMem().Create("f"))
	const record, records = 1000, 500
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			buf := make([]byte, record)
			for seen := int64(0); seen < records; {
				size := must(f.Size())
				for ; seen < size/record; seen++ {
					n, err := f.ReadAt(buf, seen*record)
					if n != record || err != nil || !bytes.Equal(buf, bytes.Repeat([]byte{byte(seen)}, record)) {
						t.Errorf("record %d: %d, %v", seen, n, err)
						return
					}
				}
			}
		})
	}
	for i := range int64(records) {
		_, err := f.WriteAt(bytes.Repeat([]byte{byte(i)}, record), i*record)
		ok(t, err)
	}
	readers.Wait()
}
