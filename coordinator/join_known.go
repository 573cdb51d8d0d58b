package coordinator

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinKnown answers a JoinGroup that carries a member id: a pending id that came back, or a member that joins again.
//
// A rejoin that changes nothing is answered at once with the current generation. It is a lost answer's repetition, or a
// follower of the cooperative protocol; only the leader may force a rebalance with unchanged metadata, since it may have
// learnt of new partitions.
//
// Source: Kafka GroupMetadataManager.classicGroupJoinExistingMember.
func (c *Core) joinKnown(r *Request, req *kmsg.JoinGroupRequest, g *group) {
	if g.pending[req.MemberID] != nil {
		if req.InstanceID != nil {
			c.refuseJoin(r, req, "", kerr.UnknownServerError)
			return
		}
		c.addMember(r, req, g, strings.Clone(req.MemberID))
		return
	}
	m, e := g.validate(req.MemberID, req.InstanceID)
	if e != nil {
		c.refuseJoin(r, req, req.MemberID, e)
		return
	}
	switch g.state {
	case PreparingRebalance:
		c.rejoin(r, req, g, m, "joined")
	case CompletingRebalance:
		if m.offers(req.Protocols) {
			c.reply(r.Token, g.joinAnswer(req.Version, m))
			return
		}
		c.rejoin(r, req, g, m, "changed its protocols")
	case Stable:
		switch {
		case g.leader == m:
			c.rejoin(r, req, g, m, "joined again as the leader")
		case !m.offers(req.Protocols):
			c.rejoin(r, req, g, m, "changed its protocols")
		default:
			c.reply(r.Token, g.joinAnswer(req.Version, m))
		}
	case Empty, Dead:
		c.refuseJoin(r, req, req.MemberID, kerr.UnknownMemberID)
	}
}

// rejoin takes over what the member now offers, parks its request and moves the group on.
func (c *Core) rejoin(r *Request, req *kmsg.JoinGroupRequest, g *group, m *member, what string) {
	c.update(r, req, g, m)
	c.rebalanceOrCompleteJoin(g, m.because(what+becauseOf(req.Reason)))
}

// update replaces a member's protocols and timeouts and parks its JoinGroup.
func (c *Core) update(r *Request, req *kmsg.JoinGroupRequest, g *group, m *member) {
	g.count(m, -1)
	m.take(req)
	g.count(m, 1)
	c.park(g, m, r, req)
}

// validate finds a member and makes sure that the sender is really it: a static member whose instance has been taken over
// by another process is fenced.
//
// Errors: UNKNOWN_MEMBER_ID for an unknown instance or member, FENCED_INSTANCE_ID for an instance that belongs to
// another member id now.
// Source: KIP-345; Kafka ClassicGroup.validateMember.
func (g *group) validate(memberID string, instanceID *string) (*member, *kerr.Error) {
	if instanceID != nil {
		m := g.byInstance[*instanceID]
		if m == nil {
			return nil, kerr.UnknownMemberID
		}
		if m.id != memberID {
			return nil, kerr.FencedInstanceID
		}
	}
	m := g.byID[memberID]
	if m == nil {
		return nil, kerr.UnknownMemberID
	}
	return m, nil
}
