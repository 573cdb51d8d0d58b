package vfs

import (
	"os"
	"syscall"
)

// Sync is fdatasync, which leaves out what a reader of the bytes does not need, such as times: for a file that was
// written once before, no metadata is written at all.
func (f osFile) Sync() error {
	if err := ignoringEINTR(func() error { return syscall.Fdatasync(int(f.Fd())) }); err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}
