//go:build !linux

package vfs

import "syscall"

// fdatasync is fsync where the system has nothing lighter.
func fdatasync(fd int) error { return syscall.Fsync(fd) }
