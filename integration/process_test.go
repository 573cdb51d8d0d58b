package integration

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for something that ought to happen at once. It is long only so that a busy machine fails
// nothing.
const patience = 20 * time.Second

// process is a program that a test started.
type process struct {
	cmd    *exec.Cmd
	stdout *lines
	stderr *lines // of a broker: its log
	exited chan struct{}
	err    error // of Wait; valid after exited
	addr   string
}

// launch starts a program and does not wait for anything. It does not outlive the test.
func launch(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stdout: newLines(), stderr: newLines(), exited: make(chan struct{})}
	p.stdout.other, cmd.Stdout, cmd.Stderr = p.stderr, p.stdout, p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		p.stderr.end()
		p.stdout.end()
		close(p.exited)
	}()
	t.Cleanup(func() { p.kill() })
	return p
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.exited
}

// code waits for the end and returns the exit code.
func (p *process) code(t testing.TB, within time.Duration) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		t.Fatalf("%v still runs after %v\nstdout:\n%s\nstderr:\n%s", p.cmd.Args, within, p.stdout.text(), p.stderr.text())
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		t.Fatalf("%v: %v", p.cmd.Args, p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// run runs kohort to its end.
func run(t testing.TB, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(kohort, args...)
	cmd.Env = append(cleanEnv(), env...)
	p := launch(t, cmd)
	code = p.code(t, patience)
	out, _, _ := p.stdout.snapshot()
	return code, strings.Join(out, "\n"), p.stderr.text()
}

// cleanEnv is the environment without settings of a broker.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KAFKA_") {
			env = append(env, v)
		}
	}
	return env
}

// dev starts a broker in memory, and stops it in good order at the end of the test.
func dev(t testing.TB, args ...string) *process {
	t.Helper()
	p := startBroker(t, append([]string{"dev"}, args...)...)
	t.Cleanup(func() { p.stop(t) })
	return p
}

// serve starts a durable broker with the speed of dev, and stops it in good order at the end of the test.
func serve(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	p := serveForever(t, dir, args...)
	t.Cleanup(func() { p.stop(t) })
	return p
}

// serveForever is serve for a broker that the test itself ends.
func serveForever(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	fast := []string{"serve", "--data", dir, "--set", "group.initial.rebalance.delay.ms=0", "--set", "group.min.session.timeout.ms=100"}
	return startBroker(t, append(fast, args...)...)
}

// startBroker starts kohort on a free port and waits until it says that it is ready.
func startBroker(t testing.TB, args ...string) *process {
	t.Helper()
	addrFile := filepath.Join(t.TempDir(), "addr")
	cmd := exec.Command(kohort, append(args, "--addr", "127.0.0.1:0", "--addr-file", addrFile, "--log-format", "json", "--log-level", "debug")...)
	cmd.Env = cleanEnv()
	p := launch(t, cmd)
	line := p.stdout.wait(t, patience, 0, "banner with the address", func(s string) bool {
		return strings.HasPrefix(s, "  Kafka ")
	})
	p.addr = strings.Fields(line)[1]
	if written, err := os.ReadFile(addrFile); err != nil || string(written) != p.addr+"\n" {
		t.Fatalf("the address file holds %q (%v), the banner says %q", written, err, p.addr)
	}
	return p
}

// stop ends a broker with SIGTERM, and fails the test if that does not go in good order within two seconds, or if the
// broker logged an error during its life.
func (p *process) stop(t testing.TB) {
	t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		<-p.exited
		t.Errorf("the broker was gone before its end: %v\n%s", p.err, p.stderr.text())
		return
	}
	if code := p.code(t, patience); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, p.stderr.text())
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("SIGTERM: the end took %v, want at most 2 s\n%s", took, p.stderr.text())
	}
	all, _, _ := p.stderr.snapshot()
	for _, line := range all {
		if l := parseLog(line); l.Level == "error" || l.Level == "fatal" || l.Level == "panic" || l.Level == "" {
			t.Errorf("the broker logged an error: %s", line)
		}
	}
	if t.Failed() {
		t.Logf("the broker's log:\n%s", p.messages())
	}
}

// logLine is what tests look at in a line of the log.
type logLine struct {
	Level, Event, Group, Member, Reason, Message, State string
	Generation                                          int32
}

// messages is the log for a person to read.
func (p *process) messages() string {
	all, _, _ := p.stderr.snapshot()
	var b strings.Builder
	for _, line := range all {
		if l := parseLog(line); l.Level != "debug" {
			b.WriteString("  " + l.Level + " " + l.Message + "\n")
		}
	}
	return b.String()
}

// parseLog reads a line; one that is no JSON gives a zero value.
func parseLog(line string) logLine {
	var l logLine
	if json.Unmarshal([]byte(line), &l) != nil {
		return logLine{}
	}
	return l
}

// event waits for a decision about a group, among the lines after the first `from`.
func (p *process) event(t testing.TB, from int, group, event string) logLine {
	t.Helper()
	return parseLog(p.stderr.wait(t, patience, from, "log line "+event+" of group "+group, func(s string) bool {
		l := parseLog(s)
		return l.Group == group && l.Event == event
	}))
}

// message waits for a line of the log whose message contains a text.
func (p *process) message(t testing.TB, from int, text string) logLine {
	t.Helper()
	return parseLog(p.stderr.wait(t, patience, from, "log line with "+text, func(s string) bool {
		return strings.Contains(parseLog(s).Message, text)
	}))
}
