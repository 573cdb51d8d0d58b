package broker_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
)

// The files tools_*_test.go replay what tools send, at exactly the versions that they send, and look at what the tools
// need of the answers. Each begins on a new connection, without ApiVersions where the tool sends none.

// scene is what the tools look at: a topic with records, a group with a static member, and one that rests.
type scene struct {
	b            *brokertest.Broker
	id           [16]byte // of the topic orders
	member       string   // of the group live; its instance is seat
	subscription []byte
	assignment   []byte
}

// Both groups have read partition 0 of orders to here; nobody has committed for partition 1.
const (
	liveAt, restingAt = int64(2), int64(4)
	ordersEnd         = int64(5)
)

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{b: start(t)}
	w := dial(t, s.b)
	s.id = makeTopic(w, "orders", 2)
	produce(w, 9, "orders", 0, batchOf(partitionlog.None, 1000, "a", "b", "c", "d", "e"))
	findCoordinator(w)
	s.joinLive(t, w)
	live := commitRequest("live", "orders", s.id, 0, liveAt)
	live.Generation, live.MemberID, live.InstanceID = 1, s.member, kmsg.StringPtr("seat")
	if code := commit(w, 8, live); code != 0 {
		t.Fatalf("commit of live: error %d", code)
	}
	if code := commit(w, 8, commitRequest("resting", "orders", s.id, 0, restingAt)); code != 0 {
		t.Fatalf("commit of resting: error %d", code)
	}
	return s
}

// joinLive joins the static member, which owns both partitions.
func (s *scene) joinLive(t *testing.T, w *wire) {
	t.Helper()
	s.subscription, s.assignment = consumerBytes("orders", 0, 1)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.InstanceID, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = "live", kmsg.StringPtr("seat"), 30000, 30000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: s.subscription}}
	joined := ask[*kmsg.JoinGroupResponse](w, 7, join)
	if joined.ErrorCode != 0 {
		t.Fatalf("join: %+v", joined)
	}
	s.member = joined.MemberID
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID, sync.InstanceID = "live", joined.Generation, joined.MemberID, kmsg.StringPtr("seat")
	sync.ProtocolType, sync.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: s.assignment}}
	if resp := ask[*kmsg.SyncGroupResponse](w, 5, sync); resp.ErrorCode != 0 {
		t.Fatalf("sync: %+v", resp)
	}
}

// consumerBytes encodes a subscription and an assignment as consumers do.
func consumerBytes(topic string, partitions ...int32) (subscription, assignment []byte) {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{topic}
	a := kmsg.NewConsumerMemberAssignment()
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	return m.AppendTo(nil), a.AppendTo(nil)
}

// tool is a tool's connection.
type tool struct {
	*wire
	t *testing.T
	s *scene
}

func (s *scene) tool(t *testing.T) *tool { return &tool{dial(t, s.b), t, s} }

// apiVersions asks which versions there are, and returns the highest by key.
func (x *tool) apiVersions(version int16) map[int16]int16 {
	x.t.Helper()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "tool", "1"
	resp := ask[*kmsg.ApiVersionsResponse](x.wire, version, req)
	if resp.ErrorCode != 0 {
		x.t.Fatalf("ApiVersions v%d: error %d", version, resp.ErrorCode)
	}
	highest := map[int16]int16{}
	for _, key := range resp.ApiKeys {
		highest[key.ApiKey] = key.MaxVersion
	}
	return highest
}

// serves demands that versions are advertised, for a tool that looks before it asks.
func (x *tool) serves(highest map[int16]int16, wanted map[kmsg.Key]int16) {
	x.t.Helper()
	for key, version := range wanted {
		if got, ok := highest[key.Int16()]; !ok || got < version {
			x.t.Errorf("%s is served to v%d (%v), the tool asks at v%d", key.Name(), got, ok, version)
		}
	}
}

// topics asks for all topics, and checks the one with records and the one of the groups.
func (x *tool) topics(version int16) *kmsg.MetadataResponse {
	x.t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil
	resp := ask[*kmsg.MetadataResponse](x.wire, version, req)
	if len(resp.Brokers) != 1 || resp.ControllerID != resp.Brokers[0].NodeID || resp.Brokers[0].Host != "127.0.0.1" {
		x.t.Errorf("Metadata v%d: %+v", version, resp)
	}
	for name, want := range map[string]struct {
		partitions int
		internal   bool
	}{"orders": {2, false}, "__consumer_offsets": {50, true}} {
		i := slices.IndexFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool { return *t.Topic == name })
		if i < 0 {
			x.t.Fatalf("Metadata v%d: %s is not there", version, name)
		}
		topic := resp.Topics[i]
		if topic.ErrorCode != 0 || topic.IsInternal != want.internal || len(topic.Partitions) != want.partitions {
			x.t.Errorf("Metadata v%d: %s is %+v", version, name, topic)
		}
		for _, p := range topic.Partitions {
			if p.ErrorCode != 0 || p.Leader != resp.ControllerID || len(p.Replicas) != 1 || len(p.ISR) != 1 {
				x.t.Errorf("Metadata v%d: %s-%d is %+v", version, name, p.Partition, p)
			}
		}
	}
	return resp
}

// groups lists the groups.
func (x *tool) groups(version int16) {
	x.t.Helper()
	resp := ask[*kmsg.ListGroupsResponse](x.wire, version, kmsg.NewPtrListGroupsRequest())
	states := map[string]string{"live": "Stable", "resting": "Empty"}
	types := map[string]string{"live": "consumer", "resting": ""}
	if resp.ErrorCode != 0 || len(resp.Groups) != len(states) {
		x.t.Errorf("ListGroups v%d: %+v", version, resp)
	}
	for _, g := range resp.Groups {
		if g.ProtocolType != types[g.Group] || version >= 4 && g.GroupState != states[g.Group] || version >= 5 && g.GroupType != "classic" {
			x.t.Errorf("ListGroups v%d: %+v", version, g)
		}
	}
}

