package broker_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
)

// The apis that consoles and tools ask for, and clients do not.

func testDescribeACLs(t *testing.T, b *brokertest.Broker, v int16) {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.Operation, req.PermissionType = 1, 1, 1
	got := ask[*kmsg.DescribeACLsResponse](dial(t, b), v, req)
	if got.ErrorCode != 54 || got.ErrorMessage == nil || *got.ErrorMessage != "No Authorizer is configured on the broker" || len(got.Resources) != 0 {
		t.Errorf("got %+v", got)
	}
}

func testAlterConfigs(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1, "retention.ms", "5000")
	alter := func(resources ...kmsg.AlterConfigsRequestResource) []kmsg.AlterConfigsResponseResource {
		req := kmsg.NewPtrAlterConfigsRequest()
		req.Resources = resources
		return ask[*kmsg.AlterConfigsResponse](w, v, req).Resources
	}
	of := func(topic, name string, value *string) kmsg.AlterConfigsRequestResource {
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, value
		r.Configs = append(r.Configs, c)
		return r
	}
	if got := alter(of(topic, "max.message.bytes", kmsg.StringPtr("200")))[0]; got.ErrorCode != 0 || got.ResourceName != topic {
		t.Fatalf("got %+v", got)
	}
	if p := produce(w, 9, topic, 0, batchOf(partitionlog.None, 1, strings.Repeat("x", 300))); p.ErrorCode != 10 {
		t.Errorf("the new bound is not honoured: %+v", p)
	}
	configs := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, topic, []string{"retention.ms"}
	configs.Resources = append(configs.Resources, r)
	if got := ask[*kmsg.DescribeConfigsResponse](w, 4, configs).Resources[0].Configs; len(got) != 1 || *got[0].Value != "604800000" {
		t.Errorf("what the request does not name keeps its value: %+v", got)
	}
	for _, c := range []struct {
		resource kmsg.AlterConfigsRequestResource
		code     int16
	}{
		{of(topic, "max.message.bytes", nil), 42},
		{of(topic, "max.message.bytes", kmsg.StringPtr("many")), 40},
		{of(topic+"-none", "max.message.bytes", kmsg.StringPtr("1")), 3},
	} {
		if got := alter(c.resource)[0]; got.ErrorCode != c.code || got.ErrorMessage == nil {
			t.Errorf("%+v: got %+v, want code %d", c.resource, got, c.code)
		}
	}
	same := of(topic, "retention.ms", kmsg.StringPtr("1"))
	if got := alter(same, same); got[0].ErrorCode != 42 || got[1].ErrorCode != 42 {
		t.Errorf("a resource twice: got %+v", got)
	}
}

func testDescribeLogDirs(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 2)
	produce(w, 9, topic, 1, batchOf(partitionlog.None, 1, "x"))
	req := kmsg.NewPtrDescribeLogDirsRequest()
	all := ask[*kmsg.DescribeLogDirsResponse](w, v, req)
	if len(all.Dirs) != 1 || all.Dirs[0].Dir != "(memory)" || all.Dirs[0].ErrorCode != 0 || len(all.Dirs[0].Topics) < 2 {
		t.Fatalf("got %+v", all)
	}
	req.Topics = []kmsg.DescribeLogDirsRequestTopic{{Topic: topic, Partitions: []int32{1, 7}}, {Topic: topic + "-none", Partitions: []int32{0}}}
	got := ask[*kmsg.DescribeLogDirsResponse](w, v, req).Dirs[0]
	if len(got.Topics) != 1 || got.Topics[0].Topic != topic || len(got.Topics[0].Partitions) != 1 {
		t.Fatalf("got %+v", got)
	}
	if p := got.Topics[0].Partitions[0]; p.Partition != 1 || p.Size != int64(len(batchOf(partitionlog.None, 1, "x"))) || p.OffsetLag != 0 || p.IsFuture {
		t.Errorf("got %+v", p)
	}
	if v >= 4 && (got.TotalBytes != -1 || got.UsableBytes != -1) {
		t.Errorf("got %+v", got)
	}
}

