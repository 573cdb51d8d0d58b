package broker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/api"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
)

// versionTests use every served version of every api for what it is for. TestEveryRowAtEveryVersion fails for a row
// that has none.
var versionTests = map[string]func(t *testing.T, b *brokertest.Broker, v int16){
	"Produce":                      testProduce,
	"Fetch":                        testFetch,
	"ListOffsets":                  testListOffsets,
	"Metadata":                     testMetadata,
	"OffsetCommit":                 testOffsetCommit,
	"OffsetFetch":                  testOffsetFetch,
	"FindCoordinator":              testFindCoordinator,
	"JoinGroup":                    func(t *testing.T, b *brokertest.Broker, v int16) { testGroup(t, b, groupVersions{join: v}) },
	"SyncGroup":                    func(t *testing.T, b *brokertest.Broker, v int16) { testGroup(t, b, groupVersions{sync: v}) },
	"Heartbeat":                    func(t *testing.T, b *brokertest.Broker, v int16) { testGroup(t, b, groupVersions{heartbeat: v}) },
	"LeaveGroup":                   func(t *testing.T, b *brokertest.Broker, v int16) { testGroup(t, b, groupVersions{leave: v}) },
	"DescribeGroups":               testDescribeGroups,
	"ListGroups":                   testListGroups,
	"ApiVersions":                  testApiVersions,
	"CreateTopics":                 testCreateTopics,
	"DeleteTopics":                 testDeleteTopics,
	"DeleteRecords":                testDeleteRecords,
	"InitProducerId":               testInitProducerID,
	"OffsetForLeaderEpoch":         testOffsetForLeaderEpoch,
	"DescribeConfigs":              testDescribeConfigs,
	"CreatePartitions":             testCreatePartitions,
	"DeleteGroups":                 testDeleteGroups,
	"IncrementalAlterConfigs":      testIncrementalAlterConfigs,
	"ListPartitionReassignments":   testListPartitionReassignments,
	"OffsetDelete":                 testOffsetDelete,
	"DescribeCluster":              testDescribeCluster,
	"DescribeAcls":                 testDescribeACLs,
	"AlterConfigs":                 testAlterConfigs,
	"DescribeLogDirs":              testDescribeLogDirs,
	"ElectLeaders":                 testElectLeaders,
	"DescribeClientQuotas":         testDescribeClientQuotas,
	"DescribeProducers":            testDescribeProducers,
	"DescribeUserScramCredentials": testDescribeUserSCRAMCredentials,
	"ListConfigResources":          testListConfigResources,
	"DescribeTopicPartitions":      testDescribeTopicPartitions,
	"ConsumerGroupHeartbeat":       testConsumerGroupHeartbeat,
}

func TestEveryRowAtEveryVersion(t *testing.T) {
	b := start(t)
	findCoordinator(dial(t, b))
	for _, row := range api.Table() {
		if kmsg.NameForKey(row.Key) != row.Name && !strings.EqualFold(kmsg.NameForKey(row.Key), row.Name) {
			t.Errorf("row %d is called %s, and is %s", row.Key, row.Name, kmsg.NameForKey(row.Key))
		}
		if limit := kmsg.RequestForKey(row.Key).MaxVersion(); row.Max > limit {
			t.Errorf("%s is advertised to %d, and can be encoded to %d", row.Name, row.Max, limit)
		}
		test := versionTests[row.Name]
		if test == nil {
			t.Errorf("%s has no test", row.Name)
			continue
		}
		for v := row.Min; v <= row.Max; v++ {
			t.Run(row.Name+"/"+string('0'+rune(v/10))+string('0'+rune(v%10)), func(t *testing.T) { test(t, b, v) })
		}
	}
}

func unique(t *testing.T) string { return strings.NewReplacer("/", "-").Replace(t.Name()) }

