package partitionlog

import (
	"container/list"
	"sync"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// files keeps segment files open between uses, within a bound. A file with a user is never closed: files that wait
// for a checkpoint have one, so the bound may be passed by those, and their number calls for a checkpoint.
type files struct {
	fs    vfs.FS
	limit int

	mu   sync.Mutex
	open map[*segment]*openFile
	idle list.List // of *openFile without users, least recently used first
}

// openFile is a file and the number of its users.
type openFile struct {
	vfs.File
	segment *segment
	users   int
	dropped bool          // closed by the last user
	element *list.Element // in idle
}

func newFiles(fs vfs.FS, limit int) *files {
	return &files{fs: fs, limit: limit, open: make(map[*segment]*openFile)}
}

// acquire opens a segment's file, or joins those who have it open. Pair it with release.
func (f *files) acquire(seg *segment) (*openFile, error) {
	if o := f.join(seg); o != nil {
		return o, nil
	}
	file, err := f.fs.Open(seg.path)
	if err != nil {
		return nil, err
	}
	return f.add(seg, file), nil
}

// create makes a segment's file, empty.
func (f *files) create(seg *segment) (*openFile, error) {
	file, err := f.fs.Create(seg.path)
	if err != nil {
		return nil, err
	}
	return f.add(seg, file), nil
}

func (f *files) join(seg *segment) *openFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.open[seg]
	if o == nil {
		return nil
	}
	if o.element != nil {
		f.idle.Remove(o.element)
		o.element = nil
	}
	o.users++
	return o
}

// add enters a file that was just opened; a rival that was faster wins.
func (f *files) add(seg *segment, file vfs.File) *openFile {
	if o := f.join(seg); o != nil {
		_ = file.Close()
		return o
	}
	f.mu.Lock()
	o := &openFile{File: file, segment: seg, users: 1}
	f.open[seg] = o
	evicted := f.evictIdle()
	f.mu.Unlock()
	closeFiles(evicted)
	return o
}

// evictIdle takes files without users out of the books until the bound is kept. The caller holds mu.
func (f *files) evictIdle() (evicted []*openFile) {
	for len(f.open) > f.limit && f.idle.Len() > 0 {
		o := f.idle.Remove(f.idle.Front()).(*openFile)
		o.element = nil
		delete(f.open, o.segment)
		evicted = append(evicted, o)
	}
	return evicted
}

// closeFiles closes files that were only read, or synced before.
func closeFiles(closing []*openFile) {
	for _, o := range closing {
		_ = o.Close()
	}
}

// release ends one use.
func (f *files) release(o *openFile) {
	f.mu.Lock()
	o.users--
	closing := false
	var evicted []*openFile
	if o.users == 0 {
		if closing = o.dropped; !closing {
			o.element = f.idle.PushBack(o)
			evicted = f.evictIdle()
		}
	}
	f.mu.Unlock()
	if closing {
		_ = o.Close()
	}
	closeFiles(evicted)
}

// drop forgets a segment's file, because it is about to be unlinked.
func (f *files) drop(seg *segment) {
	f.mu.Lock()
	o := f.open[seg]
	closing := false
	if o != nil {
		delete(f.open, seg)
		o.dropped = true
		if closing = o.users == 0; closing {
			f.idle.Remove(o.element)
			o.element = nil
		}
	}
	f.mu.Unlock()
	if closing {
		_ = o.Close()
	}
}

// closeAll closes everything that has no user.
func (f *files) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for seg, o := range f.open {
		_ = o.Close()
		delete(f.open, seg)
	}
	f.idle.Init()
}
