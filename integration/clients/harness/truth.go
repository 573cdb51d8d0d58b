package harness

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Limited is a context for one thing that ought to happen soon.
func Limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// CreateTopic makes a topic; configs are names and values.
func CreateTopic(t testing.TB, admin *kadm.Client, topic string, partitions int32, configs ...string) {
	t.Helper()
	set := map[string]*string{}
	for i := 0; i+1 < len(configs); i += 2 {
		set[configs[i]] = &configs[i+1]
	}
	if _, err := admin.CreateTopic(Limited(t), partitions, 1, set, topic); err != nil {
		t.Fatalf("creating topic %s: %v", topic, err)
	}
}

// Committed are a group's committed offsets of one topic.
func Committed(t testing.TB, admin *kadm.Client, group, topic string) map[int32]int64 {
	t.Helper()
	offsets, err := admin.FetchOffsets(Limited(t), group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		t.Fatalf("offsets of group %s: %v", group, err)
	}
	at := map[int32]int64{}
	for p, o := range offsets[topic] {
		if o.Err != nil {
			t.Fatalf("offset of group %s, %s-%d: %v", group, topic, p, o.Err)
		}
		at[p] = o.At
	}
	return at
}

// Commit commits offsets for a group that has no members.
func Commit(t testing.TB, admin *kadm.Client, group, topic string, at map[int32]int64) {
	t.Helper()
	var offsets kadm.Offsets
	for p, o := range at {
		offsets.AddOffset(topic, p, o, -1)
	}
	if err := admin.CommitAllOffsets(Limited(t), group, offsets); err != nil {
		t.Fatalf("commit for group %s: %v", group, err)
	}
}

// Ends are the offsets after the last record of each partition.
func Ends(t testing.TB, admin *kadm.Client, topic string) map[int32]int64 {
	t.Helper()
	listed, err := admin.ListEndOffsets(Limited(t), topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		t.Fatalf("end offsets of %s: %v", topic, err)
	}
	at := map[int32]int64{}
	for p, o := range listed[topic] {
		at[p] = o.Offset
	}
	return at
}

// Describe is a group as DescribeGroups tells.
func Describe(t testing.TB, admin *kadm.Client, group string) kadm.DescribedGroup {
	t.Helper()
	d, err := admin.DescribeGroups(Limited(t), group)
	if err == nil {
		err = d[group].Err
	}
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		t.Fatalf("describing group %s: %v", group, err)
	}
	return d[group]
}

// AwaitGroup waits until a group is in a state with so many members.
func AwaitGroup(t testing.TB, admin *kadm.Client, group, state string, members int) {
	t.Helper()
	Until(t, fmt.Sprintf("group %s is %s with %d members", group, state, members), func() bool {
		d := Describe(t, admin, group)
		return d.State == state && len(d.Members) == members
	})
}

// Produce sends n records to partitions 0 to partitions-1 in turn, with values v0, v1 and so on from first, and
// timestamps from stamp in steps of a second, or of now if stamp is zero.
func Produce(t testing.TB, client *kgo.Client, topic string, partitions, first, n int, stamp time.Time) {
	t.Helper()
	var records []*kgo.Record
	for i := first; i < first+n; i++ {
		r := &kgo.Record{Topic: topic, Partition: int32(i % partitions), Key: fmt.Append(nil, "k", i), Value: fmt.Append(nil, "v", i)}
		if !stamp.IsZero() {
			r.Timestamp = stamp.Add(time.Duration(i) * time.Second)
		}
		records = append(records, r)
	}
	if err := client.ProduceSync(Limited(t), records...).FirstErr(); err != nil {
		t.Fatalf("producing %d records to %s: %v", n, topic, err)
	}
}

// Batches reads a partition as it lies in the log, and returns the codec of each of its batches (0 none, 1 gzip, 2 snappy,
// 3 lz4, 4 zstd).
func Batches(t testing.TB, b *Broker, topic string, partition int32, end int64) (codecs []int8) {
	t.Helper()
	client := b.Client(t, kgo.MaxVersions(kversion.V2_3_0())) // Fetch by the topic's name
	for offset := int64(0); offset < end; {
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.MinBytes, req.MaxWaitMillis = 50<<20, 1, 500
		ft := kmsg.NewFetchRequestTopic()
		fp := kmsg.NewFetchRequestTopicPartition()
		fp.Partition, fp.FetchOffset, fp.PartitionMaxBytes = partition, offset, 50<<20
		ft.Topic, ft.Partitions = topic, append(ft.Partitions, fp)
		req.Topics = append(req.Topics, ft)
		resp, err := req.RequestWith(Limited(t), client)
		if err != nil {
			t.Fatalf("fetching %s-%d at %d: %v", topic, partition, offset, err)
		}
		raw := resp.Topics[0].Partitions[0].RecordBatches
		for len(raw) >= 61 {
			size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
			if size > len(raw) {
				break
			}
			codecs = append(codecs, int8(raw[22]&7))
			offset = int64(binary.BigEndian.Uint64(raw)) + int64(binary.BigEndian.Uint32(raw[23:])) + 1
			raw = raw[size:]
		}
	}
	return codecs
}

// Read reads a topic from its first record to the ends that it has now.
func Read(t testing.TB, b *Broker, topic string) map[int32][]*kgo.Record {
	t.Helper()
	ends := Ends(t, b.Admin(t), topic)
	starts := map[int32]kgo.Offset{}
	for p := range ends {
		starts[p] = kgo.NewOffset().AtStart()
	}
	reader := b.Client(t, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: starts}))
	records, left := map[int32][]*kgo.Record{}, maps.Clone(ends)
	maps.DeleteFunc(left, func(_ int32, end int64) bool { return end == 0 })
	ctx := Limited(t)
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("reading %s: %v", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			records[r.Partition] = append(records[r.Partition], r)
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return records
}

// Partitions are the numbers below n.
func Partitions(n int) (all []int32) {
	for p := range n {
		all = append(all, int32(p))
	}
	return all
}

// SortedKeys are a map's keys.
func SortedKeys[V any](m map[int32]V) []int32 { return slices.Sorted(maps.Keys(m)) }
