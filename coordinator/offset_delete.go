package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetDelete forgets single offsets of a group, except for topics that its members still read.
//
// Source: KIP-496; spec 3.3; Kafka OffsetMetadataManager.deleteOffsets.
func (c *Core) offsetDelete(r *Request, req *kmsg.OffsetDeleteRequest) {
	resp := &kmsg.OffsetDeleteResponse{Version: req.Version, Topics: []kmsg.OffsetDeleteResponseTopic{}}
	g, e := c.validateOffsetDelete(req.Group)
	if e != nil {
		resp.ErrorCode = e.Code
		c.reply(r.Token, resp)
		return
	}
	deleted := 0
	for i := range req.Topics {
		asked := &req.Topics[i]
		answer := kmsg.OffsetDeleteResponseTopic{
			Topic:      asked.Topic,
			Partitions: make([]kmsg.OffsetDeleteResponseTopicPartition, len(asked.Partitions)),
		}
		subscribed := g.subscribedTo(asked.Topic)
		for j, p := range asked.Partitions {
			answer.Partitions[j].Partition = p.Partition
			switch {
			case subscribed:
				answer.Partitions[j].ErrorCode = kerr.GroupSubscribedToTopic.Code
			case g.committed(asked.Topic, p.Partition) != nil:
				c.emitOffsetTombstone(g, asked.Topic, p.Partition)
				deleted++
			}
		}
		resp.Topics = append(resp.Topics, answer)
	}
	if deleted > 0 {
		c.note(g, NoteOffsetsDeleted, plural(deleted, "offset")+" deleted on request")
	}
	c.reply(r.Token, resp)
}

// validateOffsetDelete finds a group whose offsets may be deleted one by one: an empty one, or one of consumers, whose
// subscriptions we understand.
func (c *Core) validateOffsetDelete(id string) (*group, *kerr.Error) {
	if id == "" {
		return nil, kerr.InvalidGroupID
	}
	g := c.find(id)
	if g == nil {
		return nil, kerr.GroupIDNotFound
	}
	if g.state != Empty && !g.usesConsumerProtocol() {
		return nil, kerr.NonEmptyGroup
	}
	return g, nil
}

// emitOffsetTombstone deletes one offset.
func (c *Core) emitOffsetTombstone(g *group, topic string, partition int32) {
	rec := c.newOffsetRecord()
	rec.Group, rec.Topic, rec.Partition, rec.Tombstone = g.id, topic, partition, true
	c.emit(rec)
}

// deleteTopic deletes all offsets of one topic, last first, which spares moving the rest down. It says how many there were.
func (c *Core) deleteTopic(g *group, t *topicOffsets) int {
	n := len(t.partitions)
	for i := n - 1; i >= 0; i-- {
		c.emitOffsetTombstone(g, t.topic, t.partitions[i].partition)
	}
	return n
}

// topicsDeleted forgets what all groups have committed for topics that no longer exist, so that a later topic of the same
// name starts without offsets.
//
// Source: spec 3.9; Kafka OffsetMetadataManager.onPartitionsDeleted.
func (c *Core) topicsDeleted(ev *TopicsDeleted) {
	for _, g := range c.order {
		for _, name := range ev.Topics {
			t := g.topic(name)
			if t == nil {
				continue
			}
			if c.config.Check {
				c.touched = append(c.touched, g)
			}
			n := c.deleteTopic(g, t)
			c.note(g, NoteOffsetsDeleted, plural(n, "offset")+" deleted with topic "+quote(name))
		}
	}
	for _, name := range ev.Topics {
		delete(c.topics, name)
	}
	c.reply(ev.Token, nil)
}