func testProduce(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 2)
	for i, codec := range []partitionlog.Codec{partitionlog.None, partitionlog.Gzip, partitionlog.Snappy, partitionlog.LZ4, partitionlog.Zstd} {
		if codec == partitionlog.Zstd && v < 7 {
			if p := produce(w, v, topic, 1, batchOf(codec, 100, "a", "b")); p.ErrorCode != 76 {
				t.Errorf("zstd before v7: got %+v", p)
			}
			continue
		}
		p := produce(w, v, topic, 1, batchOf(codec, 100, "a", "b"))
		if p.ErrorCode != 0 || p.BaseOffset != int64(2*i) || p.LogAppendTime != -1 || (v >= 5 && p.LogStartOffset != 0) {
			t.Errorf("%v: got %+v", codec, p)
		}
	}
	p := fetch(w, 12, fetchRequest(topic, [16]byte{}, 1, 0))
	if values := valuesOf(t, p.RecordBatches); strings.Join(values, "") != strings.Repeat("ab", int(p.HighWatermark/2)) || p.HighWatermark < 8 {
		t.Errorf("read back %v", values)
	}
	if p := produce(w, v, topic, 2, batchOf(partitionlog.None, 1, "x")); p.ErrorCode != 3 || p.BaseOffset != -1 {
		t.Errorf("unknown partition: got %+v", p)
	}
	if p := produce(w, v, "__consumer_offsets", 0, batchOf(partitionlog.None, 1, "x")); p.ErrorCode != 17 {
		t.Errorf("internal topic: got %+v", p)
	}
	bad := batchOf(partitionlog.None, 1, "x")
	bad[len(bad)-1] ^= 1
	if p := produce(w, v, topic, 1, bad); p.ErrorCode != 2 {
		t.Errorf("bad CRC: got %+v", p)
	}
	if p := produce(w, v, topic, 1, nil); p.ErrorCode != 87 {
		t.Errorf("no records: got %+v", p)
	}
	two := append(batchOf(partitionlog.None, 1, "x"), batchOf(partitionlog.None, 1, "x")...)
	if p := produce(w, v, topic, 1, two); p.ErrorCode != 87 {
		t.Errorf("two batches: got %+v", p)
	}
	old := batchOf(partitionlog.None, 1, "x")
	old[16] = 1
	if p := produce(w, v, topic, 1, old); p.ErrorCode != 87 {
		t.Errorf("magic 1: got %+v", p)
	}
	b2 := partitionlog.NewBuilder(partitionlog.None)
	b2.Transactional, b2.ProducerID, b2.ProducerEpoch, b2.BaseSequence = true, 1, 0, 0
	b2.Add(0, 1, nil, []byte("x"), nil)
	if p := produce(w, v, topic, 1, b2.Bytes(0)); p.ErrorCode != 53 {
		t.Errorf("a transaction's batch without a transactional id: got %+v", p)
	}
	req := produceRequest(topic, 0, 7, batchOf(partitionlog.None, 1, "x"))
	if p := ask[*kmsg.ProduceResponse](w, v, req).Topics[0].Partitions[0]; p.ErrorCode != 21 {
		t.Errorf("acks 7: got %+v", p)
	}
	silent := produceRequest(topic, 0, 0, batchOf(partitionlog.None, 1, "zero"))
	silent.Version = v
	w.send(silent)
	if got := fetch(w, 12, fetchRequest(topic, [16]byte{}, 0, 0)); valuesOf(t, got.RecordBatches)[0] != "zero" {
		t.Errorf("acks 0 was not written")
	}
}

func testFetch(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	id := makeTopic(w, topic, 1)
	produce(w, 9, topic, 0, batchOf(partitionlog.None, 100, "a", "b"))
	produce(w, 9, topic, 0, batchOf(partitionlog.None, 200, "c"))
	req := fetchRequest(topic, id, 0, 1)
	p := fetch(w, v, req)
	if values := valuesOf(t, p.RecordBatches); p.ErrorCode != 0 || p.HighWatermark != 3 || p.LastStableOffset != 3 || strings.Join(values, "") != "abc" {
		t.Errorf("got %d records, %+v", len(values), p)
	}
	if v >= 5 && p.LogStartOffset != 0 {
		t.Errorf("log start %d", p.LogStartOffset)
	}
	if p.AbortedTransactions != nil {
		t.Errorf("read_uncommitted: the list of aborted transactions is not null")
	}
	req.IsolationLevel = 1
	if p := fetch(w, v, req); p.AbortedTransactions == nil || len(p.AbortedTransactions) != 0 {
		t.Errorf("read_committed: aborted transactions %v, want an empty list", p.AbortedTransactions)
	}
	req.Topics[0].Partitions[0].PartitionMaxBytes = 1
	if p := fetch(w, v, req); len(valuesOf(t, p.RecordBatches)) != 2 {
		t.Errorf("a batch larger than the bound is not returned whole")
	}
	for _, offset := range []int64{-5, 4} {
		if p := fetch(w, v, fetchRequest(topic, id, 0, offset)); p.ErrorCode != 1 || p.HighWatermark != -1 || p.RecordBatches == nil || len(p.RecordBatches) != 0 {
			t.Errorf("offset %d: got %+v", offset, p)
		}
	}
	if p := fetch(w, v, fetchRequest(topic, id, 0, 3)); p.ErrorCode != 0 || p.RecordBatches == nil || len(p.RecordBatches) != 0 || p.HighWatermark != 3 {
		t.Errorf("at the end: got %+v", p)
	}
	unknown := int16(3)
	if v >= 13 {
		unknown = 100
	}
	if p := fetch(w, v, fetchRequest("nosuch", [16]byte{9}, 0, 0)); p.ErrorCode != unknown {
		t.Errorf("unknown topic: error %d, want %d", p.ErrorCode, unknown)
	}
	if v >= 9 {
		for epoch, want := range map[int32]int16{-1: 0, 0: 0, 1: 75} {
			req := fetchRequest(topic, id, 0, 0)
			req.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
			if p := fetch(w, v, req); p.ErrorCode != want {
				t.Errorf("leader epoch %d: error %d, want %d", epoch, p.ErrorCode, want)
			}
		}
	}
	if v >= 7 {
		for _, c := range []struct {
			id, epoch int32
			want      int16
		}{{0, 0, 0}, {7, -1, 0}, {7, 0, 0}, {7, 1, 70}, {0, 1, 70}} {
			req := fetchRequest(topic, id, 0, 0)
			req.SessionID, req.SessionEpoch = c.id, c.epoch
			if resp := ask[*kmsg.FetchResponse](w, v, req); resp.ErrorCode != c.want || resp.SessionID != 0 {
				t.Errorf("session %d/%d: error %d, session %d", c.id, c.epoch, resp.ErrorCode, resp.SessionID)
			}
		}
	}
}

