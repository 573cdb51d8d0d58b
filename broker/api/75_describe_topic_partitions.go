package api

import (
	"context"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// partitionLimit is the most partitions in one answer of DescribeTopicPartitions.
// Source: max.request.partition.size.limit, ServerConfigs
const partitionLimit = 2000

// DescribeTopicPartitions (key 75), version 0 (KIP-966).
//
// Metadata in pages: topics in the order of their names, so many partitions an answer, and a cursor where the next one
// begins. A request that names no topics means all. Topics that do not exist are errors only where they are named.
// Source: DescribeTopicPartitionsRequestHandler, KRaftMetadataCache.describeTopicResponse
func (s *Server) describeTopicPartitions(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeTopicPartitionsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	resp.Default()
	names, valid := s.pageOf(req)
	if !valid {
		for _, asked := range req.Topics {
			answer := kmsg.NewDescribeTopicPartitionsResponseTopic()
			answer.ErrorCode, answer.Topic = kerr.InvalidRequest.Code, &asked.Topic
			resp.Topics = append(resp.Topics, answer)
		}
		return resp, nil
	}
	left := max(min(partitionLimit, int(req.ResponsePartitionLimit)), 1)
	for _, name := range names {
		if left == 0 {
			resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name}
			break
		}
		from := 0
		if req.Cursor != nil && req.Cursor.Topic == name {
			from = int(req.Cursor.Partition)
		}
		t := s.topic(name)
		if t == nil {
			if len(req.Topics) > 0 {
				resp.Topics = append(resp.Topics, absentTopic(name))
			}
			continue
		}
		from = min(from, len(t.Partitions))
		to := min(len(t.Partitions), from+left)
		resp.Topics = append(resp.Topics, s.describedTopic(t, from, to))
		if left -= to - from; to < len(t.Partitions) {
			resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name, Partition: int32(to)}
			break
		}
	}
	return resp, nil
}

// pageOf returns the topics to describe, in order, from the cursor on; false where the cursor makes no sense.
func (s *Server) pageOf(req *kmsg.DescribeTopicPartitionsRequest) (names []string, valid bool) {
	for _, asked := range req.Topics {
		names = append(names, asked.Topic)
	}
	if len(req.Topics) == 0 {
		for _, t := range s.Store.Topics() {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if req.Cursor == nil {
		return names, true
	}
	if req.Cursor.Partition < 0 || (len(req.Topics) > 0 && !slices.Contains(names, req.Cursor.Topic)) {
		return nil, false
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Compare(name, req.Cursor.Topic) < 0 }), true
}

// absentTopic is the answer for a name under which there is nothing.
func absentTopic(name string) kmsg.DescribeTopicPartitionsResponseTopic {
	answer := kmsg.NewDescribeTopicPartitionsResponseTopic()
	answer.Topic, answer.IsInternal, answer.AuthorizedOperations = &name, internal(name), topicOperations
	answer.ErrorCode = kerr.UnknownTopicOrPartition.Code
	if bad := checkName(name); bad != nil {
		answer.ErrorCode = bad.code
	}
	return answer
}

// describedTopic is the answer for some of a topic's partitions.
func (s *Server) describedTopic(t *partitionlog.Topic, from, to int) kmsg.DescribeTopicPartitionsResponseTopic {
	answer := kmsg.NewDescribeTopicPartitionsResponseTopic()
	answer.Topic, answer.TopicID, answer.IsInternal, answer.AuthorizedOperations = &t.Name, t.ID, t.Internal, topicOperations
	for _, p := range t.Partitions[from:to] {
		partition := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		partition.Partition, partition.LeaderID, partition.LeaderEpoch = p.Index(), s.NodeID, s.Store.LeaderEpoch()
		partition.Replicas, partition.ISR = []int32{s.NodeID}, []int32{s.NodeID}
		partition.EligibleLeaderReplicas, partition.LastKnownELR = []int32{}, []int32{}
		answer.Partitions = append(answer.Partitions, partition)
	}
	return answer
}
