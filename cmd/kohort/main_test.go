package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// terminal collects output and tells when the first line of it has come.
type terminal struct {
	mu      sync.Mutex
	text    bytes.Buffer
	once    sync.Once
	started chan struct{}
}

func newTerminal() *terminal { return &terminal{started: make(chan struct{})} }

// Write implements io.Writer.
func (o *terminal) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.once.Do(func() { close(o.started) })
	return o.text.Write(p)
}

// String returns everything that was written.
func (o *terminal) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is a run of kohort within the test.
type program struct {
	stdout, stderr *terminal
	signals        chan os.Signal
	exit           chan int
}

// begin runs kohort with arguments, and stops it when the test ends.
func begin(t *testing.T, environ []string, args ...string) *program {
	t.Helper()
	p := &program{stdout: newTerminal(), stderr: newTerminal(), signals: make(chan os.Signal, 2), exit: make(chan int, 1)}
	go func() {
		p.exit <- run(&world{args: args, environ: environ, stdout: p.stdout, stderr: p.stderr, signals: p.signals})
	}()
	return p
}

// ready waits for the banner.
func (p *program) ready(t *testing.T) {
	t.Helper()
	select {
	case <-p.stdout.started:
	case code := <-p.exit:
		t.Fatalf("exit code %d before the banner:\n%s", code, p.stderr)
	case <-t.Context().Done():
		t.Fatal("no banner")
	}
}

// ends waits for the exit code.
func (p *program) ends(t *testing.T, want int) {
	t.Helper()
	if got := <-p.exit; got != want {
		t.Fatalf("exit code %d, want %d:\n%s%s", got, want, p.stdout, p.stderr)
	}
}

func TestDev(t *testing.T) {
	addrFile := filepath.Join(t.TempDir(), "addr")
	p := begin(t, nil, "dev", "--addr", "127.0.0.1:0", "--addr-file", addrFile, "--log-format", "json")
	p.ready(t)
	text, err := os.ReadFile(addrFile)
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSpace(string(text))
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(addrFile), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("demo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), kgo.StringRecord("hello")).FirstErr(); err != nil {
		t.Error(err)
	}
	client.Close()
	p.signals <- syscall.SIGTERM
	p.ends(t, 0)
	for _, want := range []string{
		"kohort dev", "everything is lost on exit", "group.initial.rebalance.delay.ms is 0 (Kafka: 3000)",
		"group.min.session.timeout.ms is 100 (Kafka: 6000)", "kcat -P -b " + addr, "confluent_kafka", `kgo.SeedBrokers("` + addr + `")`,
	} {
		if !strings.Contains(p.stdout.String(), want) {
			t.Errorf("banner lacks %q:\n%s", want, p.stdout)
		}
	}
	for line := range strings.Lines(p.stderr.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("log line is not JSON: %s", line)
		}
	}
}

// --data is one path, though log.dirs is a list.
func TestServeWithACommaInThePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a,b")
	p := begin(t, nil, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	p.ready(t)
	p.signals <- os.Interrupt
	p.ends(t, 0)
	if _, err := os.Stat(filepath.Join(dir, "journal")); err != nil {
		t.Error(err)
	}
}

// A broker that was stopped starts again with what it had, and its directory has one user at a time.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	p := begin(t, nil, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	p.ready(t)
	second := begin(t, nil, "serve", "--data", dir, "--addr", "127.0.0.1:0")
	second.ends(t, 1)
	if got := second.stderr.String(); !strings.HasPrefix(got, "kohort: ") || !strings.Contains(got, "locked by") || strings.Count(got, "\n") != 1 {
		t.Errorf("got %q", got)
	}
	p.signals <- os.Interrupt
	p.ends(t, 0)
	again := begin(t, []string{"KAFKA_LOG_DIRS=" + dir}, "serve", "--addr", "127.0.0.1:0", "--fsync", "off")
	again.ready(t)
	again.signals <- os.Interrupt
	again.ends(t, 0)
	if got := again.stdout.String(); !strings.Contains(got, "data in "+dir) || !strings.Contains(got, "--fsync=off") {
		t.Errorf("got %q", got)
	}
}

func TestTakenPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	p := begin(t, nil, "dev", "--addr", listener.Addr().String())
	p.ends(t, 1)
	if got := p.stderr.String(); !strings.Contains(got, "port "+port+" of 127.0.0.1 is taken") || !strings.Contains(got, "--addr 127.0.0.1:0") {
		t.Errorf("got %q", got)
	}
}