func testListOffsets(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 2)
	list := func(partition int32, timestamp int64) kmsg.ListOffsetsResponseTopicPartition {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID = -1
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, timestamp
		req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
		return ask[*kmsg.ListOffsetsResponse](w, v, req).Topics[0].Partitions[0]
	}
	for _, ts := range []int64{100, 300, 200} {
		produce(w, 9, topic, 0, batchOf(partitionlog.None, ts, "x"))
	}
	special := func(lowest int16, offset int64) [2]int64 {
		if v < lowest {
			return [2]int64{-1, 35}
		}
		return [2]int64{offset, 0}
	}
	for _, c := range []struct {
		partition       int32
		timestamp       int64
		want            [2]int64 // offset, error
		answerTimestamp int64
	}{
		{0, -1, [2]int64{3, 0}, -1},
		{0, -2, [2]int64{0, 0}, -1},
		{0, 0, [2]int64{0, 0}, 100},
		{0, 150, [2]int64{1, 0}, 300},
		{0, 300, [2]int64{1, 0}, 300},
		{0, 301, [2]int64{-1, 0}, -1},
		{0, -3, special(7, 1), 300},
		{0, -4, special(8, 0), -1},
		{0, -5, special(9, -1), -1},
		{0, -6, special(11, -1), -1},
		{0, -9, [2]int64{-1, 35}, -1},
		{1, -1, [2]int64{0, 0}, -1},
		{1, 0, [2]int64{-1, 0}, -1},
		{1, -3, special(7, -1), -1},
		{7, -1, [2]int64{-1, 3}, -1},
	} {
		p := list(c.partition, c.timestamp)
		if c.want[1] != 0 {
			c.answerTimestamp = -1
		}
		if p.Offset != c.want[0] || int64(p.ErrorCode) != c.want[1] || p.Timestamp != c.answerTimestamp {
			t.Errorf("partition %d, timestamp %d: got %+v, want %v at %d", c.partition, c.timestamp, p, c.want, c.answerTimestamp)
		}
		if v >= 4 && p.Offset >= 0 && c.partition == 0 && p.LeaderEpoch < 0 {
			t.Errorf("timestamp %d: no leader epoch", c.timestamp)
		}
	}
}

func testMetadata(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	id := makeTopic(w, topic, 3)
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	resp := ask[*kmsg.MetadataResponse](w, v, req)
	if len(resp.Brokers) != 1 || resp.Brokers[0].Host != "127.0.0.1" || !strings.HasSuffix(b.Addr(), ":"+itoa(resp.Brokers[0].Port)) {
		t.Errorf("brokers %+v", resp.Brokers)
	}
	got := resp.Topics[0]
	if got.ErrorCode != 0 || *got.Topic != topic || len(got.Partitions) != 3 || got.Partitions[2].Leader != resp.Brokers[0].NodeID {
		t.Errorf("got %+v", got)
	}
	if v >= 1 && resp.ControllerID != resp.Brokers[0].NodeID {
		t.Errorf("controller %d", resp.ControllerID)
	}
	if v >= 10 && got.TopicID != id {
		t.Errorf("topic id %x, want %x", got.TopicID, id)
	}
	if v >= 2 && (resp.ClusterID == nil || len(*resp.ClusterID) != 22) {
		t.Errorf("cluster id %v", resp.ClusterID)
	}
	all := kmsg.NewPtrMetadataRequest() // null: all; in v0 an empty list is
	if v == 0 {
		all.Topics = []kmsg.MetadataRequestTopic{}
	}
	names := map[string]bool{}
	for _, topic := range ask[*kmsg.MetadataResponse](w, v, all).Topics {
		names[*topic.Topic] = topic.IsInternal
	}
	if internal, ok := names["__consumer_offsets"]; !ok || (v >= 1 && !internal) {
		t.Errorf("the offsets topic is listed: %v, internal: %v", ok, internal)
	}
	if v >= 1 {
		none := kmsg.NewPtrMetadataRequest()
		none.Topics = []kmsg.MetadataRequestTopic{}
		if n := len(ask[*kmsg.MetadataResponse](w, v, none).Topics); n != 0 {
			t.Errorf("an empty list gave %d topics", n)
		}
	}
	made := topic + "-made"
	auto := kmsg.NewPtrMetadataRequest()
	auto.Topics = []kmsg.MetadataRequestTopic{{Topic: &made}}
	auto.AllowAutoTopicCreation = false
	if v >= 4 {
		if p := ask[*kmsg.MetadataResponse](w, v, auto).Topics[0]; p.ErrorCode != 3 || len(p.Partitions) != 0 {
			t.Errorf("not allowed to create: %+v", p)
		}
	}
	auto.AllowAutoTopicCreation = true
	if p := ask[*kmsg.MetadataResponse](w, v, auto).Topics[0]; (p.ErrorCode != 3 && p.ErrorCode != 5) || len(p.Partitions) != 0 {
		t.Errorf("the answer that creates: %+v", p)
	}
	if p := ask[*kmsg.MetadataResponse](w, v, auto).Topics[0]; p.ErrorCode != 0 || len(p.Partitions) != 1 {
		t.Errorf("after the creation: %+v", p)
	}
}