func testElectLeaders(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	req := kmsg.NewPtrElectLeadersRequest()
	req.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: topic, Partitions: []int32{0, 7}}, {Topic: topic + "-none", Partitions: []int32{0}}}
	got := ask[*kmsg.ElectLeadersResponse](w, v, req)
	if got.ErrorCode != 0 || len(got.Topics) != 2 || got.Topics[0].Partitions[0].ErrorCode != 84 || got.Topics[0].Partitions[1].ErrorCode != 3 ||
		got.Topics[1].Partitions[0].ErrorCode != 3 {
		t.Errorf("got %+v", got)
	}
	req.Topics = nil
	for _, answer := range ask[*kmsg.ElectLeadersResponse](w, v, req).Topics {
		if len(answer.Partitions) != 0 {
			t.Errorf("all partitions: got %+v", answer)
		}
	}
	if req.ElectionType = 7; v >= 1 {
		if got := ask[*kmsg.ElectLeadersResponse](w, v, req); got.ErrorCode != 42 {
			t.Errorf("got %+v", got)
		}
	}
}

func testDescribeClientQuotas(t *testing.T, b *brokertest.Broker, v int16) {
	got := ask[*kmsg.DescribeClientQuotasResponse](dial(t, b), v, kmsg.NewPtrDescribeClientQuotasRequest())
	if got.ErrorCode != 0 || got.Entries == nil || len(got.Entries) != 0 {
		t.Errorf("got %+v", got)
	}
}

func testDescribeUserSCRAMCredentials(t *testing.T, b *brokertest.Broker, v int16) {
	w := dial(t, b)
	describe := func(names ...string) map[string]int16 {
		req := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
		for _, name := range names {
			req.Users = append(req.Users, kmsg.DescribeUserSCRAMCredentialsRequestUser{Name: name})
		}
		got := ask[*kmsg.DescribeUserSCRAMCredentialsResponse](w, v, req)
		if got.ErrorCode != 0 || got.ErrorMessage == nil || *got.ErrorMessage != "" {
			t.Errorf("%v: got %+v", names, got)
		}
		codes := map[string]int16{}
		for _, r := range got.Results {
			if _, twice := codes[r.User]; twice || r.ErrorMessage == nil || !strings.HasSuffix(*r.ErrorMessage, ": "+r.User) || len(r.CredentialInfos) != 0 {
				t.Errorf("%v: got %+v", names, r)
			}
			codes[r.User] = r.ErrorCode
		}
		return codes
	}
	for _, c := range []struct {
		names []string
		want  map[string]int16
	}{
		{nil, map[string]int16{}},
		{[]string{"alice"}, map[string]int16{"alice": 91}},
		{[]string{"alice", "bob", "alice", "alice"}, map[string]int16{"alice": 92, "bob": 91}},
	} {
		if got := describe(c.names...); !maps.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.names, got, c.want)
		}
	}
}

func testListConfigResources(t *testing.T, b *brokertest.Broker, v int16) {
	w, name := dial(t, b), unique(t)
	makeTopic(w, name, 1)
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, name
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Value = "consumer.session.timeout.ms", kmsg.StringPtr("50000")
	r.Configs = append(r.Configs, c)
	alter.Resources = append(alter.Resources, r)
	if got := ask[*kmsg.IncrementalAlterConfigsResponse](w, 1, alter).Resources[0]; got.ErrorCode != 0 {
		t.Fatalf("got %+v", got)
	}
	list := func(types ...int8) *kmsg.ListConfigResourcesResponse {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = types
		return ask[*kmsg.ListConfigResourcesResponse](w, v, req)
	}
	// A word for each resource that is of this test, or a broker's.
	text := func(resp *kmsg.ListConfigResourcesResponse) string {
		var words []string
		for _, r := range resp.ConfigResources {
			if r.Name == name || r.Name == "1" {
				words = append(words, fmt.Sprint(r.Type))
			}
		}
		return strings.Join(words, " ")
	}
	if v == 0 { // client metrics
		if got := list(); got.ErrorCode != 0 || len(got.ConfigResources) != 0 {
			t.Errorf("got %+v", got)
		}
		return
	}
	for _, c := range []struct {
		types []int8
		want  string
	}{
		{nil, "32 8 4 2"}, {[]int8{2}, "2"}, {[]int8{4, 8, 4}, "8 4"}, {[]int8{16}, ""}, {[]int8{32}, "32"},
	} {
		if got := list(c.types...); got.ErrorCode != 0 || text(got) != c.want {
			t.Errorf("%v: got %+v, want %q", c.types, got, c.want)
		}
	}
	for _, types := range [][]int8{{0}, {4, 77}} {
		if got := list(types...); got.ErrorCode != 35 || len(got.ConfigResources) != 0 {
			t.Errorf("%v: got %+v", types, got)
		}
	}
}

