package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// ErrHalted is what every operation returns after the machine has stopped.
var ErrHalted = errors.New("the machine is off")

// Op is one operation on a CrashFS, as the injected function sees it. Kind is one of create, open, rename, remove,
// removeall, mkdir, list, syncdir, lock, read, write, truncate, sync.
type Op struct {
	Kind string
	Path string
	To   string // of a rename
	Pos  int64  // of a read, write or truncate
	Len  int    // of a read or write
	N    int    // counts the operations that change the disk, from 1; reading ones have the number of the last change
}

// Fault is what goes wrong with an operation. The zero value lets it pass.
type Fault struct {
	Err  error
	Keep int  // a write that fails has written this many bytes
	Drop bool // a sync that fails forgets that pages are dirty: they stay readable, and no later sync writes them
}

// CrashFS is a disk for tests. It knows what is durable, and what only the kernel's cache holds: per page of 4 KiB, per
// file size, per name. Crash returns a disk that a power cut may leave. Faults can be injected, and the machine can
// be stopped at any operation.
type CrashFS struct {
	mu sync.Mutex

	seed    uint64
	now     namespace // what programs see
	durable namespace // what a power cut leaves for certain
	pending []nameOp  // changes of names that are not durable yet, oldest first
	locks   map[string]bool

	ops    int
	haltAt int
	inject func(Op) Fault
	free   int64
	trace  []string
	traced bool
}

// NewCrash returns an empty disk. The seed goes into every Crash.
func NewCrash(seed uint64) *CrashFS {
	return &CrashFS{seed: seed, now: newNamespace(), durable: newNamespace(), locks: map[string]bool{}, free: memFreeBytes}
}

// Inject sets the function that decides about every operation; nil lets all pass. It must not use the disk.
func (c *CrashFS) Inject(fn func(Op) Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inject = fn
}

// HaltAt stops the machine when the n-th change is about to be made; 0 never does.
func (c *CrashFS) HaltAt(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.haltAt = n
}

// Ops is how many changes were made or tried.
func (c *CrashFS) Ops() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ops
}

// SetFree sets what FreeBytes returns. Writes do not change it.
func (c *CrashFS) SetFree(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = bytes
}

// StartTrace begins to note operations as text, one line each: "write d/f 4096 100", "sync d/f".
func (c *CrashFS) StartTrace() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trace, c.traced = nil, true
}

// Trace returns the lines since StartTrace. What failed has its error behind a colon.
func (c *CrashFS) Trace() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.trace...)
}

// Crash stops the machine and returns a disk that its power cut may leave. Each unsynced page survives, is lost or is
// torn between sectors; each unsynced size and name survives or not; all independently, and decided by the seed.
func (c *CrashFS) Crash(seed uint64) *CrashFS {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.haltAt = 1
	c.ops = max(c.ops, 1)
	rng := rand.New(rand.NewPCG(c.seed, seed))
	// Disks differ: one loses everything, one nothing, most a part.
	luck := [...]float64{0, 0.1, 0.5, 0.5, 0.9, 1}[rng.IntN(6)]
	names := c.durable.clone()
	for _, op := range c.pending {
		if rng.Float64() < luck {
			op.apply(names)
		}
	}
	names.dropOrphans()
	after := NewCrash(seed)
	after.free = c.free
	copies := map[*inode]*inode{}
	for _, name := range names.sorted() {
		n := names[name]
		if copies[n] == nil { // two names of one file: its rename survived by half, which link and unlink can do
			copies[n] = n.afterCrash(rng, luck)
		}
		after.now[name] = copies[n]
	}
	after.durable = after.now.clone()
	return after
}

// begin notes and judges one operation. The lock is held.
func (c *CrashFS) begin(op Op, changes bool) (Fault, error) {
	op.Path = filepath.Clean(op.Path)
	if c.haltAt > 0 && c.ops >= c.haltAt {
		return Fault{}, pathError(op.Kind, op.Path, ErrHalted)
	}
	if changes {
		c.ops++
		if c.haltAt > 0 && c.ops >= c.haltAt {
			return Fault{}, pathError(op.Kind, op.Path, ErrHalted)
		}
	}
	op.N = c.ops
	var f Fault
	if c.inject != nil {
		f = c.inject(op)
	}
	if c.traced {
		line := op.Kind + " " + op.Path
		if op.Kind == "read" || op.Kind == "write" || op.Kind == "truncate" {
			line += fmt.Sprintf(" %d %d", op.Pos, op.Len)
		}
		if op.To != "" {
			line += " " + op.To
		}
		if f.Err != nil {
			line += ": " + f.Err.Error()
		}
		c.trace = append(c.trace, line)
	}
	if f.Err != nil {
		f.Err = pathError(op.Kind, op.Path, f.Err)
	}
	return f, f.Err
}

