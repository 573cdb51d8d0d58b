//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A signal stops a command that reads files, also one that would never come to an end.
func TestSignalStopsALook(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "00000000000000000000.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 2)
	signals <- os.Interrupt
	var stdout, stderr bytes.Buffer
	code := run(&world{args: []string{"log", "dump", pipe}, stdout: &stdout, stderr: &stderr, signals: signals})
	if code != 1 || !strings.Contains(stderr.String(), "stopped by a signal") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	// The reader still waits for a writer: let it go.
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
