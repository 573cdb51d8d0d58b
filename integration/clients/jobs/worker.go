package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kohort/kohort/integration/clients/harness"
)

// event is one line of a worker.
type event struct {
	Event      string           `json:"event"`
	Version    string           `json:"version"`
	Partitions []int32          `json:"partitions"`
	Partition  int32            `json:"partition"`
	Offset     int64            `json:"offset"`
	Key        string           `json:"key"`
	Value      string           `json:"value"`
	Timestamp  int64            `json:"timestamp"`
	Error      string           `json:"error"`
	Offsets    map[int32]int64  `json:"offsets"`
	Lag        map[int32]int64  `json:"lag"`
	Codec      string           `json:"codec"`
	Count      int              `json:"count"`
	Result     *json.RawMessage `json:"result"`
}

// worker is a running worker.
type worker struct {
	*harness.Process
	name  string
	stdin io.WriteCloser

	mu     sync.Mutex
	parsed int
	events []event
	broken string // a line that is no event
}

// start starts a worker's verb; args are "name=value".
func (c *Client) start(t testing.TB, name, verb string, args ...string) *worker {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.dir, "run"), append([]string{verb}, args...)...)
	cmd.Env, cmd.Dir = c.env(), t.TempDir()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{name: name, stdin: stdin, Process: harness.Start(t, cmd)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said:\n%s\nand on standard error:\n%s", w.name, w.Stdout.Text(), w.Stderr.Text())
		}
	})
	return w
}

// consume starts a member, with a session of 6 s unless args say otherwise.
func (c *Client) consume(t testing.TB, addr, name, group, topic string, args ...string) *worker {
	t.Helper()
	fixed := []string{"bootstrap=" + addr, "group=" + group, "topic=" + topic, "client=" + name, "heartbeat_ms=500"}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "session_ms=") }) {
		fixed = append(fixed, fmt.Sprintf("session_ms=%d", session.Milliseconds()))
	}
	return c.start(t, name, "consume", append(fixed, args...)...)
}

// session is every member's session timeout.
const session = 6 * time.Second

// all returns what the worker has said so far.
func (w *worker) all() []event {
	lines, _, _ := w.Stdout.Snapshot()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines[w.parsed:] {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Event == "" {
			w.broken = line
			continue
		}
		w.events = append(w.events, e)
	}
	w.parsed = len(lines)
	return w.events
}

// until waits for something in what a worker says, and fails the test if the worker ends before.
func (w *worker) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	untilAll(t, what, holds, w)
}

// untilAll is until for several workers.
func untilAll(t testing.TB, what string, holds func() bool, workers ...*worker) {
	t.Helper()
	deadline := time.After(harness.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ended := ""
		for _, w := range workers {
			select {
			case <-w.Exited():
				ended = w.name
			default:
			}
		}
		if holds() {
			return
		}
		for _, w := range workers {
			if w.broken != "" {
				t.Fatalf("%s wrote a line that is no event: %q", w.name, w.broken)
			}
		}
		if ended != "" {
			t.Fatalf("%s ended without: %s", ended, what)
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after %v not yet: %s", harness.Patience, what)
		}
	}
}

// of returns the events of a kind.
func (w *worker) of(kinds ...string) (found []event) {
	for _, e := range w.all() {
		if slices.Contains(kinds, e.Event) {
			found = append(found, e)
		}
	}
	return found
}

func (w *worker) records() []event { return w.of("record") }

// owned is what it owns by its last word.
func (w *worker) owned() []int32 {
	if moves := w.of("assigned"); len(moves) > 0 {
		return moves[len(moves)-1].Partitions
	}
	return nil
}

// own waits until the workers own all partitions of a topic between them, `each` a member.
func own(t testing.TB, partitions, each int, workers ...*worker) {
	t.Helper()
	untilAll(t, fmt.Sprintf("%d members share %d partitions, %d each", len(workers), partitions, each), func() bool {
		all := map[int32]bool{}
		for _, w := range workers {
			if len(w.owned()) != each {
				return false
			}
			for _, p := range w.owned() {
				all[p] = true
			}
		}
		return len(all) == partitions
	}, workers...)
}

// answers are the events that answer a command.
func (w *worker) answers() []event {
	return w.of("committed", "commit_failed", "offsets", "sought", "holding", "going", "closed", "ok", "failed")
}

// ask gives a command and returns the answer.
func (w *worker) ask(t testing.TB, command ...string) event {
	t.Helper()
	n := len(w.answers())
	w.tell(t, command...)
	w.until(t, "the answer to "+strings.Join(command, " "), func() bool { return len(w.answers()) > n })
	return w.answers()[n]
}

// tell gives a command and does not wait.
func (w *worker) tell(t testing.TB, command ...string) {
	t.Helper()
	if _, err := io.WriteString(w.stdin, strings.Join(command, " ")+"\n"); err != nil {
		t.Fatalf("%s: %v: %v\n%s", w.name, command, err, w.Stderr.Text())
	}
}

// close lets the worker end in good order.
func (w *worker) close(t testing.TB) {
	t.Helper()
	w.tell(t, "close")
	if code := w.Code(t, harness.Patience); code != 0 {
		t.Errorf("%s: exit code %d after close", w.name, code)
	}
	if len(w.of("closed")) != 1 {
		t.Errorf("%s did not say that it is closed", w.name)
	}
}

// crash is kill -9.
func (w *worker) crash(t testing.TB) {
	t.Helper()
	w.Signal(t, syscall.SIGKILL)
	<-w.Exited()
}

// seen are the offsets of each partition, with how often the workers printed them between them.
func seen(workers ...*worker) map[int32]map[int64]int {
	all := map[int32]map[int64]int{}
	for _, w := range workers {
		for _, r := range w.records() {
			if all[r.Partition] == nil {
				all[r.Partition] = map[int64]int{}
			}
			all[r.Partition][r.Offset]++
		}
	}
	return all
}

// readAll waits until the workers have printed every record below the ends.
func readAll(t testing.TB, ends map[int32]int64, workers ...*worker) {
	t.Helper()
	readRange(t, nil, ends, workers...)
}

// readRange waits until the workers have printed every record from one offset to another of each partition.
func readRange(t testing.TB, from, to map[int32]int64, workers ...*worker) {
	t.Helper()
	untilAll(t, fmt.Sprintf("all records from %v to %v", from, to), func() bool { return missing(from, to, seen(workers...)) == 0 }, alive(workers)...)
}

func alive(workers []*worker) (running []*worker) {
	for _, w := range workers {
		select {
		case <-w.Exited():
		default:
			running = append(running, w)
		}
	}
	return running
}

func missing(from, to map[int32]int64, seen map[int32]map[int64]int) (n int64) {
	for p, end := range to {
		have := int64(0)
		for o := range seen[p] {
			if from[p] <= o && o < end {
				have++
			}
		}
		n += end - from[p] - have
	}
	return n
}

// exactly fails the test unless the worker's records are those from one offset to another of each partition, in order,
// each once.
func exactly(t testing.TB, w *worker, from, to map[int32]int64) {
	t.Helper()
	at := maps.Clone(from)
	for _, r := range w.records() {
		if r.Offset != at[r.Partition] {
			t.Fatalf("%s got %d-%d, want offset %d there", w.name, r.Partition, r.Offset, at[r.Partition])
		}
		at[r.Partition]++
	}
	if !maps.Equal(at, to) {
		t.Fatalf("%s read up to %v, want %v", w.name, at, to)
	}
}
