package integration

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/offsetslog"
)

// rawBatch is a batch of one record with a sequence number.
func rawBatch(pid int64, seq int32, value []byte) []byte {
	record := kmsg.Record{Value: value}
	body := record.AppendTo(nil)
	record.Length = int32(len(body)) - 1 // the length zero took one byte
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: pid, FirstSequence: seq, NumRecords: 1, Records: record.AppendTo(nil),
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return raw
}

// partitionLog is what has been read of one partition.
type partitionLog struct {
	values []string // by offset
	at     int64    // where the last batch that was read begins
}

// inspector holds the broker, right after a restart and alone with it, against the ledger.
type inspector struct {
	*ledger
	logs       map[string]*partitionLog
	generation map[string]int32 // last logged, by group
	groupOf    map[string]coordinator.GroupRecord
	next       map[int32]int64 // of the offsets topic
	tails      map[int32]kmsg.RecordBatch
}

func newInspector(l *ledger) *inspector {
	return &inspector{
		ledger: l, logs: map[string]*partitionLog{}, generation: map[string]int32{}, groupOf: map[string]coordinator.GroupRecord{},
		next: map[int32]int64{}, tails: map[int32]kmsg.RecordBatch{},
	}
}

// inspect checks every promise. With whole it reads the logs from their beginning, else what is new in them.
func (i *inspector) inspect(t *testing.T, addr string, whole bool) {
	t.Helper()
	client := newClient(t, addr, kgo.Dialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))
	defer client.Close()
	admin := kadm.NewClient(client)
	i.mu.Lock() // no client can reach the broker now; what they were told is told
	defer i.mu.Unlock()
	i.checkRecords(t, client, admin, whole)
	i.checkRaw(t, client, admin, whole)
	i.checkCommits(t, admin)
	i.checkTopicsAndGroups(t, admin)
	i.checkGenerations(t, client, admin)
	i.checkMembers(t, client)
	for _, broken := range i.broken {
		t.Errorf("a client was told wrong: %s", broken)
	}
	i.broken = nil
}

// read reads a partition's values and checks that what was read earlier has not changed.
func (i *inspector) read(t *testing.T, client *kgo.Client, topic string, id [16]byte, partition int32, whole bool) []string {
	t.Helper()
	key := fmt.Sprint(topic, "-", partition)
	old := i.logs[key]
	if old == nil {
		old = &partitionLog{}
		i.logs[key] = old
	}
	from := old.at
	if whole {
		from = 0
	}
	batches, end := fetchBatches(t, client, topic, id, partition, from)
	values := slices.Clone(old.values[:from])
	for _, b := range batches {
		if b.FirstOffset != int64(len(values)) {
			t.Fatalf("%s: a batch begins at %d, the one before ends at %d", key, b.FirstOffset, len(values))
		}
		old.at = b.FirstOffset
		values = append(values, batchValues(t, b)...)
	}
	if int64(len(values)) != end {
		t.Fatalf("%s: %d records, high watermark %d", key, len(values), end)
	}
	if len(values) < len(old.values) || !slices.Equal(values[:len(old.values)], old.values) {
		t.Fatalf("%s: %d records were there before the crash; now there are %d, or others", key, len(old.values), len(values))
	}
	old.values = values
	return values
}

// batchValues returns the values of an uncompressed batch.
func batchValues(t *testing.T, b kmsg.RecordBatch) []string {
	t.Helper()
	raw := b.Records
	if b.Attributes&7 != 0 {
		var err error
		if raw, err = kgo.DefaultDecompressor().Decompress(raw, kgo.CompressionCodecType(b.Attributes&7)); err != nil {
			t.Fatalf("batch at %d: %v", b.FirstOffset, err)
		}
	}
	var values []string
	for range b.NumRecords {
		length, n := binary.Varint(raw)
		var r kmsg.Record
		if n <= 0 || length > int64(len(raw)-n) {
			t.Fatalf("batch at %d: record %d is torn", b.FirstOffset, len(values))
		}
		if err := r.ReadFrom(raw[:n+int(length)]); err != nil {
			t.Fatalf("batch at %d: record %d: %v", b.FirstOffset, len(values), err)
		}
		values = append(values, string(r.Value))
		raw = raw[n+int(length):]
	}
	return values
}

