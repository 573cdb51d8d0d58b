package integration

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestEveryCodecIsKeptAndReadBack produces with each codec, looks at the batches as they lie in the broker, and
// consumes them.
func TestEveryCodecIsKeptAndReadBack(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin := newAdmin(t, b.addr)
	codecs := []struct {
		name  string
		codec kgo.CompressionCodec
		bits  int16
	}{
		{"none", kgo.NoCompression(), 0},
		{"gzip", kgo.GzipCompression(), 1},
		{"snappy", kgo.SnappyCompression(), 2},
		{"lz4", kgo.Lz4Compression(), 3},
		{"zstd", kgo.ZstdCompression(), 4},
	}
	for _, c := range codecs {
		topic := "codec-" + c.name
		createTopic(t, admin, topic, 1)
		client := newClient(t, b.addr, kgo.ProducerBatchCompression(c.codec), kgo.ConsumeTopics(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		var records []*kgo.Record
		for i := range 100 {
			records = append(records, &kgo.Record{
				Topic: topic, Key: fmt.Appendf(nil, "key-%d", i), Value: bytes.Repeat([]byte{'a' + byte(i%26)}, 200),
				Headers: []kgo.RecordHeader{{Key: "h", Value: []byte{byte(i)}}, {Key: "null"}},
			})
		}
		if err := client.ProduceSync(limited(t), records...).FirstErr(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		batches, end := fetchBatches(t, client, topic, topicID(t, admin, topic), 0, 0)
		if end != 100 {
			t.Errorf("%s: high watermark %d, want 100", c.name, end)
		}
		for _, batch := range batches {
			if got := batch.Attributes & 7; got != c.bits {
				t.Errorf("%s: the batch at %d lies with codec %d, want %d", c.name, batch.FirstOffset, got, c.bits)
			}
			if batch.ProducerID < 0 {
				t.Errorf("%s: producer id %d; kgo's producers are idempotent by default", c.name, batch.ProducerID)
			}
		}
		for i, r := range consume(t, client, 100) {
			want := records[i]
			if r.Offset != int64(i) || !bytes.Equal(r.Key, want.Key) || !bytes.Equal(r.Value, want.Value) ||
				len(r.Headers) != 2 || !bytes.Equal(r.Headers[0].Value, want.Headers[0].Value) || r.Headers[1].Value != nil {
				t.Fatalf("%s: record %d came back as %+v", c.name, i, r)
			}
		}
	}
}

// consume polls until it has n records.
func consume(t testing.TB, client *kgo.Client, n int) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", len(records), n, err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// TestIdempotentRetryIsNotDoubled breaks the connection under a producer again and again: kgo sends what was in flight
// once more, and the broker must know it.
func TestIdempotentRetryIsNotDoubled(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "once", 1)
	wire := &cable{}
	client := newClient(t, b.addr, kgo.Dialer(wire.dial), kgo.ProducerBatchMaxBytes(1024), kgo.MetadataMinAge(20*time.Millisecond))
	const n = 3000
	failed := make(chan error, n)
	for i := range n {
		client.Produce(limited(t), &kgo.Record{Topic: "once", Value: fmt.Append(nil, i)}, func(_ *kgo.Record, err error) { failed <- err })
		if i%200 == 100 {
			wire.sever()
			wire.mend()
		}
	}
	for range n {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	reader := newClient(t, b.addr, kgo.ConsumeTopics("once"))
	for i, r := range consume(t, reader, n) {
		if string(r.Value) != fmt.Sprint(i) {
			t.Fatalf("offset %d holds record %s: lost, doubled or out of order", r.Offset, r.Value)
		}
	}
	if ends, err := newAdmin(t, b.addr).ListEndOffsets(limited(t), "once"); err != nil || ends["once"][0].Offset != n {
		t.Fatalf("end offset %v (%v), want %d", ends["once"][0].Offset, err, n)
	}
}