// Create is as FS says.
func (c *CrashFS) Create(name string) (File, error) {
	name = filepath.Clean(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "create", Path: name}, true); err != nil {
		return nil, err
	}
	n, exists := c.now[name]
	switch {
	case exists && n.dir:
		return nil, pathError("create", name, errIsDirectory)
	case !c.now.isDir(filepath.Dir(name)):
		return nil, pathError("create", name, fs.ErrNotExist)
	case exists:
		n.truncate(0)
	default:
		n = newInode(false)
		c.change(nameOp{kind: nameLink, name: name, node: n})
	}
	return &crashFile{c: c, node: n, name: name}, nil
}

// Open is as FS says.
func (c *CrashFS) Open(name string) (File, error) {
	name = filepath.Clean(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "open", Path: name}, false); err != nil {
		return nil, err
	}
	n := c.now[name]
	if n == nil {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	if n.dir {
		return nil, pathError("open", name, errIsDirectory)
	}
	return &crashFile{c: c, node: n, name: name}, nil
}

// Rename is as FS says.
func (c *CrashFS) Rename(oldname, newname string) error {
	oldname, newname = filepath.Clean(oldname), filepath.Clean(newname)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "rename", Path: oldname, To: newname}, true); err != nil {
		return err
	}
	n, target := c.now[oldname], c.now[newname]
	switch {
	case n == nil || !c.now.isDir(filepath.Dir(newname)):
		return pathError("rename", oldname, fs.ErrNotExist)
	case target != nil && (n.dir || target.dir):
		return pathError("rename", newname, fs.ErrExist)
	}
	c.change(nameOp{kind: nameRename, name: oldname, to: newname, node: n})
	return nil
}

// Remove is as FS says.
func (c *CrashFS) Remove(name string) error {
	name = filepath.Clean(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "remove", Path: name}, true); err != nil {
		return err
	}
	n := c.now[name]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if n.dir && len(c.now.children(name)) > 0 {
		return pathError("remove", name, errNotEmpty)
	}
	c.change(nameOp{kind: nameUnlink, name: name})
	return nil
}

// RemoveAll is as FS says. Each name in the directory is a change of its own.
func (c *CrashFS) RemoveAll(dir string) error {
	dir = filepath.Clean(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	names := c.now.sorted()
	for i := len(names) - 1; i >= 0; i-- { // children before their directory
		if !under(names[i], dir) {
			continue
		}
		if _, err := c.begin(Op{Kind: "removeall", Path: names[i]}, true); err != nil {
			return err
		}
		c.change(nameOp{kind: nameUnlink, name: names[i]})
	}
	return nil
}

// MkdirAll is as FS says. Each directory is a change of its own.
func (c *CrashFS) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mkdirAll(dir)
}

func (c *CrashFS) mkdirAll(dir string) error {
	if n := c.now[dir]; n != nil && !n.dir {
		return pathError("mkdir", dir, fs.ErrExist)
	}
	if c.now.isDir(dir) {
		return nil
	}
	if err := c.mkdirAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if _, err := c.begin(Op{Kind: "mkdir", Path: dir}, true); err != nil {
		return err
	}
	c.change(nameOp{kind: nameLink, name: dir, node: newInode(true)})
	return nil
}

// List is as FS says.
func (c *CrashFS) List(dir string) ([]string, error) {
	dir = filepath.Clean(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "list", Path: dir}, false); err != nil {
		return nil, err
	}
	if !c.now.isDir(dir) {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	return c.now.children(dir), nil
}

// SyncDir makes the names in a directory durable, in the order in which they were changed.
func (c *CrashFS) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "syncdir", Path: dir}, true); err != nil {
		return err
	}
	if !c.now.isDir(dir) {
		return pathError("syncdir", dir, fs.ErrNotExist)
	}
	rest := c.pending[:0]
	for _, op := range c.pending {
		if op.dir() == dir {
			op.apply(c.durable)
		} else {
			rest = append(rest, op)
		}
	}
	c.pending = rest
	return nil
}

// FreeBytes returns what SetFree said.
func (c *CrashFS) FreeBytes(string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.free, nil
}

// Lock excludes a second Lock of the same name. A crash frees it.
func (c *CrashFS) Lock(name string) (io.Closer, error) {
	name = filepath.Clean(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(Op{Kind: "lock", Path: name}, false); err != nil {
		return nil, err
	}
	if c.locks[name] {
		return nil, &LockedError{Path: name, Pid: os.Getpid()}
	}
	c.locks[name] = true
	return closer(func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.locks, name)
		return nil
	}), nil
}

// change makes a change of names now, and durable some day.
func (c *CrashFS) change(op nameOp) {
	op.apply(c.now)
	c.pending = append(c.pending, op)
}

func newInode(dir bool) *inode { return &inode{dir: dir, dirty: map[int64]bool{}} }
