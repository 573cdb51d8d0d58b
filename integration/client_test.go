package integration

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// newClient returns a client that ends with the test.
func newClient(t testing.TB, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addr), kgo.RetryBackoffFn(shortBackoff)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseAllowingRebalance)
	return client
}

// shortBackoff keeps tests fast when the client has to try again.
func shortBackoff(int) time.Duration { return 5 * time.Millisecond }

func newAdmin(t testing.TB, addr string) *kadm.Client {
	t.Helper()
	return kadm.NewClient(newClient(t, addr))
}

// limited is a context for one thing that ought to happen at once.
func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func createTopic(t testing.TB, admin *kadm.Client, topic string, partitions int32, configs ...string) {
	t.Helper()
	set := map[string]*string{}
	for i := 0; i+1 < len(configs); i += 2 {
		set[configs[i]] = &configs[i+1]
	}
	if _, err := admin.CreateTopic(limited(t), partitions, 1, set, topic); err != nil {
		t.Fatalf("creating topic %s: %v", topic, err)
	}
}

// produce produces values to one partition and returns the offset of the first.
func produce(t testing.TB, client *kgo.Client, topic string, partition int32, values ...string) int64 {
	t.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v)}
	}
	if err := client.ProduceSync(limited(t), records...).FirstErr(); err != nil {
		t.Fatalf("producing to %s: %v", topic, err)
	}
	return records[0].Offset
}

// eventually asks until the answer is nil, and fails the test with the last answer when patience is over.
func eventually(t testing.TB, ask func() error) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after %v still: %v", patience, err)
		}
	}
}

// isCode tells whether an error is one of Kafka's codes.
func isCode(err error, want *kerr.Error) bool { return errors.Is(err, want) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fetchBatches reads the batches of a partition, from the one that contains offset to the high watermark, as they
// lie there, and fails the test if one is torn.
func fetchBatches(t testing.TB, client *kgo.Client, topic string, id [16]byte, partition int32, offset int64) (batches []kmsg.RecordBatch, end int64) {
	t.Helper()
	for {
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.MinBytes, req.SessionEpoch = 64<<20, 0, -1
		rt := kmsg.NewFetchRequestTopic()
		rt.Topic, rt.TopicID = topic, id
		rp := kmsg.NewFetchRequestTopicPartition()
		rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = partition, offset, 32<<20
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		resp, err := req.RequestWith(limited(t), client)
		if err != nil {
			t.Fatalf("fetch of %s-%d at %d: %v", topic, partition, offset, err)
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			t.Fatalf("fetch of %s-%d at %d: %v", topic, partition, offset, err)
		}
		p := resp.Topics[0].Partitions[0]
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			t.Fatalf("fetch of %s-%d at %d: %v", topic, partition, offset, err)
		}
		if len(p.RecordBatches) == 0 {
			return batches, p.HighWatermark
		}
		for rest := p.RecordBatches; len(rest) > 0; {
			b, length := parseBatch(t, rest)
			rest = rest[length:]
			batches = append(batches, b)
			offset = b.FirstOffset + int64(b.LastOffsetDelta) + 1
		}
	}
}

// parseBatch reads one batch and checks that it is whole.
func parseBatch(t testing.TB, raw []byte) (b kmsg.RecordBatch, length int) {
	t.Helper()
	if len(raw) < 61 {
		t.Fatalf("a batch of %d bytes is torn", len(raw))
	}
	length = 12 + int(binary.BigEndian.Uint32(raw[8:]))
	if length > len(raw) || length < 61 {
		t.Fatalf("a batch at offset %d says %d bytes, there are %d", binary.BigEndian.Uint64(raw), length, len(raw))
	}
	if err := b.ReadFrom(raw[:length]); err != nil {
		t.Fatalf("a batch at offset %d: %v", binary.BigEndian.Uint64(raw), err)
	}
	if got := crc32.Checksum(raw[21:length], castagnoli); got != uint32(b.CRC) {
		t.Fatalf("the batch at offset %d is torn: its CRC is %x, its header says %x", b.FirstOffset, got, uint32(b.CRC))
	}
	return b, length
}

// topicID returns the id that newer fetches name a topic by.
func topicID(t testing.TB, admin *kadm.Client, topic string) [16]byte {
	t.Helper()
	topics, err := admin.ListTopicsWithInternal(limited(t), topic)
	if err == nil {
		err = topics[topic].Err
	}
	if err != nil {
		t.Fatalf("metadata of %s: %v", topic, err)
	}
	return topics[topic].ID
}

// cable is a client's only way to a broker. Cut, the client is as good as killed: not even a LeaveGroup arrives.
type cable struct {
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

var errCut = errors.New("the cable is cut")

func (c *cable) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, errCut
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err == nil {
		if c.conns == nil {
			c.conns = map[net.Conn]struct{}{}
		}
		c.conns[conn] = struct{}{}
	}
	return conn, err
}

func (c *cable) sever() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}
