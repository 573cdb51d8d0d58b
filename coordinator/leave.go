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
	left, why := 0, cause{}
	for i := range req.Members {
		entry := &req.Members[i]
		answer := kmsg.LeaveGroupResponseMember{MemberID: entry.MemberID, InstanceID: entry.InstanceID}
		if gone, e := c.leave(g, entry); e != nil {
			answer.ErrorCode = e.Code
		} else {
			left, why = left+1, gone
		}
		resp.Members = append(resp.Members, answer)
	}
	if left > 1 {
		why = cause{reason: plural(left, "member") + " left"}
	}
	if left > 0 {
		c.afterLeave(g, why)
	}
	c.reply(r.Token, resp)
}

// leave removes one member, and says how. An administrator names a static member by its instance alone.
func (c *Core) leave(g *group, entry *kmsg.LeaveGroupRequestMember) (cause, *kerr.Error) {
	if g == nil {
		return cause{}, kerr.UnknownMemberID
	}
	if entry.MemberID == "" {
		if entry.InstanceID == nil || g.byInstance[*entry.InstanceID] == nil {
			return cause{}, kerr.UnknownMemberID
		}
		m := g.byInstance[*entry.InstanceID]
		c.removeAnswered(g, m, "was removed: an administrator named its instance id"+becauseOf(entry.Reason))
		return m.because("was removed by its instance id"), nil
	}
	if p := g.pending[entry.MemberID]; p != nil {
		c.forgetPending(g, p)
		c.noteMember(g, NoteMemberRemoved, p.id, p.clientHost, "left before it came back with its member id"+becauseOf(entry.Reason))
		return cause{p.id, p.clientHost, "left"}, nil
	}
	m, e := g.validate(entry.MemberID, entry.InstanceID)
	if e != nil {
		return cause{}, e
	}
	c.removeAnswered(g, m, "was removed: it left"+becauseOf(entry.Reason))
	return m.because("left"), nil
}

// afterLeave moves the group on.
func (c *Core) afterLeave(g *group, why cause) {
	switch g.state {
	case Stable, CompletingRebalance:
		c.prepareRebalance(g, why)
	case PreparingRebalance:
		c.maybeCompleteJoin(g)
	case Empty, Dead:
	}
}
