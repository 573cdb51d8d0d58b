package jobs

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/integration/clients/harness"
)

func commitManual(t *testing.T, c *Client) {
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", 3)
	harness.Produce(t, client, "t", 3, 0, 150, time.Time{})
	first := harness.Ends(t, admin, "t")
	w := c.consume(t, b.Addr, "first", "g", "t", "reset=earliest", "commit=manual")
	readAll(t, first, w)
	if got := harness.Committed(t, admin, "g", "t"); len(got) != 0 {
		t.Errorf("before any commit the broker has %v", got)
	}
	if got := w.ask(t, "commit"); got.Event != "committed" || !maps.Equal(got.Offsets, first) {
		t.Errorf("commit says %+v, want %v", got, first)
	}
	if got := harness.Committed(t, admin, "g", "t"); !maps.Equal(got, first) {
		t.Errorf("the broker has %v, want %v", got, first)
	}
	if c.Can("committed") {
		if got := w.ask(t, "committed"); !maps.Equal(got.Offsets, first) {
			t.Errorf("by the client the commit is %+v, want %v", got, first)
		}
	}
	harness.Produce(t, client, "t", 3, 150, 60, time.Time{})
	second := harness.Ends(t, admin, "t")
	readAll(t, second, w)
	w.crash(t)
	if got := harness.Committed(t, admin, "g", "t"); !maps.Equal(got, first) {
		t.Errorf("after the crash the broker has %v, want %v", got, first)
	}
	heir := c.consume(t, b.Addr, "heir", "g", "t", "reset=earliest", "commit=manual")
	readRange(t, first, second, heir)
	exactly(t, heir, first, second)
	heir.close(t)
	if got := harness.Committed(t, admin, "g", "t"); !maps.Equal(got, first) {
		t.Errorf("closing without a commit left %v, want %v", got, first)
	}
}

func commitAuto(t *testing.T, c *Client) {
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", 3)
	harness.Produce(t, client, "t", 3, 0, 150, time.Time{})
	first := harness.Ends(t, admin, "t")
	w := c.consume(t, b.Addr, "first", "g", "t", "reset=earliest", "commit=auto", "auto_ms=500")
	readAll(t, first, w)
	harness.Until(t, fmt.Sprintf("an automatic commit of %v", first), func() bool {
		return maps.Equal(harness.Committed(t, admin, "g", "t"), first)
	})
	harness.Produce(t, client, "t", 3, 150, 30, time.Time{})
	second := harness.Ends(t, admin, "t")
	readAll(t, second, w)
	w.close(t)
	if got := harness.Committed(t, admin, "g", "t"); !maps.Equal(got, second) {
		t.Errorf("after its end the broker has %v, want %v", got, second)
	}
	harness.Produce(t, client, "t", 3, 180, 30, time.Time{})
	third := harness.Ends(t, admin, "t")
	w = c.consume(t, b.Addr, "second", "g", "t", "reset=earliest", "commit=auto", "auto_ms=500")
	readRange(t, second, third, w)
	exactly(t, w, second, third)
	w.close(t)
}

// feed produces numbered records, one partition after the other, until it is stopped; stop returns the ends. What the
// broker does not answer for, it sends again.
func feed(t *testing.T, b *harness.Broker, topic string, partitions int) (stop func() map[int32]int64) {
	t.Helper()
	client := b.Client(t)
	quit, done := make(chan struct{}), make(chan struct{})
	ends := map[int32]int64{}
	go func() {
		defer close(done)
		pace := time.NewTicker(feedPace)
		defer pace.Stop()
		for i := 0; ; i++ {
			r := &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: fmt.Append(nil, i)}
			if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				if t.Context().Err() == nil {
					t.Errorf("feeding %s: %v", topic, err)
				}
				return
			}
			ends[r.Partition] = r.Offset + 1
			select {
			case <-pace.C:
			case <-quit:
				return
			}
		}
	}()
	stopped := sync.OnceValue(func() map[int32]int64 {
		close(quit)
		<-done
		return ends
	})
	t.Cleanup(func() { stopped() })
	return stopped
}

// feedPace is the time between two records of feed.
const feedPace = 5 * time.Millisecond

func brokerKilled(t *testing.T, c *Client) {
	const partitions = 3
	b := harness.Serve(t)
	admin := b.Admin(t)
	harness.CreateTopic(t, admin, "t", partitions)
	stop := feed(t, b, "t", partitions)
	w := c.consume(t, b.Addr, "survivor", "g", "t", "reset=earliest", c.mode(), "auto_ms=500")
	w.until(t, "the first 100 records", func() bool { return len(w.records()) >= 100 })
	if c.Can("commit") {
		if got := w.ask(t, "commit"); got.Event != "committed" {
			t.Fatalf("commit: %+v", got)
		}
	}
	var before map[int32]int64
	harness.Until(t, "a commit of each partition", func() bool {
		before = harness.Committed(t, admin, "g", "t")
		return len(before) == partitions
	})
	generation := b.Generation("g")
	for range 2 {
		read := len(w.records())
		b.Kill()
		b.Restart(t)
		for p, o := range harness.Committed(t, admin, "g", "t") {
			if o < before[p] {
				t.Errorf("partition %d: the commit is %d after the crash, and was %d", p, o, before[p])
			}
		}
		w.until(t, "200 more records", func() bool { return len(w.records()) >= read+200 })
	}
	ends := stop()
	readAll(t, ends, w)
	if got := b.Generation("g"); got < generation {
		t.Errorf("generation %d after the crash, %d before", got, generation)
	}
	c.commitAnyway(t, b, w, "g", "t", ends)
	w.close(t)
}

// commitAnyway commits what a worker has read, again if a rebalance came between.
func (c *Client) commitAnyway(t *testing.T, b *harness.Broker, w *worker, group, topic string, want map[int32]int64) {
	t.Helper()
	admin := b.Admin(t)
	w.until(t, fmt.Sprintf("group %s has committed %v", group, want), func() bool {
		if c.Can("commit") {
			w.ask(t, "commit")
		}
		return maps.Equal(harness.Committed(t, admin, group, topic), want)
	})
}
