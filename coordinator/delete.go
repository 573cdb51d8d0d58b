package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteGroups ends groups that have no members, with all their offsets, in one batch. An id that is named twice is
// answered once.
//
// Source: spec 3.4; Kafka GroupCoordinatorShard.deleteGroups.
func (c *Core) deleteGroups(r *Request, req *kmsg.DeleteGroupsRequest) {
	resp := &kmsg.DeleteGroupsResponse{Version: req.Version, Groups: []kmsg.DeleteGroupsResponseGroup{}}
	seen := make(map[string]bool, len(req.Groups))
	for _, id := range req.Groups {
		if seen[id] {
			continue
		}
		seen[id] = true
		answer := kmsg.DeleteGroupsResponseGroup{Group: id}
		if e := c.deleteGroup(id); e != nil {
			answer.ErrorCode = e.Code // without a message, also from v3 on
		}
		resp.Groups = append(resp.Groups, answer)
	}
	c.reply(r.Token, resp)
}

func (c *Core) deleteGroup(id string) *kerr.Error {
	g := c.find(id)
	if g == nil {
		return kerr.GroupIDNotFound
	}
	if g.state != Empty {
		return kerr.NonEmptyGroup
	}
	deleted := 0
	for i := len(g.offsets) - 1; i >= 0; i-- {
		deleted += c.deleteTopic(g, g.offsets[i])
	}
	c.endGroup(g, NoteGroupDeleted, "deleted on request, with "+plural(deleted, "offset"))
	return nil
}

// endGroup writes the tombstone of an empty group without offsets. A simple group gets one too, as in Kafka: its offsets'
// tombstones may be compacted away before an old group record is.
func (c *Core) endGroup(g *group, kind NoteKind, reason string) {
	c.transition(g, Dead)
	c.note(g, kind, reason)
	c.emit(&GroupRecord{Group: g.id, Tombstone: true, StateTimestamp: -1})
}
