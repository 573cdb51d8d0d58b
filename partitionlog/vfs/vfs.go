package vfs

import (
	"fmt"
	"io"
)

// FS is a disk: verbs on names. All methods may be called by several goroutines at once.
//
// Errors: a missing name is fs.ErrNotExist, in the sense of errors.Is.
type FS interface {
	// Create opens name for reading and writing with no bytes in it, whether or not it existed.
	Create(name string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// Rename gives a file or directory a new name and replaces a file that has it.
	Rename(oldname, newname string) error
	// Remove unlinks a file or an empty directory.
	Remove(name string) error
	// RemoveAll unlinks a directory with everything in it; a missing one is no error.
	RemoveAll(dir string) error
	// MkdirAll makes a directory and those above it; an existing one is no error.
	MkdirAll(dir string) error
	// List returns the base names in a directory, sorted.
	List(dir string) ([]string, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// FreeBytes is the space left for this process on the disk that holds the directory.
	FreeBytes(dir string) (int64, error)
	// Lock takes an exclusive lock on a file, which then holds the process id, until Close or the
	// death of the process.
	//
	// Errors: *LockedError when somebody holds it.
	Lock(name string) (io.Closer, error)
}

// File is an open file.
//
// Owner: one writer at a time for WriteAt, Truncate, Sync and Close; ReadAt and Size at any time.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Truncate sets the size; bytes that are added read as zero.
	Truncate(size int64) error
	// Sync makes the bytes and the size durable (fdatasync).
	Sync() error
	Size() (int64, error)
	Close() error
}

// LockedError says who holds the lock that was asked for.
type LockedError struct {
	Path string // the lock file
	Pid  int    // as written in the lock file; 0 when it holds none
}

// Error names the file and the holder, with the remedy.
func (e *LockedError) Error() string {
	if e.Pid == 0 {
		return fmt.Sprintf("%q is locked by another process; stop it, or use another directory", e.Path)
	}
	return fmt.Sprintf("%q is locked by process %d; stop it, or use another directory", e.Path, e.Pid)
}
