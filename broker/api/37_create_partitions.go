package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions (key 37), versions 0 to 3.
//
//	v0  the first (KIP-195)
//	v1  throttling after the answer
//	v2  flexible
//	v3  THROTTLING_QUOTA_EXCEEDED (KIP-599), which this broker never answers
//
// Deviation: Kafka extends __consumer_offsets too, which moves groups away from their offsets; here it is refused.
func (s *Server) createPartitions(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.CreatePartitionsRequest)
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	resp.Default()
	s.admin.Lock()
	defer s.admin.Unlock()
	times := map[string]int{}
	for i := range req.Topics {
		times[req.Topics[i].Topic]++
	}
	excessive := s.checkAdditional(req.Topics, times)
	for i := range req.Topics {
		asked := &req.Topics[i]
		var bad *refusal
		switch n := times[asked.Topic]; {
		case excessive != nil:
			bad = excessive
		case n == 0:
			continue // a duplicate that is answered already
		case n > 1:
			times[asked.Topic] = 0
			bad = refuse(kerr.InvalidRequest, "Duplicate topic name.")
		default:
			bad = s.extend(asked, req.ValidateOnly)
		}
		answer := kmsg.NewCreatePartitionsResponseTopic()
		answer.Topic = asked.Topic
		if bad != nil {
			answer.ErrorCode, answer.ErrorMessage = bad.code, bad.text()
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// checkAdditional refuses a request as a whole when it would add too many partitions. Topics that do not exist, that
// would not grow or that are named twice add none.
// Source: ReplicationControlManager.validateTotalNumberOfPartitions
func (s *Server) checkAdditional(topics []kmsg.CreatePartitionsRequestTopic, times map[string]int) *refusal {
	var total int64
	for i := range topics {
		asked := &topics[i]
		if t := s.topic(asked.Topic); t != nil && times[asked.Topic] == 1 {
			total += max(int64(asked.Count)-int64(len(t.Partitions)), 0)
		}
	}
	if total > maxPartitionsPerRequest {
		return refuse(kerr.PolicyViolation, "Excessively large number of additional partitions per request.")
	}
	return nil
}

// extend gives a topic more partitions.
// Source: ReplicationControlManager.createPartitions
func (s *Server) extend(asked *kmsg.CreatePartitionsRequestTopic, validateOnly bool) *refusal {
	t := s.topic(asked.Topic)
	if t == nil {
		return &refusal{code: kerr.UnknownTopicOrPartition.Code} // without a sentence, as in Kafka
	}
	if t.Internal {
		return refuse(kerr.InvalidTopicException, "%s is internal and keeps its number of partitions.", t.Name)
	}
	now := int32(len(t.Partitions))
	switch {
	case asked.Count == now:
		return refuse(kerr.InvalidPartitions, "Topic already has %d partition(s).", now)
	case asked.Count < now:
		return refuse(kerr.InvalidPartitions, "The topic %s currently has %d partition(s); %d would not be an increase.",
			t.Name, now, asked.Count)
	}
	if asked.Assignment != nil && int32(len(asked.Assignment)) != asked.Count-now {
		return refuse(kerr.InvalidReplicaAssignment,
			"Attempted to add %d additional partition(s), but only %d assignment(s) were specified.",
			asked.Count-now, len(asked.Assignment))
	}
	for _, a := range asked.Assignment {
		if bad := s.checkAssignment(a.Replicas); bad != nil {
			return bad
		}
	}
	if validateOnly {
		return nil
	}
	if _, err := s.Store.CreatePartitions(t.ID, asked.Count); err != nil {
		return refusalOf(err)
	}
	s.Log.Info().Str("topic", t.Name).Int32("partitions", asked.Count).Msg("partitions created")
	return nil
}
