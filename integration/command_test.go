package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// writes is closed when a client has written a request of one kind.
type writes struct {
	key  int16
	sent chan struct{}
}

// OnBrokerWrite implements kgo.HookBrokerWrite.
func (w *writes) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if key == w.key && err == nil {
		select {
		case w.sent <- struct{}{}:
		default:
		}
	}
}

// TestSigtermWithParkedRequests stops a broker that owes answers: to a JoinGroup in its initial delay, and to fetches
// that wait for data. (Every other test stops its broker with SIGTERM too, and demands exit code 0 within 2 s.)
func TestSigtermWithParkedRequests(t *testing.T) {
	t.Parallel()
	for _, b := range []*process{
		startBroker(t, "dev", "--set", "group.initial.rebalance.delay.ms=60000"),
		startBroker(t, "serve", "--data", t.TempDir(), "--set", "group.initial.rebalance.delay.ms=60000"),
	} {
		createTopic(t, newAdmin(t, b.addr), "quiet", 1)
		fetch := &writes{int16(kmsg.Fetch), make(chan struct{}, 1)}
		for range 3 {
			reader := newClient(t, b.addr, kgo.ConsumeTopics("quiet"), kgo.FetchMaxWait(30*time.Second), kgo.WithHooks(fetch))
			go reader.PollFetches(t.Context())
			<-fetch.sent
		}
		member := newClient(t, b.addr, kgo.ConsumerGroup("parked"), kgo.ConsumeTopics("quiet"), kgo.WithContext(t.Context()))
		go member.PollFetches(t.Context())
		b.event(t, 0, "parked", "rebalance-started")
		b.stop(t)
	}
}

// TestSecondProcessIsRefused starts a second broker on a data directory that is in use.
func TestSecondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := serve(t, dir)
	code, _, stderr := run(t, nil, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, fmt.Sprintf("process %d", b.cmd.Process.Pid)) || strings.Count(stderr, "\n") > 0 {
		t.Errorf("exit code %d, want 1 and one sentence with the pid %d:\n%s", code, b.cmd.Process.Pid, stderr)
	}
	// The first one is none the worse for it, and after a kill -9 the lock is free.
	createTopic(t, newAdmin(t, b.addr), "still-there", 1)
}

// TestLockOfAKilledBrokerIsFree restarts after kill -9.
func TestLockOfAKilledBrokerIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serveForever(t, dir).kill()
	serve(t, dir)
}

// TestOtherNumberOfOffsetsPartitionsIsRefused starts a directory with another number of offsets partitions.
func TestOtherNumberOfOffsetsPartitionsIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := serveForever(t, dir)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "log", 1)
	commit(t, admin, "g", 3)
	b.stop(t)
	code, _, stderr := run(t, nil, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--set", "offsets.topic.num.partitions=7")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range []string{"offsets.topic.num.partitions is 7", "50 partitions", "groups would move", "set it to 50 or leave it out"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the refusal does not say %q:\n%s", want, stderr)
		}
	}
	b = serve(t, dir, "--set", "offsets.topic.num.partitions=50")
	if at := committed(t, newAdmin(t, b.addr), "g"); at != 3 {
		t.Errorf("the committed offset is %d, want 3", at)
	}
}

// TestPortInUse starts a broker on a port that is taken.
func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	code, _, stderr := run(t, nil, "dev", "--addr", l.Addr().String())
	if code != 1 || !strings.Contains(stderr, "port "+port) || !strings.Contains(stderr, "taken by another program") || !strings.Contains(stderr, "--addr 127.0.0.1:0") {
		t.Errorf("exit code %d, message:\n%s", code, stderr)
	}
}

