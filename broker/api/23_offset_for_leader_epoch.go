package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetForLeaderEpoch, key 23 (KIP-101).
//
//   - v1: leader epoch in the answer
//   - v2: current leader epoch (KIP-320), throttle time
//   - v3: replica id
//   - v4: flexible
//
// Kafka 4 serves it from v2; older forms cost nothing.

func (s *Server) offsetForLeaderEpoch(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.OffsetForLeaderEpochRequest)
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	for _, t := range req.Topics {
		out := kmsg.NewOffsetForLeaderEpochResponseTopic()
		out.Topic = t.Topic
		for _, in := range t.Partitions {
			p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			p.Partition, p.LeaderEpoch, p.EndOffset = in.Partition, -1, -1
			partition, code := s.Topics.Partition(false, t.Topic, [16]byte{}, in.Partition)
			if code == nil {
				code = s.Topics.CheckEpoch(in.CurrentLeaderEpoch)
			}
			if code != nil {
				p.ErrorCode = code.Code
			} else {
				p.LeaderEpoch, p.EndOffset = partition.EndOffsetForEpoch(in.LeaderEpoch)
			}
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp, nil
}
