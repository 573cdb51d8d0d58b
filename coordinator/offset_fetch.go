package coordinator

import "github.com/twmb/franz-go/pkg/kmsg"

// noMetadata is what is answered without a commit: never null, which clients do not expect.
const noMetadata = ""

// offsetFetch answers with committed offsets. It fails for nobody: an unknown group, topic or partition has no offset,
// and a client that is told so starts where its configuration says.
//
// The caller has made the one-group form of the newer versions, and splits requests for several groups.
//
// Source: spec 3.2; Kafka OffsetMetadataManager.fetchOffsets, fetchAllOffsets.
func (c *Core) offsetFetch(r *Request, req *kmsg.OffsetFetchRequest) {
	resp := &kmsg.OffsetFetchResponse{
		Version: req.Version,
		Topics:  []kmsg.OffsetFetchResponseTopic{},
		Groups:  make([]kmsg.OffsetFetchResponseGroup, len(req.Groups)),
	}
	for i := range req.Groups {
		asked := &req.Groups[i]
		answer := &resp.Groups[i]
		answer.Group = asked.Group
		g := c.find(asked.Group)
		if asked.Topics == nil {
			answer.Topics = fetchAll(g)
			continue
		}
		answer.Topics = make([]kmsg.OffsetFetchResponseGroupTopic, len(asked.Topics))
		for j := range asked.Topics {
			answer.Topics[j] = fetchTopic(g, &asked.Topics[j])
		}
	}
	c.reply(r.Token, resp)
}

// fetchTopic answers each requested partition, in order, once for each time it is named.
func fetchTopic(g *group, asked *kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroupTopic {
	answer := kmsg.OffsetFetchResponseGroupTopic{
		Topic:      asked.Topic,
		TopicID:    asked.TopicID,
		Partitions: make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(asked.Partitions)),
	}
	var t *topicOffsets
	if g != nil {
		t = g.topic(asked.Topic)
	}
	for i, partition := range asked.Partitions {
		answer.Partitions[i] = fetched(partition, t.get(partition))
	}
	return answer
}

// fetchAll answers every committed offset of the group, by topic and partition.
func fetchAll(g *group) []kmsg.OffsetFetchResponseGroupTopic {
	answer := []kmsg.OffsetFetchResponseGroupTopic{}
	if g == nil {
		return answer
	}
	for _, t := range g.offsets {
		topic := kmsg.OffsetFetchResponseGroupTopic{
			Topic:      t.topic,
			Partitions: make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(t.partitions)),
		}
		for i := range t.partitions {
			topic.Partitions[i] = fetched(t.partitions[i].partition, &t.partitions[i])
		}
		answer = append(answer, topic)
	}
	return answer
}

// fetched is the answer for one partition.
func fetched(partition int32, o *committed) kmsg.OffsetFetchResponseGroupTopicPartition {
	metadata := noMetadata
	if o == nil {
		return kmsg.OffsetFetchResponseGroupTopicPartition{Partition: partition, Offset: -1, LeaderEpoch: -1, Metadata: &metadata}
	}
	metadata = o.metadata
	return kmsg.OffsetFetchResponseGroupTopicPartition{
		Partition:   partition,
		Offset:      o.offset,
		LeaderEpoch: o.leaderEpoch,
		Metadata:    &metadata,
	}
}
