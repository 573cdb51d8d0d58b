package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Histories delete topics that have offsets of live and of simple groups; else they would compare nothing there.
func TestHistoriesDeleteTopicsWithOffsets(t *testing.T) {
	k, err := StartKohort(t.Context(), nil, false, func(trace string) { t.Error(trace) })
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	topics, err := SharedTopics(k, "test")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wait sync.WaitGroup
	var simple, live, again int
	for seed := range uint64(300) {
		lines := Generate(seed, false)
		if !strings.Contains(lines[0], "CreateTopics") {
			continue
		}
		wait.Go(func() {
			prefix := fmt.Sprintf("h%06d-test-", seed)
			s, err := Parse(".", prefix, lines)
			if err != nil {
				t.Error(err)
				return
			}
			got, err := RunHistory(t.Context(), s, k, prefix, topics, 0)
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			a, b, c := deletedOffsets(s, got)
			simple, live, again = simple+a, live+b, again+c
		})
	}
	wait.Wait()
	t.Logf("deletions with offsets of simple groups %d, of live groups %d; topics made again %d", simple, live, again)
	if simple == 0 || live == 0 || again == 0 {
		t.Errorf("deletions with offsets of simple groups %d, of live groups %d; topics made again %d", simple, live, again)
	}
}

// deletedOffsets counts the deletions of a topic with offsets that a simple commit or a member's made, and the topics
// that were made again.
func deletedOffsets(s *Scenario, got Transcript) (simple, live, again int) {
	var bySimple, byMember, deleted bool
	for i, step := range s.Steps {
		ok := func(path string) bool { return valueAt(got.Steps[i].Leaves, "("+step.Conn+")"+path) == "0" }
		switch {
		case step.API == "OffsetCommit" && strings.Contains(step.Line, "Topic: $d") && ok("Topics[0].Partitions[0].ErrorCode"):
			bySimple = bySimple || step.Conn == "Z"
			byMember = byMember || step.Conn != "Z"
		case step.API == "DeleteTopics" && ok("Topics[0].ErrorCode"):
			if bySimple {
				simple++
			}
			if byMember {
				live++
			}
			bySimple, byMember, deleted = false, false, true
		case step.API == "CreateTopics" && deleted && ok("Topics[0].ErrorCode"):
			again++
			deleted = false
		}
	}
	return simple, live, again
}

// What a history is kept as can be read as a scenario.
func TestWrittenHistories(t *testing.T) {
	lines := Generate(7, true)
	text := Written(7, "steps take 450ms\n", lines, &Difference{Step: 1, Line: lines[0], Path: "ErrorCode", Kafka: "0", Kohort: "1"})
	s, err := Parse(".", "kept", strings.Split(text, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Slot != 450*time.Millisecond || len(s.Steps) != len(lines) {
		t.Errorf("got a slot of %v and %d steps, want 450ms and %d", s.Slot, len(s.Steps), len(lines))
	}
}
