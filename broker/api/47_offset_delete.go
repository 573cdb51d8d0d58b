package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetDelete, key 47 (KIP-496). One version, never flexible.
//
// Unknown topics and partitions are answered here; the coordinator (offset_delete.go) is asked even when nothing is
// left, since an error of the group replaces the whole answer.

func (s *Server) offsetDelete(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.OffsetDeleteRequest)
	resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
	known := *req
	known.Topics = nil
	refused := make([]bool, len(req.Topics))
	for i, t := range req.Topics {
		out := kmsg.NewOffsetDeleteResponseTopic()
		out.Topic = t.Topic
		left := kmsg.NewOffsetDeleteRequestTopic()
		left.Topic = t.Topic
		topic, _ := s.Topics.Lookup(false, t.Topic, [16]byte{})
		for _, p := range t.Partitions {
			answer := kmsg.NewOffsetDeleteResponseTopicPartition()
			answer.Partition, answer.ErrorCode = p.Partition, undecided
			if topic == nil || p.Partition < 0 || int(p.Partition) >= len(topic.Partitions) {
				answer.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else {
				left.Partitions = append(left.Partitions, p)
			}
			out.Partitions = append(out.Partitions, answer)
		}
		unordered := out.Partitions
		out.Partitions = refusedFirst(unordered, func(j int) bool { return unordered[j].ErrorCode != undecided })
		refused[i] = len(left.Partitions) < len(t.Partitions)
		resp.Topics = append(resp.Topics, out)
		if len(left.Partitions) > 0 {
			known.Topics = append(known.Topics, left)
		}
	}
	got, err := s.Groups.Do(req.Group, c.Client, &known)
	if err != nil {
		resp.ErrorCode, resp.Topics = errorCode(err), nil
		return resp, nil
	}
	answer := got.(*kmsg.OffsetDeleteResponse)
	if answer.ErrorCode != 0 {
		resp.ErrorCode, resp.Topics = answer.ErrorCode, nil
		return resp, nil
	}
	mergeDeleted(resp, answer)
	resp.Topics = refusedFirst(resp.Topics, func(i int) bool { return refused[i] })
	return resp, nil
}

// mergeDeleted fills in the coordinator's answers, which come in the order of the request.
func mergeDeleted(resp, answer *kmsg.OffsetDeleteResponse) {
	t, p := 0, 0
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			out := &resp.Topics[i].Partitions[j]
			if out.ErrorCode != undecided {
				continue
			}
			for p == len(answer.Topics[t].Partitions) {
				t, p = t+1, 0
			}
			out.ErrorCode = answer.Topics[t].Partitions[p].ErrorCode
			p++
		}
	}
}
