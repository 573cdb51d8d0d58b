package jobs

import (
	"fmt"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/kohort/kohort/integration/clients/harness"
)

// seek goes back to an offset, and to a time.
func seek(t *testing.T, c *Client) {
	const partitions = 3
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", partitions)
	start := time.Now().Add(-time.Hour).Truncate(time.Second)
	harness.Produce(t, client, "t", partitions, 0, 90, start) // record i is of second i
	ends := harness.Ends(t, admin, "t")
	w := c.consume(t, b.Addr, "seeker", "g", "t", "reset=earliest", c.mode(), "auto_ms=500")
	readAll(t, ends, w)
	if c.Can("seek") {
		n := len(w.records())
		if got := w.ask(t, "seek", "1", "7"); got.Event != "sought" {
			t.Fatalf("seek: %+v", got)
		}
		again(t, w, n, map[int32]int64{1: 7}, map[int32]int64{1: 30})
	}
	if c.Can("seek_time") {
		n := len(w.records())
		want := map[int32]int64{0: 15, 1: 15, 2: 14} // the first records not before second 44
		got := w.ask(t, "seek_time", strconv.FormatInt(start.Add(44*time.Second).UnixMilli(), 10))
		if got.Event != "sought" || !maps.Equal(got.Offsets, want) {
			t.Fatalf("seek_time: %+v, want %v", got, want)
		}
		again(t, w, n, want, ends)
	}
	w.close(t)
}

// again waits until the worker has read a range once more, and checks that it read nothing else.
func again(t *testing.T, w *worker, since int, from, to map[int32]int64) {
	t.Helper()
	at := maps.Clone(from)
	checked := since
	w.until(t, fmt.Sprintf("records from %v to %v once more", from, to), func() bool {
		for _, r := range w.records()[checked:] {
			if r.Offset != at[r.Partition] {
				t.Fatalf("after the seek to %v it got %d-%d, want offset %d", from, r.Partition, r.Offset, at[r.Partition])
			}
			at[r.Partition]++
			checked++
		}
		return maps.Equal(at, to)
	})
}

// lag compares the client's word with the broker's, for a group of which one partition was never committed.
func lag(t *testing.T, c *Client) {
	b := harness.Serve(t)
	admin := b.Admin(t)
	harness.CreateTopic(t, admin, "t", 3)
	harness.Produce(t, b.Client(t), "t", 3, 0, 100, time.Time{})
	harness.Commit(t, admin, "g", "t", map[int32]int64{0: 10, 1: 33})
	want := map[int32]int64{0: 24, 1: 0}
	w := c.start(t, "lag", "lag", "bootstrap="+b.Addr, "group=g", "topic=t", "partitions=3")
	if code := w.Code(t, harness.Patience); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if got := w.of("lag"); len(got) != 1 || !maps.Equal(got[0].Lag, want) {
		t.Errorf("lag says %+v, want %v", got, want)
	}
}
