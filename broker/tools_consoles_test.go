package broker_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// absent demands that apis are not advertised: a console then hides their page, and asks nothing.
func (x *tool) absent(highest map[int16]int16, keys ...kmsg.Key) {
	x.t.Helper()
	for _, key := range keys {
		if version, ok := highest[key.Int16()]; ok {
			x.t.Errorf("%s is advertised to v%d; replay what the tool does with it", key.Name(), version)
		}
	}
}

// TestToolRedpandaConsole replays Redpanda Console, which shows the pages whose apis are advertised. It speaks by
// franz-go, at the highest versions.
func TestToolRedpandaConsole(t *testing.T) {
	x := newScene(t).tool(t)
	highest := x.apiVersions(4)
	x.serves(highest, map[kmsg.Key]int16{
		kmsg.DescribeConfigs: 4, kmsg.DescribeGroups: 6, kmsg.ListGroups: 5, kmsg.DeleteRecords: 2, kmsg.OffsetCommit: 9,
		kmsg.DeleteGroups: 2, kmsg.OffsetDelete: 0, kmsg.ListPartitionReassignments: 0, kmsg.IncrementalAlterConfigs: 1,
		kmsg.DescribeClientQuotas: 1, kmsg.DescribeACLs: 3, kmsg.DescribeLogDirs: 4, kmsg.DescribeUserSCRAMCredentials: 0,
	})
	x.absent(highest, kmsg.AlterPartitionAssignments, kmsg.AlterClientQuotas, kmsg.AlterUserSCRAMCredentials, kmsg.CreateACLs, kmsg.DeleteACLs)
	x.topics(13)
	x.topicConfig(4)
	x.groups(5)
	x.coordinator(6, "resting")
	x.describe(6)
	x.same("offsets of live", x.fetched(10, "live", true), map[int32]int64{0: liveAt})
	x.logDirs(4)
	x.noReassignments()
	x.noACLs(3)
	x.noQuotas(1)
	x.noUsers()
	x.editOffsets(10)
	x.alterConfig("orders", "retention.ms", "777000")
	x.deleteRecords(2)

	offsets := kmsg.NewPtrOffsetDeleteRequest()
	offsets.Group = "live"
	offsets.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}}}}
	if resp := ask[*kmsg.OffsetDeleteResponse](x.wire, 0, offsets); resp.ErrorCode != 0 || resp.Topics[0].Partitions[0].ErrorCode != 86 {
		t.Errorf("OffsetDelete of a subscribed topic: %+v", resp)
	}
	groups := kmsg.NewPtrDeleteGroupsRequest()
	groups.Groups = []string{"live", "resting"}
	if resp := ask[*kmsg.DeleteGroupsResponse](x.wire, 2, groups).Groups; resp[0].ErrorCode != 68 || resp[1].ErrorCode != 0 {
		t.Errorf("DeleteGroups: %+v", resp)
	}
}

// noUsers asks for all users with credentials.
func (x *tool) noUsers() {
	x.t.Helper()
	if resp := ask[*kmsg.DescribeUserSCRAMCredentialsResponse](x.wire, 0, kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()); resp.ErrorCode != 0 || len(resp.Results) != 0 {
		x.t.Errorf("DescribeUserScramCredentials: %+v", resp)
	}
}

// editOffsets commits as a console does: without member and generation, which a group with members refuses.
func (x *tool) editOffsets(version int16) {
	x.t.Helper()
	if code := commit(x.wire, version, commitRequest("resting", "orders", x.s.id, 1, 0)); code != 0 {
		x.t.Errorf("OffsetCommit v%d: error %d", version, code)
	}
	x.same("edited offsets", x.fetched(version, "resting", true), map[int32]int64{0: restingAt, 1: 0})
	if code := commit(x.wire, version, commitRequest("live", "orders", x.s.id, 0, 0)); code != 25 {
		x.t.Errorf("OffsetCommit v%d of a group with members: error %d", version, code)
	}
	x.same("offsets that were refused", x.fetched(version, "live", true), map[int32]int64{0: liveAt})
}

func (x *tool) noReassignments() {
	x.t.Helper()
	if resp := ask[*kmsg.ListPartitionReassignmentsResponse](x.wire, 0, kmsg.NewPtrListPartitionReassignmentsRequest()); resp.ErrorCode != 0 || len(resp.Topics) != 0 {
		x.t.Errorf("ListPartitionReassignments: %+v", resp)
	}
}

// noACLs asks for all ACLs: there is no authorizer, which consoles show as such.
func (x *tool) noACLs(version int16) {
	x.t.Helper()
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourcePatternType, req.Operation, req.PermissionType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny, kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	if resp := ask[*kmsg.DescribeACLsResponse](x.wire, version, req); resp.ErrorCode != 54 || resp.ErrorMessage == nil || len(resp.Resources) != 0 {
		x.t.Errorf("DescribeAcls v%d: %+v", version, resp)
	}
}

func (x *tool) noQuotas(version int16) {
	x.t.Helper()
	if resp := ask[*kmsg.DescribeClientQuotasResponse](x.wire, version, kmsg.NewPtrDescribeClientQuotasRequest()); resp.ErrorCode != 0 || resp.Entries == nil || len(resp.Entries) != 0 {
		x.t.Errorf("DescribeClientQuotas v%d: %+v", version, resp)
	}
}

