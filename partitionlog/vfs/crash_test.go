package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

// outcomes crashes disks made by build with many seeds, and counts what look says about each.
func outcomes(t *testing.T, build func(d *CrashFS), look func(d *CrashFS) string) map[string]int {
	s := seed(t)
	seen := map[string]int{}
	for i := range uint64(2000) {
		d := NewCrash(s)
		build(d)
		seen[look(d.Crash(i))]++
	}
	return seen
}

func exactly(t *testing.T, got map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if got[w] == 0 {
			t.Errorf("%q never happened: %v", w, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("outcomes %v, want %q", got, want)
	}
}

func look(d *CrashFS, name string) string {
	f, err := d.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	b := make([]byte, must(f.Size()))
	if len(b) > 0 {
		must(f.ReadAt(b, 0))
	}
	return string(b)
}

func TestSyncedSurvives(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("data"), true)
		ok(t, d.SyncDir("."))
	}, func(d *CrashFS) string { return look(d, "f") }), "data")
}

func TestUnsyncedMayOrMayNotSurvive(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("old!"), true)
		ok(t, d.SyncDir("."))
		f := must(d.Open("f"))
		_, err := f.WriteAt([]byte("new!more"), 0)
		ok(t, err)
	}, func(d *CrashFS) string { return look(d, "f") }),
		"old!", "new!", "old!\x00\x00\x00\x00", "new!more") // size and page go apart
}

func TestNameNeedsSyncDir(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("data"), true)
	}, func(d *CrashFS) string { return look(d, "f") }), "data", "missing")
}

func TestDataNeedsSync(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("data"), false)
		ok(t, d.SyncDir("."))
	}, func(d *CrashFS) string { return look(d, "f") }), "", "data", "\x00\x00\x00\x00")
}

func TestDirectoryNeedsSyncDirOfParent(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		ok(t, d.MkdirAll("a/b"))
		put(t, d, "a/b/f", []byte("data"), true)
		ok(t, d.SyncDir("a/b"), d.SyncDir("a"))
	}, func(d *CrashFS) string { return look(d, "a/b/f") }), "data", "missing")
}

func TestRenameAndRemoveAreIndependent(t *testing.T) {
	got := outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("1"), true)
		put(t, d, "g", []byte("2"), true)
		put(t, d, "h", []byte("3"), true)
		ok(t, d.SyncDir("."), d.Rename("f", "g"), d.Remove("h"))
	}, func(d *CrashFS) string { return look(d, "f") + look(d, "g") + look(d, "h") })
	exactly(t, got, "123", "missing13", "12missing", "missing1missing")
}

func TestTornPage(t *testing.T) {
	page := bytes.Repeat([]byte{1}, crashPageBytes)
	mixed := 0
	for i := range uint64(500) {
		d := NewCrash(1)
		put(t, d, "f", make([]byte, crashPageBytes), true)
		ok(t, d.SyncDir("."))
		_, err := must(d.Open("f")).WriteAt(page, 0)
		ok(t, err)
		b := content(t, d.Crash(i), "f")
		for at := 0; at < len(b); at += crashSectorBytes {
			if s := b[at : at+crashSectorBytes]; !bytes.Equal(s, page[:crashSectorBytes]) && !bytes.Equal(s, make([]byte, crashSectorBytes)) {
				t.Fatal("a sector is torn")
			}
		}
		if b[0] != b[len(b)-1] {
			mixed++
		}
	}
	if mixed == 0 {
		t.Error("no page was torn")
	}
}

func TestTruncationIsUnsynced(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("data"), true)
		ok(t, d.SyncDir("."), must(d.Open("f")).Truncate(2))
	}, func(d *CrashFS) string { return look(d, "f") }), "data", "da")
}

func TestCrashIsRepeatable(t *testing.T) {
	build := func() *CrashFS {
		d := NewCrash(7)
		for i := range 20 {
			put(t, d, string(rune('a'+i)), bytes.Repeat([]byte{byte(i)}, 3*crashPageBytes), i%3 == 0)
			if i == 10 {
				ok(t, d.SyncDir("."))
			}
		}
		return d
	}
	for i := range uint64(50) {
		a, b := build().Crash(i), build().Crash(i)
		if !slices.Equal(must(a.List(".")), must(b.List("."))) {
			t.Fatalf("seed %d: names differ", i)
		}
		for _, name := range must(a.List(".")) {
			if !bytes.Equal(content(t, a, name), content(t, b, name)) {
				t.Fatalf("seed %d: %q differs", i, name)
			}
		}
	}
}

