package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// Overlay shows the operating system's files and keeps every change to itself: a recovery can be tried on it, and the
// directory stays as it is, also one that cannot be written to.
//
// A file that is captured is read once, whole, and shown as it was then, whatever happens to it; a directory that is
// captured shows the files that it had. All others are read where they lie.
//
// Owner: any goroutine.
type Overlay struct {
	mu    sync.Mutex
	files map[string]*overlayFile // made, written to, or captured
	gone  map[string]bool         // removed names; what is below them, too
	dirs  map[string]bool         // made here
	whole map[string]bool         // captured directories: the system's are not looked at
	held  []*os.File
}

// NewOverlay returns one without changes.
func NewOverlay() *Overlay {
	return &Overlay{files: map[string]*overlayFile{}, gone: map[string]bool{}, dirs: map[string]bool{}, whole: map[string]bool{}}
}

// captureChunk is how much is read at once, from the end of a file to its beginning.
const captureChunk = 1 << 20

// Capture reads a file into memory, the end first: of a file that somebody appends to, what is read of its beginning
// is then newer than what is read of its end, and so no page is there without those before it.
func (o *Overlay) Capture(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	b := make([]byte, st.Size())
	for end := int64(len(b)); end > 0; {
		from := max(0, end-captureChunk)
		if _, err := f.ReadAt(b[from:end], from); err != nil {
			return fmt.Errorf("read %q: %w", name, err)
		}
		end = from
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	file := newOverlayFile("", 0)
	file.lower, file.size = b, int64(len(b))
	o.files[path.Clean(name)] = file
	return nil
}

// CaptureDir captures the files of a directory, the last name first, and no others are shown from then on.
func (o *Overlay) CaptureDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range slices.Backward(entries) {
		if entry.IsDir() {
			continue
		}
		if err := o.Capture(path.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole[path.Clean(dir)] = true
	return nil
}

// Hold opens files of the system now, so that they can be read until Close whatever becomes of their names. What cannot
// be opened is not held, and is missing when it is asked for.
func (o *Overlay) Hold(names ...string) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		st, err := f.Stat()
		if err != nil {
			_ = f.Close() // it was only read
			continue
		}
		file := newOverlayFile(name, st.Size())
		file.held = f
		o.mu.Lock()
		o.files[path.Clean(name)] = file
		o.held = append(o.held, f)
		o.mu.Unlock()
	}
}

// Close lets go of the files that are held.
func (o *Overlay) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.held {
		_ = f.Close() // it was only read
	}
	o.held = nil
}

// hidden tells whether the system's file of that name is not shown. The caller holds mu.
func (o *Overlay) hidden(name string) bool {
	if o.whole[path.Dir(name)] {
		return true
	}
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if o.gone[name] {
			return true
		}
	}
	return false
}

// Create implements FS.
func (o *Overlay) Create(name string) (File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := newOverlayFile("", 0)
	o.files[path.Clean(name)] = f
	return f, nil
}

// Open implements FS.
func (o *Overlay) Open(name string) (File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	name = path.Clean(name)
	if f := o.files[name]; f != nil {
		return f, nil
	}
	if o.hidden(name) {
		return nil, &os.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	f := newOverlayFile(name, st.Size())
	o.files[name] = f
	return f, nil
}

// Rename implements FS, for files.
func (o *Overlay) Rename(oldname, newname string) error {
	f, err := o.Open(oldname)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.files, path.Clean(oldname))
	o.gone[path.Clean(oldname)] = true
	o.files[path.Clean(newname)] = f.(*overlayFile)
	return nil
}

// Remove implements FS.
func (o *Overlay) Remove(name string) error {
	if _, err := o.Open(name); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.files, path.Clean(name))
	o.gone[path.Clean(name)] = true
	return nil
}

// RemoveAll implements FS.
func (o *Overlay) RemoveAll(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	dir = path.Clean(dir)
	for name := range o.files {
		if strings.HasPrefix(name, dir+"/") {
			delete(o.files, name)
		}
	}
	for name := range o.dirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			delete(o.dirs, name)
		}
	}
	o.gone[dir] = true
	return nil
}

// MkdirAll implements FS.
func (o *Overlay) MkdirAll(dir string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for dir = path.Clean(dir); dir != "." && dir != "/"; dir = path.Dir(dir) {
		o.dirs[dir] = true
	}
	return nil
}

// List implements FS.
func (o *Overlay) List(dir string) ([]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	dir = path.Clean(dir)
	names := map[string]bool{}
	var missing error = &os.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	if o.dirs[dir] || o.whole[dir] {
		missing = nil
	}
	if !o.whole[dir] && !o.hidden(dir) {
		entries, err := os.ReadDir(dir)
		if err == nil {
			missing = nil
		}
		for _, entry := range entries {
			names[entry.Name()] = !o.gone[path.Join(dir, entry.Name())]
		}
	}
	for _, set := range []map[string]bool{keys(o.files), o.dirs} {
		for name := range set {
			if path.Dir(name) == dir {
				names[path.Base(name)], missing = true, nil
			}
		}
	}
	var list []string
	for name, shown := range names {
		if shown {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, missing
}

// keys returns the names of files.
func keys(files map[string]*overlayFile) map[string]bool {
	set := make(map[string]bool, len(files))
	for name := range files {
		set[name] = true
	}
	return set
}

// SyncDir implements FS: there is nothing to make durable.
func (o *Overlay) SyncDir(string) error { return nil }

// FreeBytes implements FS: what is written takes no disk.
func (o *Overlay) FreeBytes(string) (int64, error) { return math.MaxInt64, nil }

// Lock implements FS: nobody else sees these files, so there is nothing to lock.
func (o *Overlay) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }
