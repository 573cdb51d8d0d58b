package harness

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Broker is a durable kohort in a process of its own.
type Broker struct {
	Addr string

	dir  string
	args []string
	proc *Process

	mu   sync.Mutex
	logs []*Lines // of each life, the newest last
	read []int    // lines of each that are in log
	log  []LogLine
}

// Binary builds kohort once, and returns its path.
var Binary = sync.OnceValues(func() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "..")
	path := filepath.Join(root, ".bin", "kohort")
	build := exec.Command("go", "build", "-o", path, "./cmd/kohort")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/kohort: %w\n%s", err, out)
	}
	return path, nil
})

// Serve starts a broker with a data directory of its own, as `kohort serve` does, but for the initial delay of
// rebalances, which is 0. Further arguments are of the command line. It is ready when Serve returns, and stops in good
// order, without having logged an error, at the end of the test.
func Serve(t testing.TB, args ...string) *Broker {
	t.Helper()
	b := &Broker{Addr: freeAddr(t), dir: filepath.Join(t.TempDir(), "data"), args: args}
	t.Cleanup(func() {
		if b.proc == nil {
			return
		}
		defer b.proc.Kill()
		versions.note(t.Name(), b.Versions(""))
		b.stop(t)
	})
	b.start(t)
	return b
}

func (b *Broker) start(t testing.TB) {
	t.Helper()
	binary, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	fixed := []string{
		"serve", "--data", b.dir, "--addr", b.Addr, "--set", "group.initial.rebalance.delay.ms=0",
		"--log-format", "json", "--log-level", "trace",
	}
	b.proc = launch(t, exec.Command(binary, append(fixed, b.args...)...))
	b.mu.Lock()
	b.logs, b.read = append(b.logs, b.proc.Stderr), append(b.read, 0)
	b.mu.Unlock()
	b.proc.Stdout.Wait(t, 0, Patience, "banner with the address", func(s string) bool { return strings.HasPrefix(s, "  Kafka ") })
}

// Kill ends the broker as kill -9 does.
func (b *Broker) Kill() { b.proc.Kill() }

// Restart starts it again, with the same data at the same address. It is ready when Restart returns.
func (b *Broker) Restart(t testing.TB) {
	t.Helper()
	b.start(t)
}

func (b *Broker) stop(t testing.TB) {
	t.Helper()
	select {
	case <-b.proc.Exited():
		t.Errorf("the broker was gone before its end: %v\n%s", b.proc.err, b.proc.Stderr.Text())
		return
	default:
	}
	b.proc.Signal(t, syscall.SIGTERM)
	if code := b.proc.Code(t, Patience); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, b.proc.Stderr.Text())
	}
	for _, l := range b.Log() {
		if slices.Contains([]string{"error", "fatal", "panic"}, l.Level) {
			t.Errorf("the broker logged an error: %+v", l)
		}
	}
	if t.Failed() {
		var s strings.Builder
		for _, l := range b.Log() {
			if l.Event != "request" && l.Level != "debug" {
				fmt.Fprintf(&s, "  %s %s\n", l.Level, l.Message)
			}
		}
		t.Logf("the broker's log:\n%s", s.String())
	}
}

// LogLine is what jobs look at in a line of the broker's log.
type LogLine struct {
	Level, Event, Group, Member, Reason, Message, State string
	API, Client, Peer, Software                         string
	Version                                             int16
	Generation                                          int32
}

// Log returns the broker's log so far, over all its lives.
func (b *Broker) Log() []LogLine {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, lines := range b.logs {
		all, _, _ := lines.Snapshot()
		for _, s := range all[b.read[i]:] {
			var l LogLine
			if json.Unmarshal([]byte(s), &l) == nil {
				b.log = append(b.log, l)
			}
		}
		b.read[i] = len(all)
	}
	return b.log
}

// Event waits for a decision about a group, after the first `from` lines of the log.
func (b *Broker) Event(t testing.TB, from int, group, event string) (found LogLine) {
	t.Helper()
	Until(t, "log line "+event+" of group "+group, func() bool {
		for _, l := range b.Log()[from:] {
			if l.Group == group && l.Event == event {
				found = l
				return true
			}
		}
		return false
	})
	return found
}

// Generation is the newest generation that the log names for a group; 0 if it names none.
func (b *Broker) Generation(group string) (g int32) {
	for _, l := range b.Log() {
		if l.Group == group && l.Generation > 0 {
			g = l.Generation
		}
	}
	return g
}

// Versions are the apis that clients with this client id, or any if it is "", have called, each with the versions.
func (b *Broker) Versions(client string) map[string][]int16 {
	v := map[string][]int16{}
	for _, l := range b.Log() {
		if l.Event == "request" && l.Client != ours && (client == "" || l.Client == client) && !slices.Contains(v[l.API], l.Version) {
			v[l.API] = append(v[l.API], l.Version)
		}
	}
	return v
}

// ours is the client id of the harness itself, which Versions leaves out.
const ours = "harness"

// Client returns a client of the harness that ends with the test.
func (b *Broker) Client(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	return NewClient(t, b.Addr, opts...)
}

// Admin returns an admin client of the harness that ends with the test.
func (b *Broker) Admin(t testing.TB) *kadm.Client {
	t.Helper()
	return kadm.NewClient(b.Client(t))
}

// NewClient returns a client that ends with the test.
func NewClient(t testing.TB, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	fixed := []kgo.Opt{
		kgo.SeedBrokers(addr), kgo.ClientID(ours), kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
	}
	client, err := kgo.NewClient(append(fixed, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseAllowingRebalance)
	return client
}

var lastPort atomic.Int32

// freeAddr is a loopback address below the range from which systems give ports to connections: nobody takes it while a
// killed broker is away.
func freeAddr(t testing.TB) string {
	t.Helper()
	const first, count = 20000, 8000
	lastPort.CompareAndSwap(0, int32(time.Now().UnixNano()%count))
	for range count {
		addr := fmt.Sprintf("127.0.0.1:%d", first+lastPort.Add(1)%count)
		if l, err := net.Listen("tcp", addr); err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return addr
		}
	}
	t.Fatal("no free port")
	return ""
}