func itoa(n int32) string {
	return strings.TrimLeft(string([]byte{byte('0' + n/10000%10), byte('0' + n/1000%10), byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)}), "0")
}

func testOffsetCommit(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	id := makeTopic(w, topic, 2)
	if code := commit(w, v, commitRequest(topic, topic, id, 1, 77)); code != 0 {
		t.Fatalf("error %d", code)
	}
	if got := committed(w, topic, topic, 1); got != 77 {
		t.Errorf("fetched %d, want 77", got)
	}
	if code := commit(w, v, commitRequest(topic, topic, id, 2, 77)); code != 3 {
		t.Errorf("unknown partition: error %d", code)
	}
	unknown := int16(3)
	if v >= 10 {
		unknown = 100
	}
	if code := commit(w, v, commitRequest(topic, "nosuch", [16]byte{8}, 0, 77)); code != unknown {
		t.Errorf("unknown topic: error %d, want %d", code, unknown)
	}
	req := commitRequest(topic+"-none", topic, id, 0, 1)
	req.Generation, req.MemberID = 1, "x"
	want := int16(22)
	if v >= 9 {
		want = 69
	}
	if code := commit(w, v, req); code != want {
		t.Errorf("unknown group with a generation: error %d, want %d", code, want)
	}
	mixed := commitRequest(topic, topic, id, 0, 5)
	mixed.Topics[0].Partitions = append(mixed.Topics[0].Partitions, mixed.Topics[0].Partitions[0], mixed.Topics[0].Partitions[0])
	mixed.Topics[0].Partitions[1].Partition = 9
	mixed.Topics[0].Partitions[2].Metadata = kmsg.StringPtr(strings.Repeat("m", 4097))
	// Kafka answers what it refuses before it asks the coordinator first.
	var codes []int16
	for _, p := range ask[*kmsg.OffsetCommitResponse](w, v, mixed).Topics[0].Partitions {
		codes = append(codes, p.ErrorCode)
	}
	if !slices.Equal(codes, []int16{3, 0, 12}) {
		t.Errorf("mixed: errors %v", codes)
	}
}

func testOffsetFetch(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	id := makeTopic(w, topic, 2)
	req := commitRequest(topic, topic, id, 1, 77)
	req.Topics[0].Partitions[0].LeaderEpoch = 4
	commit(w, 9, req)
	fetchReq := func(group string, all bool) *kmsg.OffsetFetchRequest {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = group
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.MemberEpoch = group, -1
		if !all {
			req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: []int32{0, 1}}}
			g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, TopicID: id, Partitions: []int32{0, 1}}}
		}
		req.Groups = []kmsg.OffsetFetchRequestGroup{g, g}
		return req
	}
	read := func(req *kmsg.OffsetFetchRequest) (offsets []int64, epochs []int32, metadata []string) {
		resp := ask[*kmsg.OffsetFetchResponse](w, v, req)
		if v < 8 {
			for _, t := range resp.Topics {
				for _, p := range t.Partitions {
					offsets, epochs, metadata = append(offsets, p.Offset), append(epochs, p.LeaderEpoch), append(metadata, *p.Metadata)
				}
			}
			return offsets, epochs, metadata
		}
		if len(resp.Groups) != 2 || resp.Groups[1].Group != req.Groups[0].Group {
			t.Fatalf("groups %+v", resp.Groups)
		}
		for _, topic := range resp.Groups[1].Topics {
			if v >= 10 && topic.TopicID != id {
				t.Errorf("topic id %x", topic.TopicID)
			}
			for _, p := range topic.Partitions {
				offsets, epochs, metadata = append(offsets, p.Offset), append(epochs, p.LeaderEpoch), append(metadata, *p.Metadata)
			}
		}
		return offsets, epochs, metadata
	}
	offsets, epochs, metadata := read(fetchReq(topic, false))
	if !slices.Equal(offsets, []int64{-1, 77}) || !slices.Equal(metadata, []string{"", "m"}) || (v >= 5 && !slices.Equal(epochs, []int32{-1, 4})) {
		t.Errorf("got %v %v %v", offsets, epochs, metadata)
	}
	if offsets, _, _ := read(fetchReq(topic+"-none", false)); !slices.Equal(offsets, []int64{-1, -1}) {
		t.Errorf("unknown group: %v", offsets)
	}
	if v >= 2 {
		if offsets, _, _ := read(fetchReq(topic, true)); !slices.Equal(offsets, []int64{77}) {
			t.Errorf("all topics: %v", offsets)
		}
		if offsets, _, _ := read(fetchReq(topic+"-none", true)); len(offsets) != 0 {
			t.Errorf("all topics of an unknown group: %v", offsets)
		}
	}
}

