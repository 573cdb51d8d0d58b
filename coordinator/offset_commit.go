package coordinator

import (
	"strconv"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetCommit stores offsets, if the sender may speak for the group. The caller has taken out the partitions that do not
// exist, and filled in names for topic ids.
//
// Source: spec 3.1; Kafka OffsetMetadataManager.commitOffset.
func (c *Core) offsetCommit(r *Request, req *kmsg.OffsetCommitRequest) {
	if len(req.Topics) == 0 {
		c.reply(r.Token, &kmsg.OffsetCommitResponse{Version: req.Version, Topics: []kmsg.OffsetCommitResponseTopic{}})
		return
	}
	g := c.find(req.Group)
	if g == nil && req.Generation < 0 {
		g = c.create(req.Group)
		c.note(g, NoteGroupCreated, "created by OffsetCommit of client "+quote(r.Client.ID))
	}
	m, e := g.validateCommit(req)
	if e != nil {
		c.refuseCommit(r, req, g, e)
		return
	}
	if m != nil && (g.state == Stable || g.state == PreparingRebalance) {
		c.armSession(m)
	}
	c.commit(r, req, g)
}

// validateCommit decides whether the sender may commit. The member is nil if it may do so without being one.
//
// A member may commit with its old generation while the others are still joining: that is its last chance before it
// loses partitions. Between the join phase and the assignment nobody may, since nobody knows who owns what.
//
// Source: Kafka ClassicGroup.validateOffsetCommit.
func (g *group) validateCommit(req *kmsg.OffsetCommitRequest) (*member, *kerr.Error) {
	switch {
	case g == nil && req.Version >= 9:
		return nil, kerr.GroupIDNotFound
	case g == nil:
		return nil, kerr.IllegalGeneration
	case req.Generation < 0 && g.state == Empty:
		return nil, nil
	case req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil:
		return nil, kerr.UnknownMemberID
	}
	m, e := g.validate(req.MemberID, req.InstanceID)
	switch {
	case e != nil:
		return nil, e
	case req.Generation != g.generation:
		return nil, kerr.IllegalGeneration
	case g.state == CompletingRebalance:
		return nil, kerr.RebalanceInProgress
	}
	return m, nil
}

// refuseCommit answers every partition with the error.
func (c *Core) refuseCommit(r *Request, req *kmsg.OffsetCommitRequest, g *group, e *kerr.Error) {
	resp := commitAnswer(req)
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			resp.Topics[i].Partitions[j].ErrorCode = e.Code
		}
	}
	c.reply(r.Token, resp)
	switch {
	case g == nil:
	case req.MemberID == "":
		c.note(g, NoteCommitFenced, "a commit without member id was refused with "+e.Message)
	default:
		c.noteMember(g, NoteCommitFenced, req.MemberID, r.Client.Host,
			"may not commit with generation "+strconv.Itoa(int(req.Generation))+": "+e.Message)
	}
}

// commit emits one record for each partition. Too long a metadata string refuses its own partition only.
func (c *Core) commit(r *Request, req *kmsg.OffsetCommitRequest, g *group) {
	resp := commitAnswer(req)
	now, expire := c.nowMs(), int64(-1)
	if req.Version <= 4 && req.RetentionTimeMillis != -1 {
		expire = now + req.RetentionTimeMillis
	}
	for i := range req.Topics {
		topic := req.Topics[i].Topic
		if t := g.topic(topic); t != nil {
			topic = t.topic // the interned copy, so that a record does not keep the request's
		}
		for j := range req.Topics[i].Partitions {
			p := &req.Topics[i].Partitions[j]
			metadata := ""
			if p.Metadata != nil {
				metadata = *p.Metadata
			}
			if c.metadataTooLong(metadata) {
				resp.Topics[i].Partitions[j].ErrorCode = kerr.OffsetMetadataTooLarge.Code
				continue
			}
			rec := c.newOffsetRecord()
			rec.Group, rec.Topic, rec.Partition = g.id, topic, p.Partition
			rec.Offset, rec.LeaderEpoch, rec.Metadata = p.Offset, p.LeaderEpoch, metadata
			if req.Version < 6 {
				rec.LeaderEpoch = -1
			}
			rec.CommitTimestamp, rec.ExpireTimestamp = now, expire
			c.emit(rec)
		}
	}
	c.reply(r.Token, resp)
}

// smallCommit is an answer for one partition in one piece of memory: most commits are that small, and this is the hottest
// path of the core.
type smallCommit struct {
	response  kmsg.OffsetCommitResponse
	topic     [1]kmsg.OffsetCommitResponseTopic
	partition [1]kmsg.OffsetCommitResponseTopicPartition
}

// commitAnswer is an answer without errors for all partitions, in the order of the request.
func commitAnswer(req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
	if len(req.Topics) == 1 && len(req.Topics[0].Partitions) == 1 {
		s := &smallCommit{}
		s.partition[0].Partition = req.Topics[0].Partitions[0].Partition
		s.topic[0].Topic, s.topic[0].TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		s.topic[0].Partitions = s.partition[:]
		s.response.Version, s.response.Topics = req.Version, s.topic[:]
		return &s.response
	}
	resp := &kmsg.OffsetCommitResponse{Version: req.Version, Topics: make([]kmsg.OffsetCommitResponseTopic, len(req.Topics))}
	for i := range req.Topics {
		t, answer := &req.Topics[i], &resp.Topics[i]
		answer.Topic, answer.TopicID = t.Topic, t.TopicID
		answer.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			answer.Partitions[j].Partition = t.Partitions[j].Partition
		}
	}
	return resp
}

// metadataTooLong counts as Kafka does, in UTF-16 code units, of which a string has at most as many as bytes.
func (c *Core) metadataTooLong(metadata string) bool {
	if len(metadata) <= c.config.OffsetMetadataMaxBytes {
		return false
	}
	units := 0
	for _, r := range metadata {
		units += max(utf16.RuneLen(r), 1)
	}
	return units > c.config.OffsetMetadataMaxBytes
}

// slabSize is how many offset records are allocated together. Source: measured; larger ones gain little and keep more
// memory alive while a single record of them is in use.
const slabSize = 32

// newOffsetRecord takes a record from the slab.
func (c *Core) newOffsetRecord() *OffsetRecord {
	if len(c.slab) == 0 {
		c.slab = make([]OffsetRecord, slabSize)
	}
	rec := &c.slab[0]
	c.slab = c.slab[1:]
	return rec
}
