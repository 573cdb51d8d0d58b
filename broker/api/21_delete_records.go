package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/offsetslog"
)

// DeleteRecords, key 21 (KIP-107).
//
//   - v1: the client throttles itself
//   - v2: flexible
//
// Offset -1 is the high watermark. The answer carries the new log start offset. A topic that is only compacted keeps
// its records (POLICY_VIOLATION), and the internal topic is closed to clients (INVALID_TOPIC_EXCEPTION).
//
// Source: ReplicaManager.deleteRecords, UnifiedLog.maybeIncrementLogStartOffset.

func (s *Server) deleteRecords(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DeleteRecordsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteRecordsResponse)
	for _, t := range req.Topics {
		out := kmsg.NewDeleteRecordsResponseTopic()
		out.Topic = t.Topic
		for _, in := range t.Partitions {
			p := kmsg.NewDeleteRecordsResponseTopicPartition()
			p.Partition = in.Partition
			low, err := s.deleteBefore(t.Topic, in.Partition, in.Offset)
			p.LowWatermark, p.ErrorCode = low, errorCode(err)
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp, nil
}

func (s *Server) deleteBefore(topic string, index int32, before int64) (lowWatermark int64, err error) {
	if topic == offsetslog.Topic {
		return -1, kerr.InvalidTopicException
	}
	t, missing := s.Topics.Lookup(false, topic, [16]byte{})
	if missing != nil {
		return -1, missing
	}
	if index < 0 || int(index) >= len(t.Partitions) {
		return -1, kerr.UnknownTopicOrPartition
	}
	if t.Config.Compact && !t.Config.Delete {
		return -1, kerr.PolicyViolation
	}
	low, err := s.Store.DeleteRecords(t.Partitions[index], before)
	if err != nil {
		return -1, err
	}
	return low, nil
}