func testFindCoordinator(t *testing.T, b *brokertest.Broker, v int16) {
	w := dial(t, b)
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = "a", []string{"a", "b", "a"}
	resp := ask[*kmsg.FindCoordinatorResponse](w, v, req)
	if v < 4 {
		if resp.ErrorCode != 0 || resp.Host != "127.0.0.1" || (v >= 1 && *resp.ErrorMessage != "NONE") {
			t.Errorf("got %+v", resp)
		}
	} else if len(resp.Coordinators) != 3 || resp.Coordinators[1].Key != "b" || resp.Coordinators[2].Host != "127.0.0.1" || *resp.Coordinators[0].ErrorMessage != "" {
		t.Errorf("got %+v", resp.Coordinators)
	}
	for kind, want := range map[int8]int16{1: 53, 2: 42, 7: 42} {
		if v == 0 {
			continue
		}
		req.CoordinatorType = kind
		resp := ask[*kmsg.FindCoordinatorResponse](w, v, req)
		code, node := resp.ErrorCode, resp.NodeID
		if v >= 4 {
			code, node = resp.Coordinators[0].ErrorCode, resp.Coordinators[0].NodeID
		}
		if code != want || node != -1 {
			t.Errorf("key type %d: error %d of node %d, want %d", kind, code, node, want)
		}
	}
}

// groupVersions are the versions of one run through a group's life; 0 stands for the highest of the others.
type groupVersions struct{ join, sync, heartbeat, leave int16 }

func testGroup(t *testing.T, b *brokertest.Broker, v groupVersions) {
	w, group := dial(t, b), unique(t)
	joinVersion, syncVersion, heartbeatVersion, leaveVersion := int16(9), int16(5), int16(4), int16(5)
	switch {
	case strings.Contains(t.Name(), "JoinGroup"):
		joinVersion = v.join
	case strings.Contains(t.Name(), "SyncGroup"):
		syncVersion = v.sync
	case strings.Contains(t.Name(), "Heartbeat"):
		heartbeatVersion = v.heartbeat
	case strings.Contains(t.Name(), "LeaveGroup"):
		leaveVersion = v.leave
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = group, 10000, 10000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{1, 2}}}
	joined := ask[*kmsg.JoinGroupResponse](w, joinVersion, join)
	if joinVersion >= 4 {
		if joined.ErrorCode != 79 || !strings.HasPrefix(joined.MemberID, "c-") || joined.Generation != -1 {
			t.Fatalf("first join: %+v", joined)
		}
		join.MemberID = joined.MemberID
		joined = ask[*kmsg.JoinGroupResponse](w, joinVersion, join)
	}
	if joined.ErrorCode != 0 || joined.Generation != 1 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1 || *joined.Protocol != "range" {
		t.Fatalf("join: %+v", joined)
	}
	if joinVersion >= 7 && *joined.ProtocolType != "consumer" {
		t.Errorf("protocol type %v", joined.ProtocolType)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = group, 1, joined.MemberID
	sync.ProtocolType, sync.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte{7, 8}}}
	if resp := ask[*kmsg.SyncGroupResponse](w, syncVersion, sync); resp.ErrorCode != 0 || string(resp.MemberAssignment) != "\x07\x08" || (syncVersion >= 5 && *resp.Protocol != "range") {
		t.Fatalf("sync: %+v", resp)
	}
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Group, heartbeat.Generation, heartbeat.MemberID = group, 1, joined.MemberID
	if resp := ask[*kmsg.HeartbeatResponse](w, heartbeatVersion, heartbeat); resp.ErrorCode != 0 {
		t.Errorf("heartbeat: error %d", resp.ErrorCode)
	}
	heartbeat.Generation = 0
	if resp := ask[*kmsg.HeartbeatResponse](w, heartbeatVersion, heartbeat); resp.ErrorCode != 22 {
		t.Errorf("heartbeat of an old generation: error %d", resp.ErrorCode)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = group, joined.MemberID
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: joined.MemberID}}
	left := ask[*kmsg.LeaveGroupResponse](w, leaveVersion, leave)
	if left.ErrorCode != 0 || (leaveVersion >= 3 && (len(left.Members) != 1 || left.Members[0].ErrorCode != 0)) {
		t.Errorf("leave: %+v", left)
	}
	left = ask[*kmsg.LeaveGroupResponse](w, leaveVersion, leave)
	if leaveVersion < 3 && left.ErrorCode != 25 || leaveVersion >= 3 && (left.ErrorCode != 0 || left.Members[0].ErrorCode != 25) {
		t.Errorf("leave again: %+v", left)
	}
}

