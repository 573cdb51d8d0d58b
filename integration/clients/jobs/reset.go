package jobs

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/integration/clients/harness"
)

// onlyNew waits until the worker has read, from some offset on that is not below old, all there is, also of what comes
// now, and checks that it has nothing else.
func onlyNew(t *testing.T, client *kgo.Client, admin *kadm.Client, topic string, partitions int, old map[int32]int64, w *worker) {
	t.Helper()
	tick(t, client, topic, partitions, w)
	from := map[int32]int64{}
	for _, r := range w.records() {
		if _, ok := from[r.Partition]; !ok {
			from[r.Partition] = r.Offset
		}
	}
	for p, o := range from {
		if o < old[p] {
			t.Errorf("partition %d begins at %d, below %d", p, o, old[p])
		}
	}
	harness.Produce(t, client, topic, partitions, 2_000_000, 20*partitions, time.Time{})
	ends := harness.Ends(t, admin, topic)
	w.until(t, fmt.Sprintf("the records up to %v", ends), func() bool {
		last := map[int32]int64{}
		for _, r := range w.records() {
			last[r.Partition] = r.Offset + 1
		}
		return maps.Equal(last, ends)
	})
	exactly(t, w, from, ends)
}

// situation is why a member has no position to start from.
type situation struct {
	topic, group string
	first        map[int32]int64 // what is left of the topic
}

// situations makes a broker whose clock can be moved, with a topic and a group for each situation: never committed;
// committed, and the records there deleted; committed, and the offsets expired. Each topic has two partitions.
func situations(t *testing.T) (*brokertest.Broker, []situation) {
	t.Helper()
	b := brokertest.Start(t, func(c *broker.Config) {
		c.Properties = map[string]string{"group.min.session.timeout.ms": "6000"}
	})
	client := harness.NewClient(t, b.Addr())
	admin := kadm.NewClient(client)
	for _, topic := range []string{"fresh", "deleted", "expired"} {
		harness.CreateTopic(t, admin, topic, 2, "retention.ms", "-1")
		harness.Produce(t, client, topic, 2, 0, 100, time.Time{})
	}
	harness.Commit(t, admin, "g-expired", "expired", map[int32]int64{0: 20, 1: 20})
	b.Advance(8 * 24 * time.Hour) // offsets.retention.minutes is seven days
	harness.Until(t, "the offsets have expired", func() bool { return len(harness.Committed(t, admin, "g-expired", "expired")) == 0 })
	harness.Commit(t, admin, "g-deleted", "deleted", map[int32]int64{0: 10, 1: 10})
	var before kadm.Offsets
	before.AddOffset("deleted", 0, 30, -1)
	before.AddOffset("deleted", 1, 30, -1)
	if _, err := admin.DeleteRecords(harness.Limited(t), before); err != nil {
		t.Fatal(err)
	}
	return b, []situation{
		{"fresh", "g-fresh", map[int32]int64{0: 0, 1: 0}},
		{"deleted", "g-deleted", map[int32]int64{0: 30, 1: 30}},
		{"expired", "g-expired", map[int32]int64{0: 0, 1: 0}},
	}
}

var allFifty = map[int32]int64{0: 50, 1: 50}

func resetEarliest(t *testing.T, c *Client) {
	b, cases := situations(t)
	for _, s := range cases {
		w := c.consume(t, b.Addr(), s.topic, s.group, s.topic, "reset=earliest", c.mode())
		w.until(t, "everything that is left", func() bool { return len(w.records()) >= int(100-s.first[0]-s.first[1]) })
		exactly(t, w, s.first, allFifty)
		w.close(t)
	}
}

func resetLatest(t *testing.T, c *Client) {
	b, cases := situations(t)
	client := harness.NewClient(t, b.Addr())
	for _, s := range cases {
		w := c.consume(t, b.Addr(), s.topic, s.group, s.topic, "reset=latest", c.mode())
		own(t, 2, 2, w)
		if s.topic == "deleted" && c.OutOfRange == "earliest" {
			readRange(t, s.first, allFifty, w)
			exactly(t, w, s.first, allFifty)
			w.close(t)
			continue
		}
		onlyNew(t, client, kadm.NewClient(client), s.topic, 2, allFifty, w)
		w.close(t)
	}
}

func resetNone(t *testing.T, c *Client) {
	none := regexp.MustCompile(c.NoneError)
	b, cases := situations(t)
	for _, s := range cases {
		w := c.consume(t, b.Addr(), s.topic, s.group, s.topic, "reset=none", c.mode())
		want := none
		if s.topic == "deleted" {
			want = regexp.MustCompile(`(?i)out.?of.?range|` + c.NoneError)
		}
		untilSaid(t, w, "error", want)
		if n := len(w.records()); n != 0 {
			t.Errorf("%s: it got %d records", s.topic, n)
		}
		w.Kill()
	}
}

// untilSaid waits for an event with an error of a form. The worker may end after it.
func untilSaid(t *testing.T, w *worker, kind string, want *regexp.Regexp) event {
	t.Helper()
	var found event
	w.until(t, fmt.Sprintf("an error like %v", want), func() bool {
		for _, e := range w.of(kind) {
			if want.MatchString(e.Error) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

func resetByDuration(t *testing.T, c *Client) {
	b := harness.Serve(t)
	client := b.Client(t)
	harness.CreateTopic(t, b.Admin(t), "t", 2)
	harness.Produce(t, client, "t", 2, 0, 40, time.Now().Add(-3*time.Hour)) // 40 s of records
	harness.Produce(t, client, "t", 2, 40, 40, time.Now().Add(-10*time.Minute))
	w := c.consume(t, b.Addr, "young", "g", "t", "reset=by_duration:PT1H", c.mode())
	w.until(t, "the young records", func() bool { return len(w.records()) >= 40 })
	exactly(t, w, map[int32]int64{0: 20, 1: 20}, map[int32]int64{0: 40, 1: 40})
	w.close(t)
}

// notServed asks for what Kohort does not have.
func notServed(t *testing.T, c *Client) {
	b := harness.Serve(t)
	harness.CreateTopic(t, b.Admin(t), "t-none", 1)
	if c.Transactions != "" {
		w := c.start(t, "transactional", "produce", "bootstrap="+b.Addr, "topic=t", "codecs=none", "count=3", "partitions=1", "transactional=id")
		refused(t, w, c.Transactions)
	}
	switch c.ConsumerProtocol {
	case "":
	case "falls back":
		harness.CreateTopic(t, b.Admin(t), "t", 1)
		harness.Produce(t, b.Client(t), "t", 1, 0, 10, time.Time{})
		w := c.consume(t, b.Addr, "fallen back", "g", "t", "reset=earliest", c.mode(), "group_protocol=consumer")
		readAll(t, map[int32]int64{0: 10}, w)
		w.close(t)
	default:
		w := c.start(t, "next generation", "consume", "bootstrap="+b.Addr, "topic=t-none", "group=g", "reset=earliest", "group_protocol=consumer")
		refused(t, w, c.ConsumerProtocol)
	}
}

// atOnce is how soon a client must say that it cannot go on, its start included.
const atOnce = 20 * time.Second

func refused(t *testing.T, w *worker, like string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), atOnce)
	defer cancel()
	select {
	case <-w.Exited():
	case <-ctx.Done():
		t.Fatalf("%s has not given up after %v", w.name, atOnce)
	}
	if code := w.Code(t, atOnce); code == 0 {
		t.Errorf("%s: exit code 0", w.name)
	}
	untilSaid(t, w, "error", regexp.MustCompile(like))
}
