//go:build unix

package vfs

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

func (osFS) FreeBytes(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := ignoringEINTR(func() error { return syscall.Statfs(dir, &st) }); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the field types differ between systems
}

// Lock uses flock, so that a process that dies by any means leaves no lock behind.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = ignoringEINTR(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) })
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid := readPid(f)
		return nil, errors.Join(&LockedError{Path: name, Pid: pid}, f.Close())
	}
	if err == nil {
		err = writePid(f)
	}
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "lock", Path: name, Err: err}, f.Close())
	}
	return f, nil
}

func readPid(f io.ReaderAt) int {
	var b [20]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	line, _, _ := strings.Cut(string(b[:n]), "\n") // the holder may add lines of its own
	pid, err := strconv.Atoi(line)
	if err != nil {
		return 0
	}
	return pid
}

func writePid(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// Holder tells whether a process holds the lock of a lock file, and which, without taking it for longer than the look.
// A lock file that is missing or cannot be read is held by nobody that this process can know of.
func Holder(name string) (pid int, held bool) {
	f, err := os.Open(name)
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }() // it was only read
	err = ignoringEINTR(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) })
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return readPid(f), true
	}
	return 0, false
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