// stable makes a group with one member that has synced, and returns the member's id.
func stable(t *testing.T, w *wire, group string) string {
	t.Helper()
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = group, 30000, 30000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}}}
	joined := ask[*kmsg.JoinGroupResponse](w, 3, join)
	if joined.ErrorCode != 0 {
		t.Fatalf("join: error %d", joined.ErrorCode)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = group, joined.Generation, joined.MemberID
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte{7}}}
	if resp := ask[*kmsg.SyncGroupResponse](w, 3, sync); resp.ErrorCode != 0 {
		t.Fatalf("sync: error %d", resp.ErrorCode)
	}
	return joined.MemberID
}

func testDescribeGroups(t *testing.T, b *brokertest.Broker, v int16) {
	w, group := dial(t, b), unique(t)
	member := stable(t, w, group)
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group, group + "-none"}
	resp := ask[*kmsg.DescribeGroupsResponse](w, v, req)
	g := resp.Groups[0]
	if g.ErrorCode != 0 || g.State != "Stable" || g.ProtocolType != "consumer" || g.Protocol != "range" || len(g.Members) != 1 {
		t.Fatalf("got %+v", g)
	}
	if m := g.Members[0]; m.MemberID != member || m.ClientID != "c" || m.ClientHost != "/127.0.0.1" || len(m.ProtocolMetadata) == 0 || string(m.MemberAssignment) != "\x07" {
		t.Errorf("member %+v", m)
	}
	want := int16(0)
	if v >= 6 {
		want = 69
	}
	if g := resp.Groups[1]; g.ErrorCode != want || g.State != "Dead" {
		t.Errorf("unknown group: %+v", g)
	}
}

func testListGroups(t *testing.T, b *brokertest.Broker, v int16) {
	w, group := dial(t, b), unique(t)
	stable(t, w, group)
	req := kmsg.NewPtrListGroupsRequest()
	if v >= 4 {
		req.StatesFilter = []string{"sTaBle"}
	}
	if v >= 5 {
		req.TypesFilter = []string{"Classic"}
	}
	resp := ask[*kmsg.ListGroupsResponse](w, v, req)
	i := slices.IndexFunc(resp.Groups, func(g kmsg.ListGroupsResponseGroup) bool { return g.Group == group })
	if resp.ErrorCode != 0 || i < 0 || resp.Groups[i].ProtocolType != "consumer" {
		t.Fatalf("got %+v", resp)
	}
	if g := resp.Groups[i]; v >= 4 && g.GroupState != "Stable" || v >= 5 && g.GroupType != "classic" {
		t.Errorf("got %+v", g)
	}
	if v >= 4 {
		req.StatesFilter = []string{"nonsense"}
		if n := len(ask[*kmsg.ListGroupsResponse](w, v, req).Groups); n != 0 {
			t.Errorf("an unknown state lists %d groups", n)
		}
	}
}

func testApiVersions(t *testing.T, b *brokertest.Broker, v int16) {
	w := dial(t, b)
	resp := ask[*kmsg.ApiVersionsResponse](w, v, named(kmsg.NewPtrApiVersionsRequest()))
	if resp.ErrorCode != 0 || len(resp.ApiKeys) != len(api.Table()) {
		t.Fatalf("error %d, %d rows", resp.ErrorCode, len(resp.ApiKeys))
	}
	for i, row := range api.Table() {
		if got := resp.ApiKeys[i]; got.ApiKey != row.Key || got.MinVersion != row.Advertised || got.MaxVersion != row.Max {
			t.Errorf("row %+v, want %+v", got, row)
		}
	}
	if v >= 3 {
		bad := named(kmsg.NewPtrApiVersionsRequest())
		bad.ClientSoftwareName = "-no good-"
		if resp := ask[*kmsg.ApiVersionsResponse](w, v, bad); resp.ErrorCode != 42 {
			t.Errorf("bad software name: error %d", resp.ErrorCode)
		}
	}
	if v >= 5 {
		half := named(kmsg.NewPtrApiVersionsRequest())
		half.ClusterID = kmsg.StringPtr("x")
		if resp := ask[*kmsg.ApiVersionsResponse](w, v, half); resp.ErrorCode != 42 {
			t.Errorf("cluster id without node id: error %d", resp.ErrorCode)
		}
		half.NodeID = 1
		if resp := ask[*kmsg.ApiVersionsResponse](w, v, half); resp.ErrorCode != 129 {
			t.Errorf("another cluster: error %d", resp.ErrorCode)
		}
		half.NodeID = -2 // only -1 means that no node is named
		if resp := ask[*kmsg.ApiVersionsResponse](w, v, half); resp.ErrorCode != 129 {
			t.Errorf("a node id that nobody has: error %d", resp.ErrorCode)
		}
	}
}

func testCreateTopics(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	req := kmsg.NewPtrCreateTopicsRequest()
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = topic, 4, 1
	req.Topics, req.TimeoutMillis = append(req.Topics, one), 1000
	if v >= 1 {
		req.ValidateOnly = true
		if resp := ask[*kmsg.CreateTopicsResponse](w, v, req); resp.Topics[0].ErrorCode != 0 {
			t.Errorf("validate only: %+v", resp.Topics[0])
		}
		req.ValidateOnly = false
	}
	got := ask[*kmsg.CreateTopicsResponse](w, v, req).Topics[0]
	if got.ErrorCode != 0 || (v >= 5 && (got.NumPartitions != 4 || got.ReplicationFactor != 1)) || (v >= 7 && got.TopicID == [16]byte{}) {
		t.Errorf("got %+v", got)
	}
	if got := ask[*kmsg.CreateTopicsResponse](w, v, req).Topics[0]; got.ErrorCode != 36 {
		t.Errorf("again: %+v", got)
	}
}

