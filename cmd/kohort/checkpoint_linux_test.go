package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/partitionlog"
)

// The pid in the lock file may be one of another container, and here be that of a process which the signal would end.
func TestAnotherProcessIsNotAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	b, err := broker.Start(t.Context(), broker.Config{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	innocent := exec.Command("sleep", "1000")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, partitionlog.LockFile)
	if err := os.WriteFile(lock, fmt.Appendf(nil, "%d\n%s", innocent.Process.Pid, announcement), 0o644); err != nil {
		t.Error(err)
	}
	done, errOut := copyOf(t, dir)
	want := fmt.Sprintf("process %d does not have the lock file open here", innocent.Process.Pid)
	if done.Fresh || !done.Running || !strings.Contains(errOut, want) {
		t.Errorf("%+v, %q, want %q", done, errOut, want)
	}
	if err := os.WriteFile(lock, []byte("nonsense\n"), 0o644); err != nil {
		t.Error(err)
	}
	if _, errOut := copyOf(t, dir); !strings.Contains(errOut, "the lock file names no process") {
		t.Errorf("got %q", errOut)
	}
	_ = innocent.Process.Kill() // the next line tells
	_ = innocent.Wait()
	if status := innocent.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("the process was ended by %v", status.Signal())
	}
}
