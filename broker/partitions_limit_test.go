package broker_test

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// One CreateTopics makes at most 10,000 partitions, counted over the whole request; one more, and each topic is refused.
func TestCreateTopicsOfTooManyPartitions(t *testing.T) {
	w := dial(t, start(t))
	create := func(topics ...kmsg.CreateTopicsRequestTopic) []int16 {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly, req.Topics = 1000, true, topics
		var codes []int16
		for _, answer := range ask[*kmsg.CreateTopicsResponse](w, 7, req).Topics {
			codes = append(codes, answer.ErrorCode)
			if answer.ErrorCode == 44 && *answer.ErrorMessage != "Excessively large number of partitions per request." {
				t.Errorf("got %q", *answer.ErrorMessage)
			}
		}
		return codes
	}
	of := func(name string, partitions int32, assigned ...int32) kmsg.CreateTopicsRequestTopic {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, -1
		for _, p := range assigned {
			topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: p, Replicas: []int32{1}})
		}
		return topic
	}
	for _, c := range []struct {
		topics []kmsg.CreateTopicsRequestTopic
		want   []int16
	}{
		{[]kmsg.CreateTopicsRequestTopic{of("a", 10000)}, []int16{0}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 10001)}, []int16{44}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 9999), of("b", -1)}, []int16{0, 0}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 9999), of("b", -1), of("not a name", 1)}, []int16{44, 44, 44}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 9999), of("b", -1, 0, 1)}, []int16{44, 44}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 10000), of("b", -5)}, []int16{0, 37}},
		// A name that is given twice is not counted, and answered after the others.
		{[]kmsg.CreateTopicsRequestTopic{of("a", 9000), of("a", 9000), of("b", 1000)}, []int16{0, 42}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 9000), of("a", 9000), of("b", 10001)}, []int16{44, 44, 44}},
		{[]kmsg.CreateTopicsRequestTopic{of("a", 1<<31-1), of("b", 1<<31-1)}, []int16{44, 44}},
	} {
		if got := create(c.topics...); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.topics, got, c.want)
		}
	}
}

// One CreatePartitions adds at most 10,000 partitions, counted over the topics that exist and grow.
func TestCreatePartitionsOfTooManyPartitions(t *testing.T) {
	w := dial(t, start(t))
	makeTopic(w, "a", 3)
	makeTopic(w, "b", 1)
	type counts = map[string]int32
	for _, c := range []struct{ counts, want counts }{
		{counts{"a": 10003}, counts{"a": 0}},
		{counts{"a": 10004}, counts{"a": 44}},
		{counts{"a": 1<<31 - 1}, counts{"a": 44}},
		{counts{"a": 5003, "b": 5001}, counts{"a": 0, "b": 0}},
		{counts{"a": 5003, "b": 5002}, counts{"a": 44, "b": 44}},
		{counts{"a": 10004, "b": 1, "c": 3}, counts{"a": 44, "b": 44, "c": 44}},
		{counts{"a": 4, "c": 20000}, counts{"a": 0, "c": 3}},
		{counts{"a": 1, "b": 10001}, counts{"a": 37, "b": 0}},
	} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.TimeoutMillis, req.ValidateOnly = 1000, true
		for name, count := range c.counts {
			topic := kmsg.NewCreatePartitionsRequestTopic()
			topic.Topic, topic.Count = name, count
			req.Topics = append(req.Topics, topic)
		}
		for _, answer := range ask[*kmsg.CreatePartitionsResponse](w, 3, req).Topics {
			if int32(answer.ErrorCode) != c.want[answer.Topic] {
				t.Errorf("%v: got %+v, want %v", c.counts, answer, c.want)
			}
			if answer.ErrorCode == 44 && *answer.ErrorMessage != "Excessively large number of additional partitions per request." {
				t.Errorf("got %q", *answer.ErrorMessage)
			}
		}
	}
}