func testDeleteTopics(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	id := makeTopic(w, topic, 1)
	commit(w, 9, commitRequest(topic, topic, id, 0, 9))
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TopicNames, req.TimeoutMillis = []string{topic}, 1000
	req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &topic}}
	if v >= 6 {
		req.Topics[0] = kmsg.DeleteTopicsRequestTopic{TopicID: id}
	}
	if got := ask[*kmsg.DeleteTopicsResponse](w, v, req).Topics[0]; got.ErrorCode != 0 || *got.Topic != topic {
		t.Fatalf("got %+v", got)
	}
	want := int16(3)
	if v >= 6 {
		want = 100
	}
	if got := ask[*kmsg.DeleteTopicsResponse](w, v, req).Topics[0]; got.ErrorCode != want {
		t.Errorf("again: %+v", got)
	}
	makeTopic(w, topic, 1)
	if got := committed(w, topic, topic, 0); got != -1 {
		t.Errorf("the topic that was made again has offset %d", got)
	}
}

func testDeleteRecords(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	produce(w, 9, topic, 0, batchOf(partitionlog.None, 1, "a", "b", "c", "d"))
	for _, c := range []struct {
		partition int32
		offset    int64
		low       int64
		code      int16
	}{{0, 2, 2, 0}, {0, 1, 2, 0}, {0, 99, -1, 1}, {5, 0, -1, 3}, {0, -1, 4, 0}} {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.TimeoutMillis = 1000
		req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: c.partition, Offset: c.offset}}}}
		if got := ask[*kmsg.DeleteRecordsResponse](w, v, req).Topics[0].Partitions[0]; got.LowWatermark != c.low || got.ErrorCode != c.code {
			t.Errorf("partition %d to %d: got %+v, want %d, error %d", c.partition, c.offset, got, c.low, c.code)
		}
	}
	if p := fetch(w, 12, fetchRequest(topic, [16]byte{}, 0, 3)); p.ErrorCode != 1 {
		t.Errorf("a deleted record is fetched: %+v", p)
	}
}

func testInitProducerID(t *testing.T, b *brokertest.Broker, v int16) {
	w := dial(t, b)
	req := kmsg.NewPtrInitProducerIDRequest()
	req.ProducerID, req.ProducerEpoch = -1, -1
	first := ask[*kmsg.InitProducerIDResponse](w, v, req)
	second := ask[*kmsg.InitProducerIDResponse](w, v, req)
	if first.ErrorCode != 0 || first.ProducerEpoch != 0 || first.ProducerID < 0 || second.ProducerID == first.ProducerID {
		t.Errorf("got %+v, then %+v", first, second)
	}
	req.TransactionalID = kmsg.StringPtr("tx")
	if got := ask[*kmsg.InitProducerIDResponse](w, v, req); got.ErrorCode != 53 || got.ProducerID != -1 {
		t.Errorf("transactional: %+v", got)
	}
}

func testOffsetForLeaderEpoch(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	produce(w, 9, topic, 0, batchOf(partitionlog.None, 1, "a", "b"))
	for _, c := range []struct {
		epoch, want int32
		end         int64
	}{{0, 0, 2}, {-1, -1, -1}, {1, -1, -1}} {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		req.ReplicaID = -1
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.CurrentLeaderEpoch, p.LeaderEpoch = -1, c.epoch
		req.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{p}}}
		got := ask[*kmsg.OffsetForLeaderEpochResponse](w, v, req).Topics[0].Partitions[0]
		if got.ErrorCode != 0 || got.EndOffset != c.end || (v >= 1 && got.LeaderEpoch != c.want) {
			t.Errorf("epoch %d: got %+v", c.epoch, got)
		}
	}
}

func testDescribeConfigs(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1, "cleanup.policy", "compact", "retention.ms", "60000")
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, topic, []string{"cleanup.policy", "retention.ms"}
	req.Resources = append(req.Resources, r)
	got := ask[*kmsg.DescribeConfigsResponse](w, v, req).Resources[0]
	values := map[string]string{}
	for _, c := range got.Configs {
		values[c.Name] = *c.Value
	}
	if got.ErrorCode != 0 || len(values) != 2 || values["cleanup.policy"] != "compact" || values["retention.ms"] != "60000" {
		t.Errorf("got %+v", got)
	}
}

