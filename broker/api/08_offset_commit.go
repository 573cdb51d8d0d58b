package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetCommit, key 8.
//
//   - v1: generation and member id (v0 wrote to ZooKeeper and is gone; Kafka 4 dropped v1 too, kaf still sends it)
//   - v2: retention time instead of a timestamp for each partition
//   - v3: throttle time
//   - v4: the client throttles itself
//   - v5: no retention time (KIP-211)
//   - v6: leader epoch (KIP-320)
//   - v7: group instance id (KIP-345)
//   - v8: flexible
//   - v9: member epochs of KIP-848, GROUP_ID_NOT_FOUND
//   - v10: topic ids (KIP-848)
//
// Here: topic ids, unknown topics and partitions. The rest is decided by coordinator/offset_commit.go, which is not
// asked when nothing is left to commit.

func (s *Server) offsetCommit(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.OffsetCommitRequest)
	if tooLong(req.Group, req.MemberID, value(req.InstanceID)) {
		return nil, errTooLong
	}
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	resp.Topics = make([]kmsg.OffsetCommitResponseTopic, len(req.Topics))
	known := *req
	known.Topics = make([]kmsg.OffsetCommitRequestTopic, 0, len(req.Topics))
	refused := make([]bool, len(req.Topics))
	for i := range req.Topics {
		left, any := s.committable(req.Version, &req.Topics[i], &resp.Topics[i])
		if any {
			known.Topics = append(known.Topics, left)
		}
		refused[i] = len(left.Partitions) < len(req.Topics[i].Partitions) || !any
	}
	defer func() { resp.Topics = refusedFirst(resp.Topics, func(i int) bool { return refused[i] }) }()
	if len(known.Topics) == 0 && len(req.Topics) > 0 {
		return resp, nil
	}
	got, err := s.Groups.Do(req.Group, c.Client, &known)
	if err != nil {
		fillCommitted(resp, func() int16 { return errorCode(err) })
		return resp, nil
	}
	answers := got.(*kmsg.OffsetCommitResponse).Topics
	t, p := 0, 0
	fillCommitted(resp, func() int16 {
		for p == len(answers[t].Partitions) {
			t, p = t+1, 0
		}
		p++
		return answers[t].Partitions[p-1].ErrorCode
	})
	return resp, nil
}

// undecided marks a partition whose answer is the coordinator's. It is no Kafka error code.
const undecided = int16(-1 << 15)

// fillCommitted asks next, in the order of the request, for each partition that went to the coordinator.
func fillCommitted(resp *kmsg.OffsetCommitResponse, next func() int16) {
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			if p := &resp.Topics[i].Partitions[j]; p.ErrorCode == undecided {
				p.ErrorCode = next()
			}
		}
	}
}

// committable returns what of a topic may go to the coordinator, under the topic's name, and answers the rest.
func (s *Server) committable(version int16, in *kmsg.OffsetCommitRequestTopic, out *kmsg.OffsetCommitResponseTopic) (left kmsg.OffsetCommitRequestTopic, any bool) {
	out.Topic, out.TopicID = in.Topic, in.TopicID
	out.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(in.Partitions))
	topic, missing := s.Topics.Lookup(version >= 10, in.Topic, in.TopicID)
	left = *in
	whole := topic != nil
	for j := range in.Partitions {
		p := in.Partitions[j].Partition
		out.Partitions[j].Partition = p
		switch {
		case topic == nil:
			out.Partitions[j].ErrorCode = missing.Code
		case p < 0 || int(p) >= len(topic.Partitions):
			out.Partitions[j].ErrorCode = kerr.UnknownTopicOrPartition.Code
			whole = false
		default:
			out.Partitions[j].ErrorCode = undecided
			any = true
		}
	}
	if !any {
		return left, false
	}
	left.Topic = topic.Name
	if whole {
		return left, true
	}
	left.Partitions = make([]kmsg.OffsetCommitRequestTopicPartition, 0, len(in.Partitions))
	for j := range in.Partitions {
		if out.Partitions[j].ErrorCode == undecided {
			left.Partitions = append(left.Partitions, in.Partitions[j])
		}
	}
	unordered := out.Partitions
	out.Partitions = refusedFirst(unordered, func(j int) bool { return unordered[j].ErrorCode != undecided })
	return left, true
}
