package harness

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait for something that ought to happen soon. It is long only so that a busy machine fails
// nothing.
const Patience = 60 * time.Second

// Process is a program that a test started, with all that it starts itself: signals go to its process group.
type Process struct {
	Stdout, Stderr *Lines

	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of Wait; valid after exited
}

// Start starts a program and waits for nothing. It does not outlive the test. Standard input is left as the command has
// it.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := launch(t, cmd)
	t.Cleanup(p.Kill)
	return p
}

// launch is Start for a process that the caller ends.
func launch(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Stdout: newLines(), Stderr: newLines(), cmd: cmd, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes
	if cmd.Env == nil {
		cmd.Env = CleanEnv()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		p.Stderr.end()
		p.Stdout.end()
		close(p.exited)
	}()
	return p
}

// Signal sends a signal to the process and its children.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	select {
	case <-p.exited:
		t.Fatalf("%v for a process that has ended: %v\nstdout:\n%s\nstderr:\n%s", s, p.cmd.Args, p.Stdout.Text(), p.Stderr.Text())
	default:
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil {
		t.Fatalf("%v to %v: %v", s, p.cmd.Args, err)
	}
}

// Kill ends the process and its children as kill -9 does, and returns when it is gone.
func (p *Process) Kill() {
	select {
	case <-p.exited: // its number may belong to somebody else by now
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails only if it has just ended
		<-p.exited
	}
}

// Code waits for the end and returns the exit code.
func (p *Process) Code(t testing.TB, within time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("%v still runs after %v\nstdout:\n%s\nstderr:\n%s", p.cmd.Args, within, p.Stdout.Text(), p.Stderr.Text())
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		t.Fatalf("%v: %v", p.cmd.Args, p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Run runs a program to its end, which must be exit code 0, and returns its standard output.
func Run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	p := Start(t, cmd)
	if code := p.Code(t, 2*Patience); code != 0 {
		t.Fatalf("%v: exit code %d\nstdout:\n%s\nstderr:\n%s", cmd.Args, code, p.Stdout.Text(), p.Stderr.Text())
	}
	all, _, _ := p.Stdout.Snapshot()
	return strings.Join(all, "\n")
}

// CleanEnv is the environment without settings of a broker.
func CleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KAFKA_") {
			env = append(env, v)
		}
	}
	return env
}

// Until asks again and again until the answer is yes: for what gives no event to wait for.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after %v not yet: %s", Patience, what)
		}
	}
}
