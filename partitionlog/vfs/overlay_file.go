package vfs

import (
	"io"
	"os"
	"sync"
)

// overlayPage is the unit in which changes are kept.
const overlayPage = 4096

// overlayFile is a file of an Overlay: pages that were written here, above bytes that were captured or lie in a file of
// the system.
//
// Invariant: bytes from lowerSize on that no page holds are zero; lowerSize only shrinks, with Truncate.
type overlayFile struct {
	name string   // of the system's file; "" when there is none
	held *os.File // the same, if it is held open

	mu        sync.Mutex
	lower     []byte
	lowerSize int64
	size      int64
	pages     map[int64]*[overlayPage]byte // nil for a page of zeros
}

// newOverlayFile returns a file above one of the system's.
func newOverlayFile(name string, size int64) *overlayFile {
	return &overlayFile{name: name, lowerSize: size, size: size, pages: map[int64]*[overlayPage]byte{}}
}

// ReadAt implements File.
func (f *overlayFile) ReadAt(b []byte, at int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at >= f.size {
		return 0, io.EOF
	}
	if most := f.size - at; int64(len(b)) > most {
		b, err = b[:most], io.EOF
	}
	clear(b)
	if err := f.readLower(b, at); err != nil {
		return 0, err
	}
	for index := at / overlayPage; index*overlayPage < at+int64(len(b)); index++ {
		page, written := f.pages[index]
		if !written {
			continue
		}
		from := max(index*overlayPage, at)
		to := min((index+1)*overlayPage, at+int64(len(b)))
		if page == nil {
			clear(b[from-at : to-at])
			continue
		}
		copy(b[from-at:to-at], page[from-index*overlayPage:])
	}
	return len(b), err
}

// readLower fills in what lies below the pages.
func (f *overlayFile) readLower(b []byte, at int64) error {
	if at >= f.lowerBytes() {
		return nil
	}
	b = b[:min(int64(len(b)), f.lowerBytes()-at)]
	if f.name == "" {
		copy(b, f.lower[at:])
		return nil
	}
	if f.held != nil {
		_, err := f.held.ReadAt(b, at)
		return err
	}
	lower, err := os.Open(f.name)
	if err != nil {
		return err
	}
	defer func() { _ = lower.Close() }() // it was only read
	_, err = lower.ReadAt(b, at)
	return err
}

// lowerBytes is how much counts of what lies below the pages.
func (f *overlayFile) lowerBytes() int64 {
	if f.name == "" {
		return int64(len(f.lower))
	}
	return f.lowerSize
}

// WriteAt implements File.
func (f *overlayFile) WriteAt(b []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := int64(0); n < int64(len(b)); {
		index := (at + n) / overlayPage
		from := at + n - index*overlayPage
		part := b[n:min(int64(len(b)), n+overlayPage-from)]
		if err := f.writePage(index, from, part); err != nil {
			return int(n), err
		}
		n += int64(len(part))
	}
	f.size = max(f.size, at+int64(len(b)))
	return len(b), nil
}

// writePage writes within one page. A page of zeros takes no memory.
func (f *overlayFile) writePage(index, from int64, b []byte) error {
	page, written := f.pages[index]
	if len(b) == overlayPage && *(*[overlayPage]byte)(b) == ([overlayPage]byte{}) {
		f.pages[index] = nil
		return nil
	}
	if page == nil {
		page = new([overlayPage]byte)
		if !written {
			if err := f.readLower(page[:], index*overlayPage); err != nil {
				return err
			}
		}
		f.pages[index] = page
	}
	copy(page[from:], b)
	return nil
}

// Truncate implements File.
func (f *overlayFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size < f.size {
		f.lowerSize = min(f.lowerSize, size)
		f.lower = f.lower[:min(int64(len(f.lower)), size)]
		for index, page := range f.pages {
			switch {
			case index*overlayPage >= size:
				delete(f.pages, index)
			case page != nil && (index+1)*overlayPage > size:
				clear(page[size-index*overlayPage:])
			}
		}
	}
	f.size = size
	return nil
}

// Sync implements File.
func (f *overlayFile) Sync() error { return nil }

// Size implements File.
func (f *overlayFile) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size, nil
}

// Close implements File.
func (f *overlayFile) Close() error { return nil }
