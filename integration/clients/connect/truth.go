package connect

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
)

// inLog returns how many times each line lies in the topic, and all its records in the form in which the sink writes them.
func inLog(t *harness.T, b *harness.Broker) (times map[int]int, records map[string]int) {
	t.Helper()
	times, records = map[int]int{}, map[string]int{}
	for partition, all := range harness.Read(t, b, "lines") {
		for _, r := range all {
			n, err := strconv.Atoi(strings.TrimPrefix(string(r.Value), "line "))
			if err != nil {
				t.Fatalf("%q is no line of the source's file", r.Value)
			}
			times[n]++
			records[fmt.Sprintf("%d %d %s", partition, r.Offset, r.Value)]++
		}
	}
	return times, records
}

// awaitLines waits until the topic has at least so many records.
func awaitLines(t *harness.T, b *harness.Broker, n int64) {
	t.Helper()
	admin := b.Admin(t)
	harness.Until(t, fmt.Sprintf("topic lines has %d records", n), func() bool {
		sum := int64(0)
		for _, end := range harness.Ends(t, admin, "lines") {
			sum += end
		}
		return sum >= n
	})
}

// awaitCommitted waits until the sink has committed everything.
func awaitCommitted(t *harness.T, b *harness.Broker) {
	t.Helper()
	admin := b.Admin(t)
	harness.Until(t, "the sink has committed the ends of the topic", func() bool {
		return maps.Equal(harness.Committed(t, admin, sinks, "lines"), harness.Ends(t, admin, "lines"))
	})
}

// stored is the source's position as the offsets topic has it: the newest record of its key, as the worker reads it.
func stored(t *harness.T, b *harness.Broker) int {
	t.Helper()
	lines := 0
	for _, records := range harness.Read(t, b, "connect-offsets") {
		for _, r := range records {
			if !strings.Contains(string(r.Key), `"source"`) {
				continue
			}
			lines = 0
			if r.Value != nil {
				if _, err := fmt.Sscanf(string(r.Value), `{"lines":%d}`, &lines); err != nil {
					t.Fatalf("the source's position is %q: %v", r.Value, err)
				}
			}
		}
	}
	return lines
}

// awaitStored waits until the source's position is this, by the worker's word, and looks for it at the broker.
func (w *worker) awaitStored(t *harness.T, b *harness.Broker, lines int) {
	t.Helper()
	harness.Until(t, fmt.Sprintf("the source is at line %d", lines), func() bool { return w.lines(t) == lines })
	if got := stored(t, b); got != lines {
		t.Errorf("the worker says that the source is at line %d, the offsets topic has %d", lines, got)
	}
}

// every fails the test unless lines 1 to n are there, and, if they have to be there once, are there once.
func every(t *harness.T, times map[int]int, n int, once bool) {
	t.Helper()
	for i := 1; i <= n; i++ {
		if times[i] == 0 || once && times[i] != 1 {
			t.Errorf("line %d lies in the topic %d times", i, times[i])
		}
	}
	if len(times) != n {
		t.Errorf("the topic has %d lines, want %d", len(times), n)
	}
}

// all fails the test unless the sink has written each record of the log, and nothing else; once, if so it has to be.
func all(t *harness.T, sunk, records map[string]int, once bool) {
	t.Helper()
	for r := range records {
		if sunk[r] == 0 || once && sunk[r] != 1 {
			t.Errorf("record %q was written %d times by the sink", r, sunk[r])
		}
	}
	for r := range sunk {
		if records[r] == 0 {
			t.Errorf("the sink wrote %q, which is not in the log", r)
		}
	}
}
