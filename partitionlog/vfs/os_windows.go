package vfs

import (
	"errors"
	"io"
	"math"
)

// errWindows refuses data directories where open files can be neither renamed nor removed. Everything that lives in
// memory works there: `kohort dev`, and brokers embedded in tests.
var errWindows = errors.New("data directories need a Unix system; on Windows use `kohort dev`, which keeps everything in memory")

// FreeBytes is not asked: no store gets past Lock.
func (osFS) FreeBytes(string) (int64, error) { return math.MaxInt64, nil }

// Lock refuses, with the reason.
func (osFS) Lock(string) (io.Closer, error) { return nil, errWindows }

// Holder tells which process holds a lock file; none can.
func Holder(string) (pid int, held bool) { return 0, false }
