package vfs

import (
	"errors"
	"os"
	"syscall"
)

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