// describe describes both groups; the member is there at every version, its instance from v4 on.
func (x *tool) describe(version int16) {
	x.t.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{"live", "resting"}
	resp := ask[*kmsg.DescribeGroupsResponse](x.wire, version, req)
	live, resting := resp.Groups[0], resp.Groups[1]
	if live.ErrorCode != 0 || live.State != "Stable" || live.ProtocolType != "consumer" || live.Protocol != "range" || len(live.Members) != 1 {
		x.t.Fatalf("DescribeGroups v%d: %+v", version, live)
	}
	m := live.Members[0]
	if m.MemberID != x.s.member || m.ClientID != "c" || m.ClientHost != "/127.0.0.1" || !bytes.Equal(m.ProtocolMetadata, x.s.subscription) || !bytes.Equal(m.MemberAssignment, x.s.assignment) {
		x.t.Errorf("DescribeGroups v%d: %+v", version, m)
	}
	if has := m.InstanceID != nil && *m.InstanceID == "seat"; has != (version >= 4) {
		x.t.Errorf("DescribeGroups v%d: instance %v", version, m.InstanceID)
	}
	if resting.ErrorCode != 0 || resting.State != "Empty" || len(resting.Members) != 0 {
		x.t.Errorf("DescribeGroups v%d: %+v", version, resting)
	}
}

// fetched asks for all offsets of a group (null topics, from v2 on) or for those of orders, and returns them by
// partition.
func (x *tool) fetched(version int16, group string, all bool) map[int32]int64 {
	x.t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	if !all {
		req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0, 1}}}
		g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "orders", TopicID: x.s.id, Partitions: []int32{0, 1}}}
	}
	req.Groups = append(req.Groups, g)
	resp := ask[*kmsg.OffsetFetchResponse](x.wire, version, req)
	offsets := map[int32]int64{}
	add := func(partition int32, offset int64, code int16) {
		if offsets[partition] = offset; code != 0 {
			x.t.Errorf("OffsetFetch v%d: partition %d has error %d", version, partition, code)
		}
	}
	if resp.ErrorCode != 0 {
		x.t.Errorf("OffsetFetch v%d: error %d", version, resp.ErrorCode)
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			add(p.Partition, p.Offset, p.ErrorCode)
		}
	}
	for _, g := range resp.Groups {
		if g.ErrorCode != 0 || g.Group != group {
			x.t.Errorf("OffsetFetch v%d: %+v", version, g)
		}
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				add(p.Partition, p.Offset, p.ErrorCode)
			}
		}
	}
	return offsets
}

// list asks for offsets of a topic's partitions: -1 the end, -2 the start, else by time.
func (x *tool) list(version int16, topic string, at int64, partitions ...int32) map[int32]int64 {
	x.t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for _, partition := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = partition, at
		rt.Partitions = append(rt.Partitions, p)
	}
	req.Topics = append(req.Topics, rt)
	offsets := map[int32]int64{}
	for _, p := range ask[*kmsg.ListOffsetsResponse](x.wire, version, req).Topics[0].Partitions {
		if offsets[p.Partition] = p.Offset; p.ErrorCode != 0 {
			x.t.Errorf("ListOffsets v%d: %s: %+v", version, topic, p)
		}
	}
	return offsets
}

// describeConfig asks for all configs of a resource, and returns them by name.
func (x *tool) describeConfig(version int16, kind kmsg.ConfigResourceType, name string) map[string]string {
	x.t.Helper()
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, nil
	req.Resources = append(req.Resources, r)
	resp := ask[*kmsg.DescribeConfigsResponse](x.wire, version, req).Resources
	if len(resp) != 1 || resp[0].ErrorCode != 0 || resp[0].ResourceName != name {
		x.t.Fatalf("DescribeConfigs v%d: %+v", version, resp)
	}
	values := map[string]string{}
	for _, c := range resp[0].Configs {
		if c.Value != nil {
			values[c.Name] = *c.Value
		}
	}
	return values
}

// topicConfig checks what tools show of a topic.
func (x *tool) topicConfig(version int16) {
	x.t.Helper()
	got := x.describeConfig(version, kmsg.ConfigResourceTypeTopic, "orders")
	for name, want := range map[string]string{"cleanup.policy": "delete", "retention.ms": "604800000", "retention.bytes": "-1", "min.insync.replicas": "1"} {
		if got[name] != want {
			x.t.Errorf("DescribeConfigs v%d: %s is %q, want %q", version, name, got[name], want)
		}
	}
	if got["segment.bytes"] == "" || got["max.message.bytes"] == "" {
		x.t.Errorf("DescribeConfigs v%d: %v", version, got)
	}
}

// coordinator finds the coordinator of a group.
func (x *tool) coordinator(version int16, group string) {
	x.t.Helper()
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = group, []string{group}
	resp := ask[*kmsg.FindCoordinatorResponse](x.wire, version, req)
	code, node, port := resp.ErrorCode, resp.NodeID, resp.Port
	if version >= 4 {
		code, node, port = resp.Coordinators[0].ErrorCode, resp.Coordinators[0].NodeID, resp.Coordinators[0].Port
	}
	if code != 0 || node != 1 || port <= 0 {
		x.t.Errorf("FindCoordinator v%d: %+v", version, resp)
	}
}

// same compares offsets.
func (x *tool) same(what string, got map[int32]int64, want map[int32]int64) {
	x.t.Helper()
	for p, offset := range want {
		if at, ok := got[p]; !ok || at != offset {
			x.t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	if len(got) != len(want) {
		x.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
