package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetFetch, key 9.
//
//   - v1: offsets from Kafka (v0 read ZooKeeper)
//   - v2: null topics = all; an error of the whole
//   - v3: throttle time
//   - v4: the client throttles itself
//   - v5: leader epoch (KIP-320)
//   - v6: flexible
//   - v7: require stable (KIP-447)
//   - v8: several groups (KIP-709)
//   - v9: member id and epoch of KIP-848
//   - v10: topic ids (KIP-848)
//
// Here: the forms of the request and topic ids. The rest is decided by coordinator/offset_fetch.go, which is asked for
// one group at a time. Topics and partitions need not exist: what nobody committed has no offset.

func (s *Server) offsetFetch(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.OffsetFetchRequest)
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if req.Version >= 8 {
		for i := range req.Groups {
			if tooLong(req.Groups[i].Group, value(req.Groups[i].MemberID)) {
				return nil, errTooLong
			}
			resp.Groups = append(resp.Groups, s.fetchGroup(c, req, &req.Groups[i]))
		}
		return resp, nil
	}
	if tooLong(req.Group) {
		return nil, errTooLong
	}
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = req.Group
	if req.Topics != nil || req.Version < 2 {
		group.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(req.Topics))
	}
	for _, t := range req.Topics {
		group.Topics = append(group.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	oldFetchResponse(req, resp, s.fetchGroup(c, req, &group))
	return resp, nil
}

// fetchGroup asks the group's shard, with topic ids resolved.
func (s *Server) fetchGroup(c *Call, req *kmsg.OffsetFetchRequest, group *kmsg.OffsetFetchRequestGroup) kmsg.OffsetFetchResponseGroup {
	one := kmsg.OffsetFetchRequest{Version: req.Version, RequireStable: req.RequireStable}
	ask := *group
	var unknown []kmsg.OffsetFetchResponseGroupTopic
	if req.Version >= 10 && group.Topics != nil {
		ask.Topics, unknown = s.fetchNames(group.Topics)
	}
	one.Groups = []kmsg.OffsetFetchRequestGroup{ask}
	got, err := s.Groups.Do(group.Group, c.Client, &one)
	if err != nil {
		failed := kmsg.NewOffsetFetchResponseGroup()
		failed.Group, failed.ErrorCode = group.Group, errorCode(err)
		return failed
	}
	answer := got.(*kmsg.OffsetFetchResponse).Groups[0]
	if req.Version >= 10 && answer.ErrorCode == 0 {
		answer.Topics = append(s.withTopicIDs(answer.Topics), unknown...)
	}
	return answer
}

// fetchNames gives each topic its name, and answers those whose id nobody knows.
func (s *Server) fetchNames(in []kmsg.OffsetFetchRequestGroupTopic) (known []kmsg.OffsetFetchRequestGroupTopic, unknown []kmsg.OffsetFetchResponseGroupTopic) {
	known = make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(in))
	for _, t := range in {
		if topic, _ := s.Topics.Lookup(true, "", t.TopicID); topic != nil {
			t.Topic = topic.Name
			known = append(known, t)
			continue
		}
		out := kmsg.NewOffsetFetchResponseGroupTopic()
		out.TopicID = t.TopicID
		for _, p := range t.Partitions {
			out.Partitions = append(out.Partitions, noOffset(p, kerr.UnknownTopicID.Code))
		}
		unknown = append(unknown, out)
	}
	return known, unknown
}

// withTopicIDs adds the ids, and leaves out topics that no longer exist: they have none.
func (s *Server) withTopicIDs(in []kmsg.OffsetFetchResponseGroupTopic) []kmsg.OffsetFetchResponseGroupTopic {
	out := in[:0]
	for _, t := range in {
		if topic, _ := s.Topics.Lookup(false, t.Topic, [16]byte{}); topic != nil {
			t.TopicID = topic.ID
			out = append(out, t)
		}
	}
	return out
}

func noOffset(partition int32, code int16) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode = partition, -1, -1, kmsg.StringPtr(""), code
	return p
}

// oldFetchResponse puts one group's answer into the form of v1 to v7: a group's error stands on every partition in v1,
// and on top from v2.
func oldFetchResponse(req *kmsg.OffsetFetchRequest, resp *kmsg.OffsetFetchResponse, g kmsg.OffsetFetchResponseGroup) {
	if g.ErrorCode != 0 {
		if req.Version >= 2 {
			resp.ErrorCode = g.ErrorCode
			return
		}
		for _, t := range req.Topics {
			out := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				out.Partitions = append(out.Partitions, noOffset(p, g.ErrorCode))
			}
			g.Topics = append(g.Topics, out)
		}
	}
	for _, t := range g.Topics {
		out := kmsg.NewOffsetFetchResponseTopic()
		out.Topic = t.Topic
		for _, p := range t.Partitions {
			out.Partitions = append(out.Partitions, kmsg.OffsetFetchResponseTopicPartition{
				Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, ErrorCode: p.ErrorCode,
			})
		}
		resp.Topics = append(resp.Topics, out)
	}
}