func testCreatePartitions(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	for _, c := range []struct {
		count int32
		code  int16
	}{{3, 0}, {3, 37}, {1, 37}} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.TimeoutMillis = 1000
		one := kmsg.NewCreatePartitionsRequestTopic()
		one.Topic, one.Count = topic, c.count
		req.Topics = append(req.Topics, one)
		if got := ask[*kmsg.CreatePartitionsResponse](w, v, req).Topics[0]; got.ErrorCode != c.code {
			t.Errorf("to %d: got %+v, want error %d", c.count, got, c.code)
		}
	}
	if p := produce(w, 9, topic, 2, batchOf(partitionlog.None, 1, "a")); p.ErrorCode != 0 {
		t.Errorf("the new partition: %+v", p)
	}
}

func testDeleteGroups(t *testing.T, b *brokertest.Broker, v int16) {
	w, group := dial(t, b), unique(t)
	id := makeTopic(w, group, 1)
	commit(w, 9, commitRequest(group, group, id, 0, 9))
	stable(t, w, group+"-live")
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{group, group + "-live", group + "-none", group}
	got := ask[*kmsg.DeleteGroupsResponse](w, v, req).Groups
	if len(got) != 3 || got[0].ErrorCode != 0 || got[1].ErrorCode != 68 || got[2].ErrorCode != 69 {
		t.Errorf("got %+v", got)
	}
	if offset := committed(w, group, group, 0); offset != -1 {
		t.Errorf("the offset is still %d", offset)
	}
}

func testIncrementalAlterConfigs(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op, c.Value = "max.message.bytes", kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr("200")
	r.Configs = append(r.Configs, c)
	req.Resources = append(req.Resources, r)
	if got := ask[*kmsg.IncrementalAlterConfigsResponse](w, v, req).Resources[0]; got.ErrorCode != 0 {
		t.Fatalf("got %+v", got)
	}
	if p := produce(w, 9, topic, 0, batchOf(partitionlog.None, 1, strings.Repeat("x", 300))); p.ErrorCode != 10 {
		t.Errorf("the new bound is not honoured: %+v", p)
	}
	req.Resources[0].Configs[0].Value = kmsg.StringPtr("many")
	if got := ask[*kmsg.IncrementalAlterConfigsResponse](w, v, req).Resources[0]; got.ErrorCode != 40 || got.ErrorMessage == nil {
		t.Errorf("bad value: %+v", got)
	}
}

func testListPartitionReassignments(t *testing.T, b *brokertest.Broker, v int16) {
	if got := ask[*kmsg.ListPartitionReassignmentsResponse](dial(t, b), v, kmsg.NewPtrListPartitionReassignmentsRequest()); got.ErrorCode != 0 || len(got.Topics) != 0 {
		t.Errorf("got %+v", got)
	}
}

func testOffsetDelete(t *testing.T, b *brokertest.Broker, v int16) {
	w, group := dial(t, b), unique(t)
	id := makeTopic(w, group, 1)
	commit(w, 9, commitRequest(group, group, id, 0, 9))
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	req.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: group, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 5}}}}
	got := ask[*kmsg.OffsetDeleteResponse](w, v, req)
	// What does not exist comes first, as in Kafka's answer.
	if got.ErrorCode != 0 || got.Topics[0].Partitions[0].ErrorCode != 3 || got.Topics[0].Partitions[1].ErrorCode != 0 {
		t.Errorf("got %+v", got)
	}
	if offset := committed(w, group, group, 0); offset != -1 {
		t.Errorf("the offset is still %d", offset)
	}
	req.Group = group + "-none"
	if got := ask[*kmsg.OffsetDeleteResponse](w, v, req); got.ErrorCode != 69 || len(got.Topics) != 0 {
		t.Errorf("unknown group: %+v", got)
	}
}

func testDescribeCluster(t *testing.T, b *brokertest.Broker, v int16) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType = 1
	got := ask[*kmsg.DescribeClusterResponse](dial(t, b), v, req)
	if got.ErrorCode != 0 || len(got.ClusterID) != 22 || len(got.Brokers) != 1 || got.Brokers[0].Host != "127.0.0.1" {
		t.Errorf("got %+v", got)
	}
}

// A Fetch that waits is answered when a record arrives, not when its time is over; and not before.
func TestFetchIsWokenByAnAppend(t *testing.T) {
	b := start(t)
	w := dial(t, b)
	makeTopic(w, "t", 1)
	poller := dial(t, b)
	req := fetchRequest("t", [16]byte{}, 0, 0)
	req.Version, req.MaxWaitMillis = 12, 60000
	id := poller.send(req)
	got := make(chan error, 1)
	go func() {
		resp, err := poller.receive(req, id)
		if err == nil && len(resp.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches) == 0 {
			t.Error("answered without a record")
		}
		got <- err
	}()
	produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, "a"))
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(answerTime):
		t.Error("not woken")
	}
	// min_bytes: two small records are not enough, and the time ends the wait.
	req = fetchRequest("t", [16]byte{}, 0, 0)
	req.MinBytes, req.MaxWaitMillis = 100000, 50
	began := time.Now()
	if p := fetch(w, 12, req); len(p.RecordBatches) == 0 || time.Since(began) < 50*time.Millisecond {
		t.Errorf("answered after %v with %d bytes", time.Since(began), len(p.RecordBatches))
	}
}
