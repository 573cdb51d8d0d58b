package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// leaveGroup removes members at their own or an administrator's wish. Each entry is answered separately, in order; if at
// least one succeeded the group moves on, once for all of them.
//
// The caller has turned versions 0 to 2, which name one member, into the list form.
//
// Source: spec 2.10; Kafka GroupMetadataManager.classicGroupLeaveToClassicGroup.
func (c *Core) leaveGroup(r *Request, req *kmsg.LeaveGroupRequest) {
	resp := &kmsg.LeaveGroupResponse{Version: req.Version, Members: []kmsg.LeaveGroupResponseMember{}}
	if req.Group == "" {
		resp.ErrorCode = kerr.InvalidGroupID.Code
		c.reply(r.Token, resp)
		return
	}
	g := c.find(req.Group)
	left := 0
	for i := range req.Members {
		entry := &req.Members[i]
		answer := kmsg.LeaveGroupResponseMember{MemberID: entry.MemberID, InstanceID: entry.InstanceID}
		if e := c.leave(g, entry); e != nil {
			answer.ErrorCode = e.Code
		} else {
			left++
		}
		resp.Members = append(resp.Members, answer)
	}
	if left > 0 {
		c.afterLeave(g, plural(left, "member")+" left")
	}
	c.reply(r.Token, resp)
}

// leave removes one member. An administrator names a static member by its instance alone.
func (c *Core) leave(g *group, entry *kmsg.LeaveGroupRequestMember) *kerr.Error {
	if g == nil {
		return kerr.UnknownMemberID
	}
	if entry.MemberID == "" {
		if entry.InstanceID == nil || g.byInstance[*entry.InstanceID] == nil {
			return kerr.UnknownMemberID
		}
		c.removeAnswered(g, g.byInstance[*entry.InstanceID], "was removed by its instance id"+becauseOf(entry.Reason))
		return nil
	}
	if p := g.pending[entry.MemberID]; p != nil {
		c.forgetPending(g, p)
		c.noteMember(g, NoteMemberRemoved, p.id, p.clientHost, "left before it came back with its member id"+becauseOf(entry.Reason))
		return nil
	}
	m, e := g.validate(entry.MemberID, entry.InstanceID)
	if e != nil {
		return e
	}
	c.removeAnswered(g, m, "left"+becauseOf(entry.Reason))
	return nil
}

// afterLeave moves the group on.
func (c *Core) afterLeave(g *group, reason string) {
	switch g.state {
	case Stable, CompletingRebalance:
		c.prepareRebalance(g, reason)
	case PreparingRebalance:
		c.maybeCompleteJoin(g)
	case Empty, Dead:
	}
}
