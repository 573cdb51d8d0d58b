package broker_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestToolKafkaExporter replays danielqsj/kafka_exporter: no ApiVersions, and versions so low that a static member's
// instance has no place in the answer.
func TestToolKafkaExporter(t *testing.T) {
	x := newScene(t).tool(t)
	x.topics(6)
	x.groups(0)
	x.describe(0)
	x.same("offsets of live", x.fetched(4, "live", true), map[int32]int64{0: liveAt})
	x.same("offsets of resting", x.fetched(4, "resting", true), map[int32]int64{0: restingAt})
	x.same("offsets of live, by name", x.fetched(4, "live", false), map[int32]int64{0: liveAt, 1: -1})
	x.same("ends", x.list(3, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
	x.same("starts", x.list(3, "orders", -2, 0, 1), map[int32]int64{0: 0, 1: 0})
}

// TestToolKaf replays kaf, which sends no ApiVersions; `kaf group commit` joins the group and commits at version 1.
func TestToolKaf(t *testing.T) {
	x := newScene(t).tool(t)
	x.topics(5)
	x.topicConfig(1)
	x.groups(1)
	x.describe(1)
	x.same("offsets of resting", x.fetched(3, "resting", false), map[int32]int64{0: restingAt, 1: -1})
	for _, version := range []int16{1, 2} {
		x.same("ends", x.list(version, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
	}
	p := fetch(x.wire, 7, fetchRequest("orders", [16]byte{}, 0, 3))
	if values := valuesOf(t, p.RecordBatches); p.ErrorCode != 0 || p.HighWatermark != ordersEnd || values[len(values)-1] != "e" {
		t.Errorf("Fetch v7: %+v", p)
	}

	subscription, assignment := consumerBytes("orders", 0, 1)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = "resting", 10000, 10000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription}}
	joined := ask[*kmsg.JoinGroupResponse](x.wire, 2, join)
	if joined.ErrorCode != 0 || joined.LeaderID != joined.MemberID || len(joined.Members) != 1 || joined.Generation < 1 {
		t.Fatalf("JoinGroup v2: %+v", joined)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = "resting", joined.Generation, joined.MemberID
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: assignment}}
	if resp := ask[*kmsg.SyncGroupResponse](x.wire, 1, sync); resp.ErrorCode != 0 || string(resp.MemberAssignment) != string(assignment) {
		t.Fatalf("SyncGroup v1: %+v", resp)
	}
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Group, heartbeat.Generation, heartbeat.MemberID = "resting", joined.Generation, joined.MemberID
	if resp := ask[*kmsg.HeartbeatResponse](x.wire, 1, heartbeat); resp.ErrorCode != 0 {
		t.Errorf("Heartbeat v1: error %d", resp.ErrorCode)
	}
	req := commitRequest("resting", "orders", x.s.id, 1, 0)
	req.Generation, req.MemberID = joined.Generation, joined.MemberID
	if code := commit(x.wire, 1, req); code != 0 {
		t.Errorf("OffsetCommit v1: error %d", code)
	}
	x.same("offsets of resting after the commit", x.fetched(3, "resting", false), map[int32]int64{0: restingAt, 1: 0})
	req.Generation--
	if code := commit(x.wire, 1, req); code != 22 {
		t.Errorf("OffsetCommit v1 of an old generation: error %d", code)
	}
}

// TestToolKafkactl replays kafkactl, which refuses to reset offsets of a group that is not Empty.
func TestToolKafkactl(t *testing.T) {
	x := newScene(t).tool(t)
	x.serves(x.apiVersions(3), map[kmsg.Key]int16{kmsg.Metadata: 9, kmsg.DescribeConfigs: 2, kmsg.ListGroups: 3, kmsg.DescribeGroups: 5, kmsg.OffsetFetch: 7, kmsg.ListOffsets: 5, kmsg.FindCoordinator: 3})
	x.topics(9)
	x.topicConfig(2)
	x.groups(3)
	x.coordinator(3, "live")
	x.describe(5)
	x.same("offsets of live", x.fetched(7, "live", false), map[int32]int64{0: liveAt, 1: -1})
	x.same("ends", x.list(5, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
	x.same("first from the third second's record on", x.list(5, "orders", 1002, 0, 1), map[int32]int64{0: 2, 1: -1})
}
