package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// DeleteTopics (key 20), versions 0 to 6.
//
//	v0  the first
//	v1  throttle time
//	v3  TOPIC_DELETION_DISABLED when delete.topic.enable is false; before it INVALID_REQUEST
//	v4  flexible
//	v5  error messages (KIP-599)
//	v6  topics by name or by id (KIP-516)
//
// A deletion has three durable steps: the topic is hidden and its name reserved; every group drops its committed offsets
// of it; the topic is gone and the name free. It is answered after the last; a crash in between is finished at the next
// start.
//
// Deviation: Kafka deletes internal topics too, and with them every committed offset; here it is refused.
func (s *Server) deleteTopics(ctx context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DeleteTopicsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	resp.Default()
	targets := deletionTargets(req)
	s.admin.Lock()
	defer s.admin.Unlock()
	if !s.Settings.DeleteTopicEnable {
		code := kerr.TopicDeletionDisabled
		if req.Version < 3 {
			code = kerr.InvalidRequest
		}
		for i := range targets {
			targets[i].bad = refuse(code, "Topic deletion is disabled: delete.topic.enable is false.")
		}
	}
	s.resolve(targets)
	s.deleteResolved(ctx, targets)
	for i := range targets {
		d := &targets[i]
		answer := kmsg.NewDeleteTopicsResponseTopic()
		answer.Topic, answer.TopicID = d.name, d.id
		if d.bad != nil {
			answer.ErrorCode, answer.ErrorMessage = d.bad.code, d.bad.text()
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// deletion is one topic of a request.
type deletion struct {
	name  *string
	id    [16]byte
	topic *partitionlog.Topic
	bad   *refusal
}

// deletionTargets returns the topics of a request, duplicates only once and with their refusal.
// Source: ControllerApis.deleteTopics
func deletionTargets(req *kmsg.DeleteTopicsRequest) []deletion {
	topics := req.Topics
	if req.Version < 6 {
		topics = nil
		for i := range req.TopicNames {
			topics = append(topics, kmsg.DeleteTopicsRequestTopic{Topic: &req.TopicNames[i]})
		}
	}
	targets := make([]deletion, 0, len(topics))
	names, ids := map[string]int{}, map[[16]byte]int{}
	for _, asked := range topics {
		d := deletion{name: asked.Topic, id: asked.TopicID}
		switch {
		case asked.Topic == nil && asked.TopicID == [16]byte{}:
			d.bad = refuse(kerr.InvalidRequest, "Neither topic name nor id were specified.")
		case asked.Topic != nil && asked.TopicID != [16]byte{}:
			d.bad = refuse(kerr.InvalidRequest, "You may not specify both topic name and topic id.")
		case asked.Topic != nil:
			if first, again := names[*asked.Topic]; again {
				targets[first].bad = refuse(kerr.InvalidRequest, "Duplicate topic name.")
				continue
			}
			names[*asked.Topic] = len(targets)
		default:
			if first, again := ids[asked.TopicID]; again {
				targets[first].bad = refuse(kerr.InvalidRequest, "Duplicate topic id.")
				continue
			}
			ids[asked.TopicID] = len(targets)
		}
		targets = append(targets, d)
	}
	return targets
}

// resolve finds the topics. One whose earlier deletion stopped half-way counts as found, so that asking again ends it.
func (s *Server) resolve(targets []deletion) {
	found := map[[16]byte]int{}
	for i := range targets {
		d := &targets[i]
		if d.bad != nil {
			continue
		}
		if d.topic = s.deletable(d); d.topic == nil {
			d.bad = refuse(kerr.UnknownTopicOrPartition, "%s", kerr.UnknownTopicOrPartition.Description)
			if d.name == nil {
				d.bad = refuse(kerr.UnknownTopicID, "%s", kerr.UnknownTopicID.Description)
			}
			continue
		}
		if d.topic.Internal {
			d.bad = refuse(kerr.InvalidTopicException, "%s is internal and cannot be deleted.", d.topic.Name)
			continue
		}
		if first, again := found[d.topic.ID]; again {
			twice := refuse(kerr.InvalidRequest, "The provided topic name maps to an ID that was already supplied.")
			targets[first].bad, d.bad = twice, twice
		}
		found[d.topic.ID] = i
		d.id, d.name = d.topic.ID, &d.topic.Name
	}
}

// deletable finds a topic by the name or id of a deletion, also one that is being deleted. Nil when there is none.
func (s *Server) deletable(d *deletion) *partitionlog.Topic {
	if d.name != nil {
		if t := s.topic(*d.name); t != nil {
			return t
		}
	} else if t := s.topicByID(d.id); t != nil {
		return t
	}
	for _, t := range s.Store.DeletingTopics() {
		if t.ID == d.id || (d.name != nil && t.Name == *d.name) {
			return t
		}
	}
	return nil
}

// deleteResolved deletes the topics without a refusal. It begins none before every group has been read from the disk,
// since a group that has not cannot drop its offsets.
func (s *Server) deleteResolved(ctx context.Context, targets []deletion) {
	if err := s.Groups.WaitLoaded(ctx); err != nil {
		for i := range targets {
			if targets[i].bad == nil {
				targets[i].bad = refuse(kerr.RequestTimedOut, "groups are still being read from the disk: %s", err)
			}
		}
	}
	var hidden []*deletion
	var names []string
	for i := range targets {
		d := &targets[i]
		if d.bad != nil {
			continue
		}
		if !d.topic.Deleting {
			d.bad = refusalOf(s.Store.BeginDeleteTopic(d.topic.ID))
		}
		if d.bad == nil {
			hidden, names = append(hidden, d), append(names, d.topic.Name)
		}
	}
	if len(hidden) == 0 {
		return
	}
	err := s.Groups.TopicsDeleted(names)
	for _, d := range hidden {
		if err == nil {
			d.bad = refusalOf(s.Store.FinishDeleteTopic(d.topic.ID))
		} else {
			d.bad = refusalOf(err)
		}
		if d.bad != nil {
			s.Log.Warn().Str("topic", d.topic.Name).Str("reason", d.bad.message).
				Msg("topic deletion stopped half-way; it goes on when it is asked for again or at the next start")
			continue
		}
		s.Log.Info().Str("topic", d.topic.Name).Msg("topic deleted")
	}
}
