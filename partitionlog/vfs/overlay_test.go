package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// An overlay behaves as the disk does under random operations, and the disk below it stays as it is.
func TestOverlayAgainstTheDisk(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	lower, twin := t.TempDir(), t.TempDir()
	content := make([]byte, 3*overlayPage+100)
	for i := range content {
		content[i] = byte(i)
	}
	for _, dir := range []string{lower, twin} {
		if err := os.WriteFile(filepath.Join(dir, "a"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay := NewOverlay()
	defer overlay.Close()
	switch random.IntN(3) {
	case 0:
		if err := overlay.CaptureDir(lower); err != nil {
			t.Fatal(err)
		}
	case 1:
		overlay.Hold(filepath.Join(lower, "a"), filepath.Join(lower, "none"))
	}
	ours, err := overlay.Open(filepath.Join(lower, "a"))
	theirs, twinErr := OS.Open(filepath.Join(twin, "a"))
	if err != nil || twinErr != nil {
		t.Fatal(err, twinErr)
	}
	defer theirs.Close()
	for range 300 {
		at := random.Int64N(5 * overlayPage)
		b := make([]byte, random.IntN(2*overlayPage))
		switch random.IntN(5) {
		case 0:
			size := random.Int64N(5 * overlayPage)
			if err := errors.Join(ours.Truncate(size), theirs.Truncate(size)); err != nil {
				t.Fatal(err)
			}
		case 1:
			at, b = at/overlayPage*overlayPage, make([]byte, overlayPage) // zeros
			fallthrough
		case 2:
			if len(b) != overlayPage {
				for i := range b {
					b[i] = byte(random.Uint32())
				}
			}
			if _, err := ours.WriteAt(b, at); err != nil {
				t.Fatal(err)
			}
			if _, err := theirs.WriteAt(b, at); err != nil {
				t.Fatal(err)
			}
		default:
			other := make([]byte, len(b))
			n, err := ours.ReadAt(b, at)
			m, twinErr := theirs.ReadAt(other, at)
			if len(b) > 0 && (n != m || !bytes.Equal(b[:n], other[:m]) || errors.Is(err, io.EOF) != errors.Is(twinErr, io.EOF)) {
				t.Fatalf("read of %d at %d: %d, %v and %d, %v", len(b), at, n, err, m, twinErr)
			}
		}
	}
	if _, err := overlay.Open(filepath.Join(lower, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(lower, "a")); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file below has changed: %v", err)
	}
}

// Names are made, renamed and removed above the disk only; what was captured stays as it was.
func TestOverlayNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"sub/a", "sub/b", "other/c"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	o := NewOverlay()
	list := func(name, want string) {
		t.Helper()
		names, err := o.List(at(name))
		if got := strings.Join(names, " "); got != want || (want == "" && !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if err := o.CaptureDir(at("other")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(at("other/late"), nil, 0o600), os.WriteFile(at("other/c"), []byte("later"), 0o600)); err != nil {
		t.Fatal(err)
	}
	list("other", "c")
	b := make([]byte, 7)
	if f, err := o.Open(at("other/c")); err != nil {
		t.Error(err)
	} else if _, err := f.ReadAt(b, 0); err != nil || string(b) != "other/c" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := o.Create(at("sub/new")); err != nil {
		t.Error(err)
	}
	if err := errors.Join(o.Rename(at("sub/a"), at("sub/z")), o.Remove(at("sub/b")), o.MkdirAll(at("deep/er"))); err != nil {
		t.Error(err)
	}
	list("sub", "new z")
	list("deep", "er")
	list("none", "")
	if err := o.RemoveAll(at("sub")); err != nil {
		t.Error(err)
	}
	list("sub", "")
	for _, name := range []string{"sub/z", "sub/a", "none"} {
		if _, err := o.Open(at(name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := OS.List(at("sub"))
	if err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("on the disk: %v, %v", names, err)
	}
}

// A lock is seen, with its holder, also when that has added to the file; it can still be taken afterwards.
func TestHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "LOCK")
	if _, held := Holder(name); held {
		t.Error("a missing file is held")
	}
	lock, err := OS.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "a line of the holder's\n"} {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(content)
		f.Close()
		if pid, held := Holder(name); !held || pid != os.Getpid() {
			t.Errorf("%q added: got %d, %v", content, pid, held)
		}
	}
	lock.Close()
	if _, held := Holder(name); held {
		t.Error("it is held after Close")
	}
	again, err := OS.Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
