package broker_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
)

// wire is a raw connection of a test: it sends what it is told at the version it is told.
type wire struct {
	t    testing.TB
	net  net.Conn
	next int32
}

// answerTime is how long a test waits for an answer that must come.
const answerTime = 20 * time.Second

func dial(t testing.TB, b *brokertest.Broker) *wire {
	t.Helper()
	c, err := b.Dial(t.Context(), "tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &wire{t: t, net: c}
}

// send writes a request without waiting for the answer.
func (w *wire) send(req kmsg.Request) int32 {
	w.t.Helper()
	w.next++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, w.next)
	if _, err := w.net.Write(frame); err != nil {
		w.t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), req.GetVersion(), err)
	}
	return w.next
}

// readFrame reads an answer's frame.
func (w *wire) readFrame() ([]byte, error) {
	w.net.SetReadDeadline(time.Now().Add(answerTime))
	var head [4]byte
	if _, err := io.ReadFull(w.net, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(w.net, b)
	return b, err
}

// receive reads the answer to a request that was sent.
func (w *wire) receive(req kmsg.Request, correlation int32) (kmsg.Response, error) {
	b, err := w.readFrame()
	if err != nil {
		return nil, err
	}
	if got := int32(binary.BigEndian.Uint32(b)); got != correlation {
		return nil, fmt.Errorf("correlation id %d, want %d", got, correlation)
	}
	b = b[4:]
	resp := req.ResponseKind()
	if resp.IsFlexible() && resp.Key() != 18 {
		if b[0] != 0 {
			return nil, errors.New("the header's tag buffer is not empty")
		}
		b = b[1:]
	}
	if err := resp.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("%s v%d: answer of %d bytes: %w", kmsg.NameForKey(req.Key()), req.GetVersion(), len(b), err)
	}
	if again := resp.AppendTo(nil); len(again) != len(b) {
		return nil, fmt.Errorf("%s v%d: answer of %d bytes, of which %d are understood", kmsg.NameForKey(req.Key()), req.GetVersion(), len(b), len(again))
	}
	return resp, nil
}

// ask sends a request and returns the answer, of the type that belongs to it.
func ask[R kmsg.Response](w *wire, version int16, req kmsg.Request) R {
	w.t.Helper()
	req.SetVersion(version)
	resp, err := w.receive(req, w.send(req))
	if err != nil {
		w.t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	return resp.(R)
}

// closed waits until the broker has closed the connection.
func (w *wire) closed() {
	w.t.Helper()
	if b, err := w.readFrame(); err == nil {
		w.t.Errorf("the connection is open: got an answer of %d bytes", len(b))
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Errorf("the connection is open")
	}
}

func start(t testing.TB, edit ...func(*broker.Config)) *brokertest.Broker {
	t.Helper()
	return brokertest.Start(t, edit...)
}

func property(name, value string) func(*broker.Config) {
	return func(c *broker.Config) {
		if c.Properties == nil {
			c.Properties = map[string]string{}
		}
		c.Properties[name] = value
	}
}

// makeTopic creates a topic and returns its id.
func makeTopic(w *wire, name string, partitions int32, configs ...string) [16]byte {
	w.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	for i := 0; i < len(configs); i += 2 {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = configs[i], kmsg.StringPtr(configs[i+1])
		topic.Configs = append(topic.Configs, c)
	}
	req.Topics, req.TimeoutMillis = append(req.Topics, topic), 5000
	resp := ask[*kmsg.CreateTopicsResponse](w, 7, req)
	if resp.Topics[0].ErrorCode != 0 {
		w.t.Fatalf("creating %s: error %d", name, resp.Topics[0].ErrorCode)
	}
	return resp.Topics[0].TopicID
}

// findCoordinator makes the offsets topic exist.
func findCoordinator(w *wire) {
	w.t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = []string{"g"}
	if resp := ask[*kmsg.FindCoordinatorResponse](w, 6, req); resp.Coordinators[0].ErrorCode != 0 {
		w.t.Fatalf("finding the coordinator: error %d", resp.Coordinators[0].ErrorCode)
	}
}

// batchOf is a record batch with one record for each value.
func batchOf(codec partitionlog.Codec, timestamp int64, values ...string) []byte {
	b := partitionlog.NewBuilder(codec)
	for i, v := range values {
		b.Add(int32(i), timestamp+int64(i), []byte("k"+v), []byte(v), nil)
	}
	return b.Bytes(0)
}

func produceRequest(topic string, partition int32, acks int16, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 5000
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, records
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// produce appends a batch and returns what the broker said of it.
func produce(w *wire, version int16, topic string, partition int32, records []byte) kmsg.ProduceResponseTopicPartition {
	w.t.Helper()
	return ask[*kmsg.ProduceResponse](w, version, produceRequest(topic, partition, -1, records)).Topics[0].Partitions[0]
}

func fetchRequest(topic string, id [16]byte, partition int32, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = -1, 0, 1, 1<<20, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 1<<20
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic, id, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func fetch(w *wire, version int16, req *kmsg.FetchRequest) kmsg.FetchResponseTopicPartition {
	w.t.Helper()
	resp := ask[*kmsg.FetchResponse](w, version, req)
	if resp.ErrorCode != 0 || resp.SessionID != 0 {
		w.t.Fatalf("Fetch v%d: error %d, session %d", version, resp.ErrorCode, resp.SessionID)
	}
	return resp.Topics[0].Partitions[0]
}

// valuesOf decodes the values of the records in batches.
func valuesOf(t testing.TB, records []byte) (values []string) {
	t.Helper()
	for len(records) > 0 {
		b, rest, err := partitionlog.NextBatch(records)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Records(func(r partitionlog.Record) error { values = append(values, string(r.Value)); return nil }); err != nil {
			t.Fatal(err)
		}
		records = rest
	}
	return values
}

func commitRequest(group, topic string, id [16]byte, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, -1, kmsg.StringPtr("m")
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic, id, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func commit(w *wire, version int16, req *kmsg.OffsetCommitRequest) int16 {
	w.t.Helper()
	return ask[*kmsg.OffsetCommitResponse](w, version, req).Topics[0].Partitions[0].ErrorCode
}

// committed fetches one offset at v9.
func committed(w *wire, group, topic string, partition int32) int64 {
	w.t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberEpoch = group, -1
	g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: []int32{partition}}}
	req.Groups = append(req.Groups, g)
	resp := ask[*kmsg.OffsetFetchResponse](w, 9, req).Groups[0]
	if resp.ErrorCode != 0 {
		w.t.Fatalf("OffsetFetch of %s: error %d", group, resp.ErrorCode)
	}
	return resp.Topics[0].Partitions[0].Offset
}
