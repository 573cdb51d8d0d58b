package vfs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// memFreeBytes is what MemFS claims to have left: no test of free space ever refuses.
const memFreeBytes = 1 << 50

// MemFS is a disk in memory, for a broker that keeps nothing. Memory is given back by Remove,
// RemoveAll and Truncate. Names are cleaned, so "a/b" and "a//b" are one file.
type MemFS struct {
	mu    sync.Mutex
	files map[string]*memNode
	dirs  map[string]bool
	locks map[string]bool
}

// NewMem returns an empty disk with nothing but its root directory.
func NewMem() *MemFS {
	return &MemFS{
		files: map[string]*memNode{},
		dirs:  map[string]bool{".": true, "/": true},
		locks: map[string]bool{},
	}
}

// Create is as FS says. A handle on the file that had the name before keeps its bytes.
func (m *MemFS) Create(name string) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[name] {
		return nil, pathError("create", name, errIsDirectory)
	}
	if !m.dirs[filepath.Dir(name)] {
		return nil, pathError("create", name, fs.ErrNotExist)
	}
	if n := m.files[name]; n != nil {
		n.truncate(0)
		return &memFile{node: n, name: name}, nil
	}
	n := &memNode{}
	m.files[name] = n
	return &memFile{node: n, name: name}, nil
}

// Open is as FS says.
func (m *MemFS) Open(name string) (File, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.files[name]
	if n == nil {
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return &memFile{node: n, name: name}, nil
}

// Rename is as FS says; a directory moves with all that is in it.
func (m *MemFS) Rename(oldname, newname string) error {
	oldname, newname = filepath.Clean(oldname), filepath.Clean(newname)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirs[filepath.Dir(newname)] {
		return pathError("rename", newname, fs.ErrNotExist)
	}
	if n := m.files[oldname]; n != nil {
		if m.dirs[newname] {
			return pathError("rename", newname, errIsDirectory)
		}
		delete(m.files, oldname)
		m.files[newname] = n
		return nil
	}
	if !m.dirs[oldname] {
		return pathError("rename", oldname, fs.ErrNotExist)
	}
	if m.files[newname] != nil || !m.isEmpty(newname) {
		return pathError("rename", newname, fs.ErrExist)
	}
	renameUnder(m.files, oldname, newname)
	renameUnder(m.dirs, oldname, newname)
	return nil
}

func renameUnder[T any](names map[string]T, from, to string) {
	moved := map[string]T{}
	for name, v := range names {
		if under(name, from) {
			moved[to+name[len(from):]] = v
			delete(names, name)
		}
	}
	for name, v := range moved {
		names[name] = v
	}
}

// under reports whether name is dir or lies in it.
func under(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+string(filepath.Separator))
}

// Remove is as FS says.
func (m *MemFS) Remove(name string) error {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files[name] != nil {
		delete(m.files, name)
		return nil
	}
	if !m.dirs[name] {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if !m.isEmpty(name) {
		return pathError("remove", name, errNotEmpty)
	}
	delete(m.dirs, name)
	return nil
}

// RemoveAll is as FS says.
func (m *MemFS) RemoveAll(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.files {
		if under(name, dir) {
			delete(m.files, name)
		}
	}
	for name := range m.dirs {
		if under(name, dir) {
			delete(m.dirs, name)
		}
	}
	return nil
}

// MkdirAll is as FS says.
func (m *MemFS) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for dir = filepath.Clean(dir); !m.dirs[dir]; dir = filepath.Dir(dir) {
		if m.files[dir] != nil {
			return pathError("mkdir", dir, fs.ErrExist)
		}
		m.dirs[dir] = true
	}
	return nil
}

// List is as FS says.
func (m *MemFS) List(dir string) ([]string, error) {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dirs[dir] {
		return nil, pathError("list", dir, fs.ErrNotExist)
	}
	names := []string{}
	for name := range m.files {
		if filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	for name := range m.dirs {
		if filepath.Dir(name) == dir && name != dir {
			names = append(names, filepath.Base(name))
		}
	}
	sort.Strings(names)
	return names, nil
}

func (m *MemFS) isEmpty(dir string) bool {
	for name := range m.files {
		if filepath.Dir(name) == dir {
			return false
		}
	}
	for name := range m.dirs {
		if filepath.Dir(name) == dir && name != dir {
			return false
		}
	}
	return true
}

// SyncDir has nothing to do.
func (m *MemFS) SyncDir(string) error { return nil }

// FreeBytes never runs out.
func (m *MemFS) FreeBytes(string) (int64, error) { return memFreeBytes, nil }

// Lock excludes a second Lock of the same name on the same MemFS.
func (m *MemFS) Lock(name string) (io.Closer, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] {
		return nil, &LockedError{Path: name, Pid: os.Getpid()}
	}
	m.locks[name] = true
	return closer(func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locks, name)
		return nil
	}), nil
}

type closer func() error

func (c closer) Close() error { return c() }

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}
