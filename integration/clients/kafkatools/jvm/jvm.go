// Package jvm starts the Java programs of a folder of clients, built by the folder's `install`, by its `run`. It knows
// nothing of what they do.
package jvm

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/kohort/kohort/integration/clients/harness"
)

// Folder is a folder of clients with Java programs.
type Folder struct {
	dir     string
	install func() error
}

// At returns a folder below integration/clients. It is built when first used.
func At(name string) *Folder {
	_, here, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(here), "..", "..", name)
	return &Folder{dir: dir, install: sync.OnceValue(func() error {
		if out, err := exec.Command(filepath.Join(dir, "install")).CombinedOutput(); err != nil {
			return fmt.Errorf("installing %s: %w\n%s", name, err, out)
		}
		return nil
	})}
}

// Command is a program: its main class and arguments.
func (f *Folder) Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	if err := f.install(); err != nil {
		t.Fatal(err)
	}
	return exec.Command(filepath.Join(f.dir, "run"), args...)
}

// Start starts a program.
func (f *Folder) Start(t testing.TB, args ...string) *harness.Process {
	t.Helper()
	return harness.Start(t, f.Command(t, args...))
}