// What is wrong with arguments and settings is one sentence.
func TestMistakes(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "file")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve"}, 1, "--data DIR"},
		{[]string{"serve", "--set", "log.dirs=/a,/b"}, 1, "one directory"},
		{[]string{"dev", "--set", "num.partitions"}, 1, "name=value"},
		{[]string{"dev", "--set", "num.partitions=many"}, 1, `num.partitions is "many" (from --set)`},
		{[]string{"dev", "--addr", "nonsense"}, 1, "HOST:PORT"},
		{[]string{"dev", "-f", missing}, 1, "-f"},
		{[]string{"dev", "--addr", "127.0.0.1:0", "--addr-file", missing}, 1, "--addr-file"},
		{[]string{"serve", "--fsync", "maybe"}, 2, "--fsync"},
		{[]string{"frobnicate"}, 2, "frobnicate"},
	} {
		p := begin(t, nil, c.args...)
		p.ends(t, c.code)
		got := p.stderr.String()
		if !strings.HasPrefix(got, "kohort: ") || !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%v: got %q, want one line with %q", c.args, got, c.want)
		}
		if p.stdout.String() != "" {
			t.Errorf("%v: printed %q", c.args, p.stdout)
		}
	}
}

func TestHelpSaysHowToStart(t *testing.T) {
	p := begin(t, nil)
	p.ends(t, 0)
	lines := strings.Split(p.stdout.String(), "\n")
	first := strings.Join(lines[:min(len(lines), 5)], "\n")
	if !strings.Contains(first, "kohort dev") || !strings.Contains(first, "kohort serve --data DIR") {
		t.Errorf("help begins with:\n%s", first)
	}
	for _, command := range []string{"dev", "serve", "config", "version"} {
		if !strings.Contains(p.stdout.String(), command) {
			t.Errorf("help lacks %s", command)
		}
	}
	p = begin(t, nil, "serve", "--help")
	p.ends(t, 0)
	for _, flag := range []string{"--data", "--addr", "--addr-file", "--set", "-f", "--fsync", "--log-format", "--log-level"} {
		if !strings.Contains(p.stdout.String(), flag) {
			t.Errorf("help of serve lacks %s", flag)
		}
	}
}

func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(file, []byte("group.max.size=5\nlog.cleaner.enable=false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"KAFKA_NUM_PARTITIONS=4", "KAFKA_NUM_PARTITION=4"}
	for _, c := range []struct {
		args  []string
		wants []string
	}{
		{[]string{"config"}, []string{"num.partitions 4 environment", "group.initial.rebalance.delay.ms 3000 default", "log.dirs (not set) default"}},
		{[]string{"config", "--data", "/d,/e"}, []string{"log.dirs /d,/e --data"}},
		{[]string{"config", "--data", "/d", "--addr", ":5"}, []string{"log.dirs /d --data", "listeners PLAINTEXT://:5 --addr"}},
		{
			[]string{"config", "dev", "-f", file, "--set", "num.partitions=6"},
			[]string{
				"num.partitions 6 --set", "group.initial.rebalance.delay.ms 0 dev profile", "group.max.size 5 " + file,
				"log.cleaner.enable false " + file + ", without effect",
			},
		},
	} {
		p := begin(t, environ, c.args...)
		p.ends(t, 0)
		lines := map[string]bool{}
		for line := range strings.Lines(p.stdout.String()) {
			lines[strings.Join(strings.Fields(line), " ")] = true
		}
		for _, want := range c.wants {
			if !lines[want] {
				t.Errorf("%v: no line %q in:\n%s", c.args, want, p.stdout)
			}
		}
		if got := p.stderr.String(); !strings.Contains(got, "KAFKA_NUM_PARTITION (from environment)") {
			t.Errorf("%v: got warnings %q", c.args, got)
		}
	}
}

func TestVersion(t *testing.T) {
	p := begin(t, nil, "version")
	p.ends(t, 0)
	if got := p.stdout.String(); !strings.HasPrefix(got, "kohort ") || !strings.Contains(got, "go1.") {
		t.Errorf("got %q", got)
	}
}

// stuck is a broker that ends only when it is told to.
type stuck struct{ released chan struct{} }

func (s *stuck) Wait() error  { <-s.released; return nil }
func (s *stuck) Close() error { <-s.released; return nil }

// A second signal does not wait for anything, and neither does the first for more than the limit.
func TestSignals(t *testing.T) {
	b := &stuck{released: make(chan struct{})}
	defer close(b.released)
	signals := make(chan os.Signal, 2)
	signals <- syscall.SIGTERM
	signals <- syscall.SIGTERM
	if err := wait(&world{signals: signals}, b); err == nil || !strings.Contains(err.Error(), "second signal") {
		t.Errorf("got %v", err)
	}
	signals <- os.Interrupt
	start := time.Now()
	err := wait(&world{signals: signals}, b)
	if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "good order") || took < stopLimit || took > 3*stopLimit {
		t.Errorf("got %v after %v", err, took)
	}
}

func TestClientAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:5": "127.0.0.1:5", "[::]:5": "localhost:5", "0.0.0.0:5": "localhost:5", ":5": "localhost:5", "[::1]:5": "[::1]:5",
	} {
		if got := clientAddr(addr); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
}
