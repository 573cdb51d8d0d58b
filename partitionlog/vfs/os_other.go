//go:build !linux

package vfs

// Sync is what the system has for it; on macOS that is F_FULLFSYNC, since fsync there does not reach the medium.
func (f osFile) Sync() error { return f.File.Sync() }
