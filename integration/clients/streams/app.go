package streams

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// app is one instance of the application.
type app struct {
	process *harness.Process
	stdin   io.Writer
	asked   int
}

// settings that differ from Streams' own, so that there is something to see soon.
var settings = []string{"commit.interval.ms=200", "repartition.purge.interval.ms=500", "statestore.cache.max.bytes=0"}

// brief is the shortest session that brokers permit: the successor of an instance that was killed waits until its session
// has ended. Other jobs have the session of Streams itself, for members of this one may fall out on a busy machine.
var brief = []string{"session.timeout.ms=6000", "heartbeat.interval.ms=2000"}

// start starts an instance whose local state is in a directory.
func start(t *harness.T, folder *jvm.Folder, b *harness.Broker, dir string, more ...string) *app {
	t.Helper()
	cmd := folder.Command(t, slices.Concat([]string{"Counter", b.Addr, dir}, settings, more)...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	a := &app{process: harness.Start(t, cmd), stdin: stdin}
	a.process.Stdout.Wait(t, 0, harness.Patience, "state RUNNING", func(s string) bool { return s == "state RUNNING" })
	return a
}

// ask sends a command and returns the words of its answer.
func (a *app) ask(t *harness.T, command string) []string {
	t.Helper()
	if _, err := fmt.Fprintln(a.stdin, command); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, a.process.Stderr.Text())
	}
	seen, nth := 0, a.asked
	a.asked++
	line := a.process.Stdout.Wait(t, 0, harness.Patience, "answer to "+command, func(s string) bool {
		if strings.HasPrefix(s, "state ") {
			return false
		}
		seen++
		return seen > nth
	})
	return strings.Fields(line)[1:]
}

// awaitTasks waits until the instance has these tasks.
func (a *app) awaitTasks(t *harness.T, want string) {
	t.Helper()
	harness.Until(t, "the instance has tasks "+want, func() bool { return strings.Join(a.ask(t, "tasks"), " ") == want })
}

// store adds what the instance's part of the store holds, once it can be asked.
func (a *app) store(t *harness.T, into map[string]int64) {
	t.Helper()
	var entries []string
	harness.Until(t, "the store can be asked", func() bool {
		entries = a.ask(t, "store")
		return len(entries) == 0 || strings.Contains(entries[0], "=")
	})
	for _, entry := range entries {
		word, n, _ := strings.Cut(entry, "=")
		number, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatalf("the store answers %q", entry)
		}
		if _, twice := into[word]; twice {
			t.Errorf("%s is in two parts of the store", word)
		}
		into[word] = number
	}
}
