package vfs

import (
	"errors"
	"io"
	"io/fs"
	"sync"
)

// memChunkBytes is the unit in which memory is taken and given back. A first chunk grows by doubling
// up to it, so that thousands of small files stay small.
const memChunkBytes = 64 << 10

var (
	errIsDirectory   = errors.New("is a directory")
	errNotEmpty      = errors.New("directory is not empty")
	errNegativeRange = errors.New("negative offset or size")
)

// memNode is the bytes of one file, shared by its handles.
//
// Invariant: len(chunks) = ceil(size / memChunkBytes) or less; a chunk that is absent or short reads as zero.
type memNode struct {
	mu     sync.RWMutex
	chunks [][]byte
	size   int64
}

func (n *memNode) readAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegativeRange
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if off >= n.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > n.size-off
	if short {
		p = p[:n.size-off]
	}
	for done := 0; done < len(p); {
		at := off + int64(done)
		i, within := int(at/memChunkBytes), int(at%memChunkBytes)
		piece := p[done:min(len(p), done+memChunkBytes-within)]
		copied := 0
		if i < len(n.chunks) && within < len(n.chunks[i]) {
			copied = copy(piece, n.chunks[i][within:])
		}
		clear(piece[copied:])
		done += len(piece)
	}
	if short {
		return len(p), io.EOF
	}
	return len(p), nil
}

func (n *memNode) writeAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegativeRange
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for done := 0; done < len(p); {
		at := off + int64(done)
		within := int(at % memChunkBytes)
		piece := p[done:min(len(p), done+memChunkBytes-within)]
		copy(n.chunk(int(at/memChunkBytes), within+len(piece))[within:], piece)
		done += len(piece)
	}
	n.size = max(n.size, off+int64(len(p)))
	return len(p), nil
}

// chunk returns chunk i with at least need bytes.
func (n *memNode) chunk(i, need int) []byte {
	for len(n.chunks) <= i {
		n.chunks = append(n.chunks, nil)
	}
	c := n.chunks[i]
	if need <= len(c) {
		return c
	}
	if need > cap(c) {
		grown := memChunkBytes
		if i == 0 && len(n.chunks) == 1 {
			grown = min(memChunkBytes, max(2*cap(c), need, 512))
		}
		bigger := make([]byte, need, grown)
		copy(bigger, c)
		c = bigger
	}
	c = c[:need] // what lies between the old and the new length is still zero
	n.chunks[i] = c
	return c
}

func (n *memNode) truncate(size int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.size = size
	keep := int((size + memChunkBytes - 1) / memChunkBytes)
	if keep >= len(n.chunks) {
		keep = len(n.chunks)
	} else {
		clear(n.chunks[keep:])
		n.chunks = n.chunks[:keep]
	}
	if keep == 0 || int64(keep) != (size+memChunkBytes-1)/memChunkBytes {
		return
	}
	last := int(size - int64(keep-1)*memChunkBytes)
	if c := n.chunks[keep-1]; last < len(c) {
		clear(c[last:])
		n.chunks[keep-1] = c[:last]
	}
}

// memFile is a handle.
type memFile struct {
	node   *memNode
	name   string
	mu     sync.Mutex
	closed bool
}

func (f *memFile) check(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathError(op, f.name, fs.ErrClosed)
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read"); err != nil {
		return 0, err
	}
	return f.node.readAt(p, off)
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check("write"); err != nil {
		return 0, err
	}
	return f.node.writeAt(p, off)
}

func (f *memFile) Truncate(size int64) error {
	if err := f.check("truncate"); err != nil {
		return err
	}
	if size < 0 {
		return pathError("truncate", f.name, errNegativeRange)
	}
	f.node.truncate(size)
	return nil
}

func (f *memFile) Sync() error { return f.check("sync") }

func (f *memFile) Size() (int64, error) {
	if err := f.check("stat"); err != nil {
		return 0, err
	}
	f.node.mu.RLock()
	defer f.node.mu.RUnlock()
	return f.node.size, nil
}

func (f *memFile) Close() error {
	if err := f.check("close"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}