func TestCrashedDiskIsDurable(t *testing.T) {
	d := NewCrash(3)
	put(t, d, "f", []byte("data"), false)
	for i := range uint64(100) {
		once := d.Crash(i)
		if a, b := look(once, "f"), look(once.Crash(i+1), "f"); a != b {
			t.Fatalf("seed %d: %q, and after another crash %q", i, a, b)
		}
	}
}

func TestHalt(t *testing.T) {
	d := NewCrash(1)
	f := must(d.Create("f")) // 1
	d.HaltAt(3)
	_, err := f.WriteAt([]byte("x"), 0) // 2
	ok(t, err)
	if err := f.Sync(); !errors.Is(err, ErrHalted) { // 3
		t.Errorf("sync: %v", err)
	}
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrHalted) {
		t.Errorf("read of a machine that is off: %v", err)
	}
	if err := d.SyncDir("."); !errors.Is(err, ErrHalted) || d.Ops() != 3 {
		t.Errorf("sync of a machine that is off: %v, %d operations", err, d.Ops())
	}
	d.Crash(0)
	d = NewCrash(1)
	d.Crash(0)
	if _, err := d.Create("f"); !errors.Is(err, ErrHalted) {
		t.Errorf("create after the crash: %v", err)
	}
}

func TestInjectedFaults(t *testing.T) {
	d := NewCrash(1)
	f := must(d.Create("f"))
	d.StartTrace()
	d.Inject(func(op Op) Fault {
		switch {
		case op.Kind == "write" && op.Pos == 8:
			return Fault{Err: syscall.ENOSPC, Keep: 2}
		case op.Kind == "syncdir":
			return Fault{Err: syscall.EIO}
		}
		return Fault{}
	})
	_, err := f.WriteAt([]byte("12345678"), 0)
	ok(t, err)
	if n, err := f.WriteAt([]byte("abcd"), 8); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("short write: %d, %v", n, err)
	}
	if err := d.SyncDir("."); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync of the directory: %v", err)
	}
	if got := look(d, "f"); got != "12345678ab" {
		t.Errorf("content %q", got)
	}
	ok(t, d.Rename("f", "g"))
	want := []string{
		"write f 0 8", "write f 8 4: no space left on device", "syncdir .: input/output error",
		"open f", "size f", "read f 0 10", "rename f g",
	}
	if got := d.Trace(); !slices.Equal(got, want) {
		t.Errorf("trace %q, want %q", got, want)
	}
	d.SetFree(5)
	if free := must(d.FreeBytes(".")); free != 5 {
		t.Errorf("%d bytes free", free)
	}
}

// TestFsyncgate: after a failed sync the cache shows bytes that no later sync writes.
func TestFsyncgate(t *testing.T) {
	exactly(t, outcomes(t, func(d *CrashFS) {
		put(t, d, "f", []byte("old"), true)
		ok(t, d.SyncDir("."))
		f := must(d.Open("f"))
		_, err := f.WriteAt([]byte("new"), 0)
		ok(t, err)
		d.Inject(func(Op) Fault { return Fault{Err: syscall.EIO, Drop: true} })
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("sync: %v", err)
		}
		d.Inject(nil)
		ok(t, f.Sync())
		if got := look(d, "f"); got != "new" {
			t.Fatalf("the cache shows %q", got)
		}
	}, func(d *CrashFS) string { return look(d, "f") }), "old")
}

// TestRandomCrash keeps a model of what is synced, and wants it after every crash.
func TestRandomCrash(t *testing.T) {
	s := seed(t)
	for round := range uint64(300) {
		rng := rand.New(rand.NewPCG(s, round))
		d := NewCrash(s)
		ok(t, d.MkdirAll("d"), d.SyncDir("."))
		synced := map[string][]byte{} // names and bytes that are durable and were not changed since
		for range 30 {
			name := "d/" + string(rune('a'+rng.IntN(4)))
			delete(synced, name)
			switch rng.IntN(5) {
			case 0:
				_ = d.Remove(name) // it may be missing
			case 1:
				to := "d/" + string(rune('a'+rng.IntN(4)))
				delete(synced, to)
				_ = d.Rename(name, to) // it may be missing
			default:
				put(t, d, name, bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(10000)), true)
			}
			if rng.IntN(3) == 0 {
				ok(t, d.SyncDir("d"))
				for _, base := range must(d.List("d")) {
					synced["d/"+base] = content(t, d, "d/"+base)
				}
			}
		}
		after := d.Crash(round)
		for name, want := range synced {
			if got := look(after, name); got != string(want) {
				t.Fatalf("seed %d round %d: %q has %d bytes, want %d", s, round, name, len(got), len(want))
			}
		}
	}
}
