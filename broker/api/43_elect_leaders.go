package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The kinds of elections.
// Source: ElectionType.java
const (
	electPreferred = 0
	electUnclean   = 1
)

// ElectLeaders (key 43), versions 0 to 2.
//
//	v0  the first (KIP-183): preferred leaders
//	v1  unclean elections (KIP-460)
//	v2  flexible
//
// Every partition has its only replica as its leader, so no election is ever needed: an answer about named partitions
// says so of each, and one about all partitions has none, for Kafka leaves out those that need no election.
// Source: ReplicationControlManager.electLeaders
func (s *Server) electLeaders(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ElectLeadersRequest)
	resp := req.ResponseKind().(*kmsg.ElectLeadersResponse)
	resp.Default()
	if req.ElectionType != electPreferred && req.ElectionType != electUnclean {
		resp.ErrorCode = kerr.InvalidRequest.Code
		return resp, nil
	}
	if req.Topics == nil {
		for _, t := range s.Store.Topics() {
			if !t.Deleting {
				resp.Topics = append(resp.Topics, kmsg.ElectLeadersResponseTopic{Topic: t.Name})
			}
		}
		return resp, nil
	}
	for i := range req.Topics {
		asked := &req.Topics[i]
		answer := kmsg.NewElectLeadersResponseTopic()
		answer.Topic = asked.Topic
		for _, index := range asked.Partitions {
			bad := s.elect(asked.Topic, index)
			partition := kmsg.NewElectLeadersResponseTopicPartition()
			partition.Partition, partition.ErrorCode, partition.ErrorMessage = index, bad.code, bad.text()
			answer.Partitions = append(answer.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// elect returns why there is no election.
func (s *Server) elect(topic string, index int32) *refusal {
	t := s.topic(topic)
	switch {
	case t == nil:
		return refuse(kerr.UnknownTopicOrPartition, "No such topic as %s", topic)
	case index < 0 || int(index) >= len(t.Partitions):
		return refuse(kerr.UnknownTopicOrPartition, "No such partition as %s-%d", topic, index)
	}
	return refuse(kerr.ElectionNotNeeded, "Leader election not needed for topic partition.")
}
