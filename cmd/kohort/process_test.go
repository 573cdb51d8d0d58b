package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asKohort makes the program of the tests be kohort, so that a test can have it in a process of its own.
const asKohort = "KOHORT_TEST_IS_KOHORT"

func TestMain(m *testing.M) {
	if os.Getenv(asKohort) != "" {
		main() // it exits
	}
	os.Exit(m.Run())
}

// process is kohort in a process of its own.
type process struct {
	*os.Process
	addr           string
	stdout, stderr *terminal
	ended          chan struct{}
}

// serve starts `kohort serve` on a directory, and waits for its banner. It is killed when the test ends.
func serve(t *testing.T, dir string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{stdout: newTerminal(), stderr: newTerminal(), ended: make(chan struct{})}
	addrFile := filepath.Join(t.TempDir(), "addr")
	command := exec.Command(program, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--addr-file", addrFile, "--log-format", "json")
	command.Env = append(os.Environ(), asKohort+"=1")
	command.Stdout, command.Stderr = p.stdout, p.stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p.Process = command.Process
	go func() {
		_ = command.Wait() // that it has ended is what matters
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill() // it may have ended
		<-p.ended
	})
	select {
	case <-p.stdout.started:
	case <-p.ended:
		t.Fatalf("it ended:\n%s", p.stderr)
	case <-t.Context().Done():
		t.Fatal("no banner")
	}
	addr, err := os.ReadFile(addrFile)
	if err != nil {
		t.Fatal(err)
	}
	p.addr = strings.TrimSpace(string(addr))
	return p
}

// end sends a signal and waits for the end.
func (p *process) end(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}
