package jobs

import (
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	"github.com/kohort/kohort/integration/clients/harness"
)

// zombie stops a member beyond its session while it holds records that it has not committed. Another takes over, and
// commits further. When the first wakes, its commit must be refused, change nothing, and it must find its way back.
func zombie(t *testing.T, c *Client) {
	const partitions = 2
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", partitions)
	harness.Produce(t, client, "t", partitions, 0, 40, time.Time{})
	first := harness.Ends(t, admin, "t")
	old := c.consume(t, b.Addr, "zombie", "g", "t", "reset=earliest", "commit=manual")
	readAll(t, first, old)
	if got := old.ask(t, "hold"); got.Event != "holding" {
		t.Fatalf("hold: %+v", got)
	}
	old.Signal(t, syscall.SIGSTOP)
	heir := c.consume(t, b.Addr, "heir", "g", "t", "reset=earliest", "commit=manual")
	readAll(t, first, heir)
	harness.Produce(t, client, "t", partitions, 40, 20, time.Time{})
	second := harness.Ends(t, admin, "t")
	readAll(t, second, heir)
	if got := heir.ask(t, "commit"); got.Event != "committed" {
		t.Fatalf("the heir's commit: %+v", got)
	}
	generation := b.Generation("g")

	said, from := len(old.answers()), len(b.Log())
	old.tell(t, "commit")
	old.Signal(t, syscall.SIGCONT)
	old.until(t, "the answer to the zombie's commit", func() bool { return len(old.answers()) > said })
	if c.Zombie == "commits again" {
		b.Event(t, from, "g", "commit-fenced") // and then the client joins, and commits as the member that it is now
	} else {
		if got := old.answers()[said]; got.Event != "commit_failed" || got.Error == "" {
			t.Errorf("the zombie's commit says %+v", got)
		}
		if got := harness.Committed(t, admin, "g", "t"); !maps.Equal(got, second) {
			t.Errorf("after the zombie's commit the broker has %v, want %v", got, second)
		}
	}
	old.ask(t, "go")
	own(t, partitions, 1, old, heir)
	agree(t, admin, "g", "t", old, heir)
	if got := b.Generation("g"); got <= generation {
		t.Errorf("generation %d after the return, %d before", got, generation)
	}
	harness.Produce(t, client, "t", partitions, 60, 20, time.Time{})
	third := harness.Ends(t, admin, "t")
	readRange(t, first, third, old, heir)
	untilAll(t, fmt.Sprintf("commits of %v", third), func() bool {
		old.ask(t, "commit")
		heir.ask(t, "commit")
		return maps.Equal(harness.Committed(t, admin, "g", "t"), third)
	}, old, heir)
	old.close(t)
	heir.close(t)
}