// checkRecords: each acknowledged record is where the producer was told, none is there twice, and each producer's
// records are in order.
func (i *inspector) checkRecords(t *testing.T, client *kgo.Client, admin *kadm.Client, whole bool) {
	t.Helper()
	id := topicID(t, admin, siegeTopic)
	logs := map[int32][]string{}
	for p := range int32(siegePartitions) {
		logs[p] = i.read(t, client, siegeTopic, id, p, whole)
		last := map[string]int{}
		for offset, value := range logs[p] {
			parts := strings.SplitN(value, "-", 3)
			n, err := strconv.Atoi(parts[1])
			if before, ok := last[parts[0]]; err != nil || (ok && n != before+siegePartitions) || (!ok && n != int(p)) {
				t.Fatalf("%s-%d: offset %d holds record %d of producer %s, after its record %d: lost, doubled or out of order", siegeTopic, p, offset, n, parts[0], before)
			}
			last[parts[0]] = n
		}
	}
	for value, at := range i.records {
		if log := logs[at.partition]; at.offset >= int64(len(log)) || log[at.offset] != value {
			t.Fatalf("%s-%d: record %.12s was acknowledged at offset %d; the log has %d records and not this one there", siegeTopic, at.partition, value, at.offset, len(log))
		}
	}
}

// checkRaw: the raw producer's batches are there once each.
func (i *inspector) checkRaw(t *testing.T, client *kgo.Client, admin *kadm.Client, whole bool) {
	t.Helper()
	values := i.read(t, client, rawTopic, topicID(t, admin, rawTopic), 0, whole)
	for offset, v := range values {
		if v != strconv.Itoa(offset) {
			t.Fatalf("%s: offset %d holds batch %s: lost or doubled", rawTopic, offset, v)
		}
	}
	for seq, offset := range i.raw {
		if seq != offset || offset >= int64(len(values)) {
			t.Fatalf("%s: batch %d was acknowledged at offset %d of %d", rawTopic, seq, offset, len(values))
		}
	}
}

// checkCommits: each committed offset is not older than the last that was acknowledged, not newer than the last that was
// sent, and whole.
func (i *inspector) checkCommits(t *testing.T, admin *kadm.Client) {
	t.Helper()
	names := slices.Collect(maps.Keys(i.commits))
	if len(names) == 0 {
		return
	}
	for group, fetched := range admin.FetchManyOffsets(limited(t), names...) {
		if fetched.Err != nil {
			t.Fatalf("offsets of group %s: %v", group, fetched.Err)
		}
		s := i.commits[group]
		o, ok := fetched.Fetched.Lookup(siegeTopic, 0)
		if !ok && s.acked == 0 {
			continue
		}
		if !ok || o.Err != nil || o.At < s.acked || o.At > s.sent || o.Metadata != strconv.FormatInt(o.At, 10) {
			t.Errorf("group %s has offset %d (there: %v, metadata %q, %v); acknowledged %d, sent %d", group, o.At, ok, o.Metadata, o.Err, s.acked, s.sent)
		}
	}
	steady, err := admin.FetchOffsets(limited(t), "steady")
	if err != nil {
		t.Fatal(err)
	}
	for p, s := range i.steady {
		o, ok := steady.Lookup(siegeTopic, p)
		if s.acked > 0 && (!ok || o.At < s.acked || o.At > s.sent) {
			t.Errorf("the steady group has offset %d in partition %d; acknowledged %d, consumed %d", o.At, p, s.acked, s.sent)
		}
	}
}