// TestSettingsAndTheirOrigin checks the order of precedence as `kohort config` shows it, and a warning about a misspelt
// name.
func TestSettingsAndTheirOrigin(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "server.properties")
	content := "num.partitions=2\nlog.retention.ms=1000\nmessage.max.bytes=2000000\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"KAFKA_NUM_PARTITIONS=3", "KAFKA_LOG_RETENTION_MS=2000"}
	code, stdout, stderr := run(t, env, "config", "dev", "-f", file, "--set", "num.partitions=4", "--set", "num.partitons=5")
	if code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr)
	}
	rows := map[string]string{}
	for _, row := range strings.Split(stdout, "\n") {
		if fields := strings.Fields(row); len(fields) > 2 {
			rows[fields[0]] = strings.Join(fields[1:], " ")
		}
	}
	for name, want := range map[string]string{
		"num.partitions":                   "4 --set",
		"log.retention.ms":                 "2000 environment",
		"message.max.bytes":                "2000000 " + file,
		"group.initial.rebalance.delay.ms": "0 dev profile",
		"offsets.topic.num.partitions":     "50 default",
	} {
		if rows[name] != want {
			t.Errorf("kohort config shows %s as %q, want %q", name, rows[name], want)
		}
	}
	if !strings.Contains(stderr, "num.partitons") || !strings.Contains(stderr, "did you mean num.partitions?") {
		t.Errorf("the misspelt name is warned of so:\n%s", stderr)
	}
	// The broker warns of it, too, and obeys the others.
	b := dev(t, "--set", "num.partitons=5", "--set", "num.partitions=4")
	b.message(t, 0, "did you mean num.partitions?")
	kcat(t, "x\n", "-P", "-b", b.addr, "-t", "made-on-the-way")
	topics, err := newAdmin(t, b.addr).ListTopics(limited(t))
	if err != nil || len(topics["made-on-the-way"].Partitions) != 4 {
		t.Errorf("num.partitions=4 gave %d partitions (%v)", len(topics["made-on-the-way"].Partitions), err)
	}
}

// TestHelp runs kohort without arguments, and with wrong ones.
func TestHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, nil)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "kohort dev") || !strings.Contains(stdout, "kohort serve") {
		t.Errorf("kohort alone: exit code %d\n%s\n%s", code, stdout, stderr)
	}
	if code, _, stderr := run(t, nil, "sevre"); code != 2 || !strings.Contains(stderr, `did you mean "serve"?`) || !strings.Contains(stderr, "kohort help") {
		t.Errorf("kohort sevre: exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := run(t, nil, "serve"); code != 1 || !strings.Contains(stderr, "--data") {
		t.Errorf("kohort serve without a directory: exit code %d\n%s", code, stderr)
	}
}

// bannerLines returns the lines of the banner under a heading: "kcat", "Python" or "Go".
func bannerLines(t *testing.T, b *process, heading string) []string {
	t.Helper()
	b.stdout.wait(t, patience, 0, "end of the banner", func(s string) bool { return strings.HasPrefix(s, "Stop it") })
	all, _, _ := b.stdout.snapshot()
	var found []string
	for _, line := range all {
		switch {
		case strings.HasPrefix(line, "  "+heading+" "):
			found = append(found, strings.TrimSpace(strings.TrimPrefix(line, "  "+heading)))
		case len(found) > 0 && strings.HasPrefix(line, "          "):
			found = append(found, strings.TrimSpace(line))
		case len(found) > 0:
			return found
		}
	}
	t.Fatalf("the banner has no %s:\n%s", heading, b.stdout.text())
	return nil
}

// TestBannerKcat runs the banner's kcat line as it is printed, on a terminal.
func TestBannerKcat(t *testing.T) {
	t.Parallel()
	b := dev(t)
	line := strings.Join(bannerLines(t, b, "kcat"), "\n")
	cmd := exec.Command("script", "-qefc", line, "/dev/null") // a terminal, where kcat prints at once
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe() // open and silent, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := launch(t, cmd)
	for _, want := range []string{"1", "2", "9", "10"} {
		p.stdout.wait(t, patience, 0, "record "+want, func(s string) bool { return strings.TrimSpace(s) == want })
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // with the terminal everything on it ends
	<-p.exited
}

// TestBannerGo compiles and runs the banner's Go line as it is printed.
func TestBannerGo(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "demo", 1)
	produce(t, newClient(t, b.addr), "demo", 0, "hello from the banner")
	file := filepath.Join(t.TempDir(), "main.go")
	program := fmt.Sprintf(`package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	%s
	if err != nil {
		panic(err)
	}
	defer client.Close()
	client.PollFetches(context.Background()).EachRecord(func(r *kgo.Record) { fmt.Println(string(r.Value)) })
}
`, strings.Join(bannerLines(t, b, "Go"), "\n\t"))
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, exec.Command("go", "run", file))
	if code := p.code(t, 2*time.Minute); code != 0 || p.stdout.text() != "hello from the banner" {
		t.Errorf("the banner's Go, exit code %d:\n%s\n%s\n%s", code, program, p.stdout.text(), p.stderr.text())
	}
}

// TestBannerPython compiles the banner's Python lines.
func TestBannerPython(t *testing.T) {
	t.Parallel()
	lines := bannerLines(t, dev(t), "Python")
	file := filepath.Join(t.TempDir(), "banner.py")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("python3", "-m", "py_compile", file).CombinedOutput(); err != nil {
		t.Errorf("the banner's Python does not compile: %v\n%s\n%s", err, out, strings.Join(lines, "\n"))
	}
}
