package jobs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/integration/clients/harness"
)

// codecs are the numbers of Kafka's compression types, by name.
var codecs = map[string]int8{"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

// produceCodecs produces with each codec, and looks at the log's bytes.
func produceCodecs(t *testing.T, c *Client) {
	const count, partitions = 60, 3
	b := harness.Serve(t)
	for _, codec := range c.Codecs {
		harness.CreateTopic(t, b.Admin(t), "t-"+codec, partitions)
	}
	w := c.start(t, "producer", "produce", "bootstrap="+b.Addr, "topic=t", "codecs="+strings.Join(c.Codecs, ","),
		"count="+strconv.Itoa(count), "partitions="+strconv.Itoa(partitions))
	if code := w.Code(t, 2*harness.Patience); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if said := w.of("produced"); len(said) != len(c.Codecs) {
		t.Fatalf("it says %+v of %v", said, c.Codecs)
	}
	for _, codec := range c.Codecs {
		topic := "t-" + codec
		records := harness.Read(t, b, topic)
		for p := range int32(partitions) {
			checkProduced(t, codec, p, records[p], count/partitions)
			got := harness.Batches(t, b, topic, p, int64(len(records[p])))
			if i := slices.IndexFunc(got, func(n int8) bool { return n != codecs[codec] }); i >= 0 || len(got) == 0 {
				t.Errorf("%s-%d: the batches' codecs are %v, want %d for %s", topic, p, got, codecs[codec], codec)
			}
		}
	}
}

func checkProduced(t *testing.T, codec string, partition int32, records []*kgo.Record, want int) {
	t.Helper()
	numbers := map[int]bool{}
	for _, r := range records {
		i, err := strconv.Atoi(strings.TrimPrefix(string(r.Key), "k"))
		if err != nil {
			t.Errorf("%s: key %q", codec, r.Key)
			continue
		}
		numbers[i] = true
		if got, want := string(r.Value), fmt.Sprintf("%s-%d%s", codec, i, strings.Repeat("x", 100)); got != want {
			t.Errorf("%s: record %d has the value %q, want %q", codec, i, got, want)
		}
		if i%3 != int(partition) {
			t.Errorf("%s: record %d lies in partition %d", codec, i, partition)
		}
		if len(r.Headers) != 1 || r.Headers[0].Key != "n" || string(r.Headers[0].Value) != strconv.Itoa(i) {
			t.Errorf("%s: record %d has the headers %v", codec, i, r.Headers)
		}
		if age := time.Since(r.Timestamp); age < -time.Minute || age > 10*time.Minute {
			t.Errorf("%s: record %d is of %v", codec, i, r.Timestamp)
		}
	}
	if len(records) != want || len(numbers) != want {
		t.Errorf("%s: partition %d has %d records, %d different ones, want %d", codec, partition, len(records), len(numbers), want)
	}
}

// mode is how a client without commits on demand commits.
func (c *Client) mode() string {
	if c.Can("commit") {
		return "commit=manual"
	}
	return "commit=auto"
}

// settle makes the worker commit what it has read, and waits until the broker has it.
func (c *Client) settle(t *testing.T, b *harness.Broker, w *worker, group, topic string, want map[int32]int64) {
	t.Helper()
	if c.Can("commit") {
		if got := w.ask(t, "commit"); got.Event != "committed" {
			t.Fatalf("commit: %+v", got)
		}
	}
	admin := b.Admin(t)
	harness.Until(t, fmt.Sprintf("group %s has committed %v", group, want), func() bool {
		return maps.Equal(harness.Committed(t, admin, group, topic), want)
	})
}

func earliest(t *testing.T, c *Client) {
	const partitions = 3
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", partitions)
	harness.Produce(t, client, "t", partitions, 0, 300, time.Time{})
	zero, first := map[int32]int64{0: 0, 1: 0, 2: 0}, harness.Ends(t, admin, "t")

	w := c.consume(t, b.Addr, "first", "g", "t", "reset=earliest", c.mode(), "auto_ms=500")
	readAll(t, first, w)
	exactly(t, w, zero, first)
	for _, r := range w.records() {
		if i := int(r.Offset)*partitions + int(r.Partition); r.Key != fmt.Sprint("k", i) || r.Value != fmt.Sprint("v", i) {
			t.Fatalf("%d-%d reads %q: %q", r.Partition, r.Offset, r.Key, r.Value)
		}
	}
	harness.AwaitGroup(t, admin, "g", "Stable", 1)
	c.settle(t, b, w, "g", "t", first)
	w.close(t)
	harness.AwaitGroup(t, admin, "g", "Empty", 0)

	harness.Produce(t, client, "t", partitions, 300, 30, time.Time{})
	second := harness.Ends(t, admin, "t")
	w = c.consume(t, b.Addr, "second", "g", "t", "reset=earliest", c.mode(), "auto_ms=500")
	readRange(t, first, second, w)
	exactly(t, w, first, second)
	c.settle(t, b, w, "g", "t", second)
	w.close(t)
}

// tick produces a record to each partition again and again until the worker has got one from each: from then on its
// position is known. It returns the ends.
func tick(t *testing.T, client *kgo.Client, topic string, partitions int, w *worker) {
	t.Helper()
	n := 0
	w.until(t, "a first record of each partition", func() bool {
		got := map[int32]bool{}
		for _, r := range w.records() {
			got[r.Partition] = true
		}
		if len(got) < partitions {
			harness.Produce(t, client, topic, partitions, 1_000_000+n*partitions, partitions, time.Time{})
			n++
		}
		return len(got) == partitions
	})
}

func latest(t *testing.T, c *Client) {
	const partitions = 3
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", partitions)
	harness.Produce(t, client, "t", partitions, 0, 90, time.Time{})
	old := harness.Ends(t, admin, "t")
	w := c.consume(t, b.Addr, "late", "g", "t", "reset=latest", c.mode(), "auto_ms=500")
	own(t, partitions, partitions, w)
	onlyNew(t, client, admin, "t", partitions, old, w)
	c.settle(t, b, w, "g", "t", harness.Ends(t, admin, "t"))
	w.close(t)
}
