//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// checkpointSignals are the signals that ask for a checkpoint. One that waits to be taken stands for all that follow.
func checkpointSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	return signals
}

// askForCheckpoint sends the signal to the process that holds the lock, if it is sure to be that one and takes it so: to
// any other process this signal may be the end.
func askForCheckpoint(lock string, pid int) error {
	if pid <= 0 {
		return errors.New("the lock file names no process")
	}
	process, err := os.FindProcess(pid) // on Linux a handle, which is never that of a later process with the same number
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	defer func() { _ = process.Release() }()
	if err := hasOpen(pid, lock); err != nil {
		return err
	}
	if !announced(lock) {
		return fmt.Errorf("process %d does not take SIGUSR1 for it, as `kohort serve` does", pid)
	}
	if holder, held := vfs.Holder(lock); !held || holder != pid {
		return nil // it has ended meanwhile
	}
	switch err := process.Signal(syscall.SIGUSR1); {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("process %d belongs to another user", pid)
	case err != nil && !errors.Is(err, os.ErrProcessDone):
		return fmt.Errorf("process %d cannot be asked: %w", pid, err)
	}
	return nil
}

// hasOpen makes sure that a process has a file open. The pid in it may be one of another container or machine, and
// here another process has it. Only Linux can tell; where there are no such containers, the lock that is held suffices.
func hasOpen(pid int, name string) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	want, err := os.Stat(name)
	if err != nil {
		return err
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("process %d belongs to another user", pid)
	}
	for _, file := range files {
		if got, err := os.Stat(filepath.Join(dir, file.Name())); err == nil && os.SameFile(got, want) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not have the lock file open here, so the broker is in another container or on another machine", pid)
}
