package vfs

import (
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
)

const (
	crashPageBytes   = 4096
	crashSectorBytes = 512 // what a disk writes whole or not at all
)

// inode is a file, apart from its names.
type inode struct {
	dir     bool
	cached  []byte         // what programs read
	durable []byte         // what the disk holds
	dirty   map[int64]bool // pages that the next sync writes
}

func (n *inode) resize(size int64) {
	switch old := int64(len(n.cached)); {
	case size < old:
		n.cached = slices.Clone(n.cached[:size])
	case size > old:
		n.cached = append(n.cached, make([]byte, size-old)...)
	}
}

func (n *inode) touch(from, to int64) {
	for p := from / crashPageBytes; p*crashPageBytes < to; p++ {
		n.dirty[p] = true
	}
}

func (n *inode) write(p []byte, off int64) {
	n.resize(max(int64(len(n.cached)), off+int64(len(p))))
	copy(n.cached[off:], p)
	n.touch(off, off+int64(len(p)))
}

func (n *inode) truncate(size int64) {
	old := int64(len(n.cached))
	n.resize(size)
	n.touch(min(old, size), max(old, size))
}

// sync makes size and dirty pages durable. Pages that an earlier failed sync dropped stay as the disk has them.
func (n *inode) sync() {
	n.durable = sized(n.durable, len(n.cached))
	for p := range n.dirty {
		if at := p * crashPageBytes; at < int64(len(n.cached)) {
			copy(n.durable[at:], n.cached[at:min(at+crashPageBytes, int64(len(n.cached)))])
		}
	}
	clear(n.dirty)
}

// sized returns b with another length; what is added is zero.
func sized(b []byte, size int) []byte {
	if size <= len(b) {
		return slices.Clone(b[:size])
	}
	return append(slices.Clone(b), make([]byte, size-len(b))...)
}

// afterCrash is a file that a power cut may leave of n.
func (n *inode) afterCrash(rng *rand.Rand, luck float64) *inode {
	c := newInode(n.dir)
	size := len(n.durable)
	if len(n.cached) != size && rng.Float64() < luck {
		size = len(n.cached)
	}
	c.durable = sized(n.durable, size)
	for _, p := range slices.Sorted(maps.Keys(n.dirty)) {
		from := p * crashPageBytes
		whole, torn := rng.Float64() < luck, rng.IntN(4) == 0
		for at := from; at < from+crashPageBytes; at += crashSectorBytes {
			survives := whole
			if torn && luck > 0 && luck < 1 {
				survives = rng.IntN(2) == 0
			}
			if to := min(at+crashSectorBytes, int64(len(n.cached)), int64(size)); survives && at < to {
				copy(c.durable[at:to], n.cached[at:to])
			}
		}
	}
	c.cached = slices.Clone(c.durable)
	return c
}

// crashFile is a handle.
type crashFile struct {
	c      *CrashFS
	node   *inode
	name   string
	closed bool
}

func (f *crashFile) begin(op Op, changes bool) (Fault, error) {
	op.Path = f.name
	if f.closed {
		return Fault{}, pathError(op.Kind, f.name, fs.ErrClosed)
	}
	return f.c.begin(op, changes)
}

func (f *crashFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if _, err := f.begin(Op{Kind: "read", Pos: off, Len: len(p)}, false); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathError("read", f.name, errNegativeRange)
	}
	if off >= int64(len(f.node.cached)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.cached[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) WriteAt(p []byte, off int64) (int, error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if off < 0 {
		return 0, pathError("write", f.name, errNegativeRange)
	}
	fault, err := f.begin(Op{Kind: "write", Pos: off, Len: len(p)}, true)
	if err != nil {
		p = p[:min(max(fault.Keep, 0), len(p))]
	}
	if len(p) > 0 {
		f.node.write(p, off)
	}
	return len(p), err
}

func (f *crashFile) Truncate(size int64) error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if size < 0 {
		return pathError("truncate", f.name, errNegativeRange)
	}
	if _, err := f.begin(Op{Kind: "truncate", Pos: size}, true); err != nil {
		return err
	}
	f.node.truncate(size)
	return nil
}

func (f *crashFile) Sync() error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	fault, err := f.begin(Op{Kind: "sync"}, true)
	if err != nil {
		if fault.Drop {
			clear(f.node.dirty)
		}
		return err
	}
	f.node.sync()
	return nil
}

func (f *crashFile) Size() (int64, error) {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if _, err := f.begin(Op{Kind: "size"}, false); err != nil {
		return 0, err
	}
	return int64(len(f.node.cached)), nil
}

// Close works on a machine that is off, too: programs must be able to end.
func (f *crashFile) Close() error {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}
