package broker_test

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// followed is what a reader of the offsets topic has found.
type followed struct {
	offsets map[string]int64 // of partition 0 of orders, by group
	groups  map[string]kmsg.GroupMetadataValue
}

// follow reads all partitions of the offsets topic, and decodes what such tools decode: they stumble over values that
// are newer than version 3.
func (x *tool) follow(listVersion, fetchVersion int16, id [16]byte) followed {
	x.t.Helper()
	var partitions []int32
	for p := range int32(50) {
		partitions = append(partitions, p)
	}
	ends := x.list(listVersion, "__consumer_offsets", -1, partitions...)
	f := followed{map[string]int64{}, map[string]kmsg.GroupMetadataValue{}}
	for partition, at := range x.list(listVersion, "__consumer_offsets", -2, partitions...) {
		for at < ends[partition] {
			p := fetch(x.wire, fetchVersion, fetchRequest("__consumer_offsets", id, partition, at))
			if p.ErrorCode != 0 || p.HighWatermark < ends[partition] {
				x.t.Fatalf("Fetch v%d of partition %d from %d: %+v", fetchVersion, partition, at, p)
			}
			at = x.batches(p.RecordBatches, &f)
		}
	}
	return f
}

// batches decodes record batches and returns the offset after them.
func (x *tool) batches(raw []byte, f *followed) (next int64) {
	x.t.Helper()
	for len(raw) > 0 {
		var batch kmsg.RecordBatch
		size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		if err := batch.ReadFrom(raw[:size]); err != nil || batch.Attributes&7 != 0 {
			x.t.Fatalf("batch of %d bytes: %v, attributes %d", size, err, batch.Attributes)
		}
		raw, next = raw[size:], batch.FirstOffset+int64(batch.LastOffsetDelta)+1
		records := batch.Records
		for range batch.NumRecords {
			n, width := binary.Varint(records)
			var record kmsg.Record
			if err := record.ReadFrom(records[:width+int(n)]); err != nil {
				x.t.Fatal(err)
			}
			records = records[width+int(n):]
			x.entry(record.Key, record.Value, f)
		}
	}
	return next
}

// entry decodes one record.
func (x *tool) entry(key, value []byte, f *followed) {
	x.t.Helper()
	if value == nil {
		return
	}
	version := binary.BigEndian.Uint16(value)
	if version > 3 {
		x.t.Errorf("a value of version %d", version)
	}
	switch kind := binary.BigEndian.Uint16(key); kind {
	case 0, 1:
		var k kmsg.OffsetCommitKey
		var v kmsg.OffsetCommitValue
		if k.ReadFrom(key) != nil || v.ReadFrom(value) != nil || k.Topic != "orders" || k.Partition != 0 || v.CommitTimestamp <= 0 {
			x.t.Errorf("offset: %+v %+v", k, v)
		}
		f.offsets[k.Group] = v.Offset
	case 2:
		var k kmsg.GroupMetadataKey
		var v kmsg.GroupMetadataValue
		if k.ReadFrom(key) != nil || v.ReadFrom(value) != nil {
			x.t.Errorf("group: %+v %+v", k, v)
		}
		f.groups[k.Group] = v
	default:
		x.t.Errorf("a key of kind %d", kind)
	}
}

// check compares with what the groups did.
func (x *tool) check(f followed) {
	x.t.Helper()
	if len(f.offsets) != 2 || f.offsets["live"] != liveAt || f.offsets["resting"] != restingAt {
		x.t.Errorf("offsets: %v", f.offsets)
	}
	g, ok := f.groups["live"]
	if !ok || g.ProtocolType != "consumer" || g.Generation != 1 || *g.Protocol != "range" || *g.Leader != x.s.member || len(g.Members) != 1 {
		x.t.Fatalf("groups: %+v", f.groups)
	}
	m := g.Members[0]
	var a kmsg.ConsumerMemberAssignment
	if err := a.ReadFrom(m.Assignment); err != nil || a.Topics[0].Topic != "orders" || len(a.Topics[0].Partitions) != 2 {
		x.t.Errorf("assignment: %+v, %v", a, err)
	}
	if m.MemberID != x.s.member || m.ClientID != "c" || m.ClientHost != "/127.0.0.1" || string(m.Subscription) != string(x.s.subscription) {
		x.t.Errorf("member: %+v", m)
	}
}