// checkTopicsAndGroups: what was created is there, what was deleted is not, and a deleted topic left no offsets.
func (i *inspector) checkTopicsAndGroups(t *testing.T, admin *kadm.Client) {
	t.Helper()
	topics, err := admin.ListTopics(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	listed, err := admin.ListGroups(limited(t))
	if err != nil {
		t.Fatal(err)
	}
	for topic, f := range i.topics {
		if there := topics.Has(topic); f.removed && there || f.made && !f.removing && !there {
			t.Errorf("topic %s: there: %v; created %v, deletion asked %v, deleted %v", topic, there, f.made, f.removing, f.removed)
		}
		if detail := topics[topic]; topics.Has(topic) && len(detail.Partitions) != 2 {
			t.Errorf("topic %s came back with %d partitions", topic, len(detail.Partitions))
		}
	}
	var living []string
	for group, f := range i.groups {
		_, there := listed[group]
		if f.removed && there || f.made && !f.removing && !there {
			t.Errorf("group %s: there: %v; created %v, deletion asked %v, deleted %v", group, there, f.made, f.removing, f.removed)
		}
		if there {
			living = append(living, group)
		}
	}
	if len(living) == 0 {
		return
	}
	for group, fetched := range admin.FetchManyOffsets(limited(t), living...) {
		fetched.Fetched.Each(func(o kadm.OffsetResponse) {
			if i.topics[o.Topic].removed {
				t.Errorf("group %s has an offset of topic %s, which was deleted", group, o.Topic)
			}
		})
	}
}

// checkGenerations reads what is new in the offsets topic: a group's logged generations only grow, and none that a
// client was told is missing.
func (i *inspector) checkGenerations(t *testing.T, client *kgo.Client, admin *kadm.Client) {
	t.Helper()
	topics, err := admin.ListTopicsWithInternal(limited(t), offsetslog.Topic)
	if err != nil {
		t.Fatal(err)
	}
	topic := topics[offsetslog.Topic]
	ends, err := admin.ListEndOffsets(limited(t), offsetslog.Topic)
	if err != nil {
		t.Fatal(err)
	}
	for p := range topic.Partitions {
		tail, known := i.tails[p]
		if known && ends[offsetslog.Topic][p].Offset < i.next[p] {
			t.Errorf("%s-%d ends at %d; it was read up to %d before the crash", offsetslog.Topic, p, ends[offsetslog.Topic][p].Offset, i.next[p])
		}
		if ends[offsetslog.Topic][p].Offset == 0 {
			continue
		}
		batches, _ := fetchBatches(t, client, offsetslog.Topic, topic.ID, p, tail.FirstOffset)
		for _, b := range batches {
			if known && b.FirstOffset == tail.FirstOffset && b.CRC != tail.CRC && !compacted(tail, b) {
				t.Errorf("%s-%d: the batch at %d was another one before the crash", offsetslog.Topic, p, b.FirstOffset)
			}
			if b.FirstOffset >= i.next[p] {
				i.readGroups(t, b)
				i.next[p], i.tails[p] = b.FirstOffset+int64(b.LastOffsetDelta)+1, b
			}
		}
	}
	for group, issued := range i.issued {
		if logged, ok := i.generation[group]; !ok || logged < issued {
			t.Errorf("group %s: a member was told generation %d; the log knows %d (%v)", group, issued, logged, ok)
		}
	}
}

// compacted tells whether compaction may have made one batch of the other: it drops records, and marks those that are to
// be dropped later.
func compacted(before, after kmsg.RecordBatch) bool {
	const deleteHorizon = 1 << 6 // KIP-534
	return after.NumRecords < before.NumRecords || (before.Attributes^after.Attributes) == deleteHorizon
}

// readGroups decodes the group records of one batch of the offsets topic.
func (i *inspector) readGroups(t *testing.T, b kmsg.RecordBatch) {
	t.Helper()
	raw := b.Records
	for range b.NumRecords {
		length, n := binary.Varint(raw)
		var r kmsg.Record
		if err := r.ReadFrom(raw[:n+int(length)]); err != nil {
			t.Fatalf("%s: batch at %d: %v", offsetslog.Topic, b.FirstOffset, err)
		}
		raw = raw[n+int(length):]
		decoded, err := offsetslog.Decode(r.Key, r.Value)
		if err != nil {
			t.Fatalf("%s: batch at %d: %v", offsetslog.Topic, b.FirstOffset, err)
		}
		g, ok := decoded.(*coordinator.GroupRecord)
		if !ok {
			continue
		}
		if g.Tombstone {
			delete(i.generation, g.Group)
			continue
		}
		if before := i.generation[g.Group]; g.Generation < before {
			t.Errorf("group %s: generation %d is logged after %d", g.Group, g.Generation, before)
		}
		i.generation[g.Group], i.groupOf[g.Group] = g.Generation, *g
	}
}

// checkMembers: once the steady group has settled, its members are known to each new life of the broker, in the same
// generation, and their heartbeat is answered without error.
func (i *inspector) checkMembers(t *testing.T, client *kgo.Client) {
	t.Helper()
	if i.counts["settled"] == 0 {
		return
	}
	want := int32(i.counts["settled"])
	g := i.groupOf["steady"]
	if g.Generation != want || len(g.Members) != 2 {
		t.Errorf("the steady group is logged in generation %d with %d members, want %d with 2", g.Generation, len(g.Members), want)
	}
	for _, m := range g.Members {
		if i.members[m.MemberID] == "" {
			t.Errorf("the steady group has member %s, which no client is", m.MemberID)
		}
		if err := heartbeat(t, client, "steady", m.MemberID, nil, want); err != nil {
			t.Errorf("the first heartbeat of %s after the crash: %v", m.MemberID, err)
		}
	}
}