// alterConfig changes a topic's config and reads it back.
func (x *tool) alterConfig(topic, name, value string) {
	x.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op, c.Value = name, kmsg.IncrementalAlterConfigOpSet, kmsg.StringPtr(value)
	r.Configs = append(r.Configs, c)
	req.Resources = append(req.Resources, r)
	if resp := ask[*kmsg.IncrementalAlterConfigsResponse](x.wire, 1, req).Resources[0]; resp.ErrorCode != 0 {
		x.t.Errorf("IncrementalAlterConfigs: %+v", resp)
	}
	if got := x.describeConfig(4, kmsg.ConfigResourceTypeTopic, topic)[name]; got != value {
		x.t.Errorf("%s is %q, want %q", name, got, value)
	}
}

func (x *tool) deleteRecords(version int16) {
	x.t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 5000
	req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "orders", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 3}}}}
	if p := ask[*kmsg.DeleteRecordsResponse](x.wire, version, req).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.LowWatermark != 3 {
		x.t.Errorf("DeleteRecords v%d: %+v", version, p)
	}
	x.same("starts after the deletion", x.list(10, "orders", -2, 0, 1), map[int32]int64{0: 3, 1: 0})
}

// describeCluster asks for the cluster as Java's admin client does.
func (x *tool) describeCluster(version int16) {
	x.t.Helper()
	req := kmsg.NewPtrDescribeClusterRequest()
	req.EndpointType = 1
	resp := ask[*kmsg.DescribeClusterResponse](x.wire, version, req)
	if resp.ErrorCode != 0 || len(resp.ClusterID) != 22 || len(resp.Brokers) != 1 || resp.Brokers[0].NodeID != resp.ControllerID || resp.Brokers[0].Port <= 0 {
		x.t.Errorf("DescribeCluster v%d: %+v", version, resp)
	}
}

// describeTopics asks for topics as Java's admin client does.
func (x *tool) describeTopics() {
	x.t.Helper()
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 2000
	req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "__consumer_offsets"}, {Topic: "orders"}}
	resp := ask[*kmsg.DescribeTopicPartitionsResponse](x.wire, 0, req)
	if len(resp.Topics) != 2 || resp.NextCursor != nil || !resp.Topics[0].IsInternal || len(resp.Topics[0].Partitions) != 50 ||
		resp.Topics[1].TopicID != x.s.id || resp.Topics[1].IsInternal || len(resp.Topics[1].Partitions) != 2 || resp.Topics[1].Partitions[1].LeaderID != 1 {
		x.t.Errorf("DescribeTopicPartitions: %+v", resp)
	}
}

// TestToolKafkaUI replays kafka-ui (kafbat), which speaks by Java's admin client, and reads two configs of the broker by
// name. What is not advertised it leaves out, without a request.
func TestToolKafkaUI(t *testing.T) {
	x := newScene(t).tool(t)
	highest := x.apiVersions(4)
	x.serves(highest, map[kmsg.Key]int16{
		kmsg.DescribeCluster: 0, kmsg.DescribeConfigs: 4, kmsg.DescribeLogDirs: 4, kmsg.DescribeTopicPartitions: 0, kmsg.ListGroups: 5,
		kmsg.DescribeGroups: 6, kmsg.ListOffsets: 10, kmsg.DescribeProducers: 0, kmsg.DescribeACLs: 3, kmsg.DescribeClientQuotas: 1,
	})
	x.absent(highest, kmsg.DescribeQuorum, kmsg.ConsumerGroupDescribe)
	x.describeCluster(0)
	configs := x.describeConfig(4, kmsg.ConfigResourceTypeBroker, "1")
	for name, want := range map[string]string{"inter.broker.protocol.version": "4.0-IV3", "delete.topic.enable": "true", "default.replication.factor": "1"} {
		if configs[name] != want {
			t.Errorf("the broker's %s is %q, want %q", name, configs[name], want)
		}
	}
	x.logDirs(4)
	x.describeTopics()
	x.topicConfig(4)
	x.groups(5)
	x.describe(6)
	x.same("offsets of live", x.fetched(9, "live", true), map[int32]int64{0: liveAt})
	x.same("ends", x.list(10, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
	req := kmsg.NewPtrDescribeProducersRequest()
	req.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "orders", Partitions: []int32{0, 1}}}
	resp := ask[*kmsg.DescribeProducersResponse](x.wire, 0, req).Topics
	if len(resp) != 1 || len(resp[0].Partitions) != 2 || slices.ContainsFunc(resp[0].Partitions, func(p kmsg.DescribeProducersResponseTopicPartition) bool {
		return p.ErrorCode != 0 || len(p.ActiveProducers) != 0
	}) {
		t.Errorf("DescribeProducers: %+v", resp)
	}
	x.noACLs(3)
	x.noQuotas(1)
}

// TestToolAKHQ replays AKHQ, which speaks by Java's admin client, too.
func TestToolAKHQ(t *testing.T) {
	x := newScene(t).tool(t)
	x.serves(x.apiVersions(4), map[kmsg.Key]int16{
		kmsg.Metadata: 13, kmsg.DescribeTopicPartitions: 0, kmsg.DescribeLogDirs: 4, kmsg.DescribeConfigs: 4, kmsg.DescribeCluster: 0,
		kmsg.ListGroups: 5, kmsg.DescribeGroups: 6, kmsg.OffsetFetch: 9, kmsg.ListOffsets: 10, kmsg.DescribeACLs: 3,
	})
	x.topics(13)
	x.describeTopics()
	x.logDirs(4)
	x.topicConfig(4)
	x.describeCluster(0)
	x.groups(5)
	x.coordinator(6, "resting")
	x.describe(6)
	x.same("offsets of resting", x.fetched(9, "resting", true), map[int32]int64{0: restingAt})
	x.same("ends", x.list(10, "orders", -1, 0, 1), map[int32]int64{0: ordersEnd, 1: 0})
	x.noACLs(3)
}