// TestToolBurrow replays Burrow, which sends no request to a coordinator.
func TestToolBurrow(t *testing.T) {
	x := newScene(t).tool(t)
	x.topics(10)
	x.check(x.follow(4, 11, [16]byte{}))
	x.same("ends", x.list(4, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
}

// TestToolBurrowBeforeTheFirstGroup asks for the offsets topic by name where it is not yet: that must not make an
// ordinary topic of it.
func TestToolBurrowBeforeTheFirstGroup(t *testing.T) {
	b := start(t)
	w := dial(t, b)
	named := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr("__consumer_offsets")
	named.Topics, named.AllowAutoTopicCreation = append(named.Topics, topic), true
	for range 2 {
		got := ask[*kmsg.MetadataResponse](w, 10, named).Topics[0]
		if !got.IsInternal || got.ErrorCode == 0 && len(got.Partitions) != 50 {
			t.Errorf("got %+v", got)
		}
	}
	findCoordinator(w)
	all := kmsg.NewPtrMetadataRequest()
	all.Topics = nil
	if got := ask[*kmsg.MetadataResponse](w, 10, all).Topics; len(got) != 1 || !got[0].IsInternal || len(got[0].Partitions) != 50 {
		t.Errorf("after the first group: %+v", got)
	}
}

// TestToolKminion replays kminion, in its admin mode and in its offsetsTopic mode.
func TestToolKminion(t *testing.T) {
	s := newScene(t)
	t.Run("admin", func(t *testing.T) {
		x := s.tool(t)
		x.serves(x.apiVersions(4), map[kmsg.Key]int16{
			kmsg.Metadata: 13, kmsg.ListOffsets: 10, kmsg.OffsetFetch: 9, kmsg.FindCoordinator: 6, kmsg.DescribeGroups: 6,
			kmsg.ListGroups: 5, kmsg.DescribeConfigs: 4, kmsg.DescribeLogDirs: 4,
		})
		x.topics(13)
		x.topicConfig(4)
		x.groups(5)
		x.coordinator(6, "live")
		x.describe(6)
		x.same("offsets of live", x.fetched(9, "live", true), map[int32]int64{0: liveAt})
		x.same("offsets of resting", x.fetched(9, "resting", true), map[int32]int64{0: restingAt})
		x.same("ends", x.list(10, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
		x.same("starts", x.list(10, "orders", -2, 0, 1), map[int32]int64{0: 0, 1: 0})
		x.logDirs(4)
	})
	t.Run("offsetsTopic", func(t *testing.T) {
		x := s.tool(t)
		x.serves(x.apiVersions(4), map[kmsg.Key]int16{kmsg.Metadata: 13, kmsg.ListOffsets: 10, kmsg.Fetch: 18})
		var id [16]byte
		for _, topic := range x.topics(13).Topics {
			if *topic.Topic == "__consumer_offsets" {
				id = topic.TopicID
			}
		}
		x.check(x.follow(10, 18, id))
	})
}

// logDirs asks for the sizes of all partitions.
func (x *tool) logDirs(version int16) {
	x.t.Helper()
	resp := ask[*kmsg.DescribeLogDirsResponse](x.wire, version, kmsg.NewPtrDescribeLogDirsRequest())
	sizes := map[int32]int64{}
	if len(resp.Dirs) != 1 || resp.ErrorCode != 0 || resp.Dirs[0].ErrorCode != 0 {
		x.t.Fatalf("DescribeLogDirs v%d: %+v", version, resp)
	}
	for _, topic := range resp.Dirs[0].Topics {
		for _, p := range topic.Partitions {
			if topic.Topic == "orders" {
				sizes[p.Partition] = p.Size
			}
		}
	}
	if len(sizes) != 2 || sizes[0] < 60 || sizes[1] != 0 {
		x.t.Errorf("DescribeLogDirs v%d: sizes of orders %v", version, sizes)
	}
}