func testDescribeProducers(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	makeTopic(w, topic, 1)
	batch := partitionlog.NewBuilder(partitionlog.None)
	batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence = 4711, 3, 0
	batch.Add(0, 1, nil, []byte("x"), nil)
	batch.Add(1, 1, nil, []byte("y"), nil)
	if p := produce(w, 9, topic, 0, batch.Bytes(0)); p.ErrorCode != 0 {
		t.Fatalf("got %+v", p)
	}
	req := kmsg.NewPtrDescribeProducersRequest()
	req.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: topic, Partitions: []int32{0, 7}}, {Topic: "not a name", Partitions: []int32{0}}}
	got := ask[*kmsg.DescribeProducersResponse](w, v, req).Topics
	if len(got) != 2 || got[0].Partitions[1].ErrorCode != 3 || got[1].Partitions[0].ErrorCode != 17 || len(got[0].Partitions[0].ActiveProducers) != 1 {
		t.Fatalf("got %+v", got)
	}
	p := got[0].Partitions[0].ActiveProducers[0]
	if p.ProducerID != 4711 || p.ProducerEpoch != 3 || p.LastSequence != 1 || p.LastTimestamp <= 0 || p.CoordinatorEpoch != -1 || p.CurrentTxnStartOffset != -1 {
		t.Errorf("got %+v", p)
	}
}

func testDescribeTopicPartitions(t *testing.T, b *brokertest.Broker, v int16) {
	w, topic := dial(t, b), unique(t)
	first, second, none := topic+"-a", topic+"-b", topic+"-c"
	id := makeTopic(w, first, 3)
	makeTopic(w, second, 2)
	type cursor = kmsg.DescribeTopicPartitionsRequestCursor
	describe := func(limit int32, from *cursor, names ...string) *kmsg.DescribeTopicPartitionsResponse {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit, req.Cursor = limit, from
		for _, name := range names {
			req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		}
		return ask[*kmsg.DescribeTopicPartitionsResponse](w, v, req)
	}
	got := describe(2000, nil, second, none, first)
	if len(got.Topics) != 3 || *got.Topics[0].Topic != first || *got.Topics[1].Topic != second || *got.Topics[2].Topic != none || got.NextCursor != nil {
		t.Fatalf("got %+v", got)
	}
	if a := got.Topics[0]; a.ErrorCode != 0 || a.TopicID != id || len(a.Partitions) != 3 || a.Partitions[2].Partition != 2 || len(a.Partitions[0].ISR) != 1 {
		t.Errorf("got %+v", a)
	}
	if got.Topics[2].ErrorCode != 3 {
		t.Errorf("got %+v", got.Topics[2])
	}
	page := describe(2, nil, first, second)
	if len(page.Topics) != 1 || len(page.Topics[0].Partitions) != 2 || page.NextCursor == nil || page.NextCursor.Topic != first || page.NextCursor.Partition != 2 {
		t.Fatalf("got %+v", page)
	}
	page = describe(1, &cursor{Topic: first, Partition: 2}, first, second)
	if len(page.Topics) != 1 || page.Topics[0].Partitions[0].Partition != 2 || page.NextCursor == nil || page.NextCursor.Topic != second || page.NextCursor.Partition != 0 {
		t.Errorf("got %+v", page)
	}
	page = describe(9, &cursor{Topic: second}, first, second)
	if len(page.Topics) != 1 || *page.Topics[0].Topic != second || len(page.Topics[0].Partitions) != 2 || page.NextCursor != nil {
		t.Errorf("got %+v", page)
	}
	for _, bad := range []*kmsg.DescribeTopicPartitionsResponse{
		describe(9, &cursor{Topic: none}, first), describe(9, &cursor{Topic: first, Partition: -1}, first),
	} {
		if len(bad.Topics) != 1 || bad.Topics[0].ErrorCode != 42 {
			t.Errorf("got %+v", bad)
		}
	}
	all := describe(2000, &cursor{Topic: first})
	for _, answer := range all.Topics {
		if answer.ErrorCode != 0 || *answer.Topic < first {
			t.Errorf("all topics: got %+v", answer)
		}
	}
}
