package coordinator

import (
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// joinGroup answers a JoinGroup, or parks it until the join phase ends.
//
// The checks stand in Kafka's order, since a request may break several rules at once. What passes them goes on in
// join_new.go (no member id), join_static.go (a known instance without member id) or join_known.go (a member id).
//
// Source: spec 2.5; Kafka GroupMetadataManager.classicGroupJoin.
func (c *Core) joinGroup(r *Request, req *kmsg.JoinGroupRequest) {
	session := time.Duration(req.SessionTimeoutMillis) * time.Millisecond
	if req.Group == "" {
		c.refuseJoin(r, req, req.MemberID, kerr.InvalidGroupID)
		return
	}
	if session < c.config.MinSessionTimeout || session > c.config.MaxSessionTimeout {
		c.refuseJoin(r, req, req.MemberID, kerr.InvalidSessionTimeout)
		return
	}
	g := c.find(req.Group)
	isNew := g == nil
	if isNew && req.MemberID != "" {
		c.refuseJoin(r, req, req.MemberID, kerr.UnknownMemberID)
		return
	}
	if isNew {
		g = c.create(strings.Clone(req.Group))
		c.note(g, NoteGroupCreated, "created by JoinGroup of client "+quote(r.Client.ID))
	}
	records := len(c.effects.Records)
	c.joinExisting(r, req, g)
	if isNew && len(c.effects.Records) == records {
		c.emit(&GroupRecord{Group: g.id, StateTimestamp: c.nowMs()})
	}
}

func (c *Core) joinExisting(r *Request, req *kmsg.JoinGroupRequest, g *group) {
	switch {
	case !c.acceptsJoin(g, req.MemberID):
		c.refuseForSize(g, r, req)
	case !g.supports(req):
		c.refuseJoin(r, req, req.MemberID, kerr.InconsistentGroupProtocol)
	case req.MemberID != "":
		c.joinKnown(r, req, g)
	case req.InstanceID == nil:
		c.joinNewDynamic(r, req, g)
	default:
		c.joinNewStatic(r, req, g)
	}
}

// acceptsJoin says whether the group has room. In a join phase those who have joined are counted, so that a group above
// the limit gets rid of its slowest members. Pending ids do not count.
//
// Source: Kafka GroupMetadataManager.acceptJoiningMember.
func (c *Core) acceptsJoin(g *group, memberID string) bool {
	m := g.member(memberID)
	switch g.state {
	case PreparingRebalance:
		return m != nil && m.join.waits || g.awaitingJoin < c.config.MaxGroupSize
	case CompletingRebalance, Stable:
		return m != nil || len(g.members) < c.config.MaxGroupSize
	case Empty, Dead:
	}
	return true
}

// refuseForSize answers GROUP_MAX_SIZE_REACHED. A member or pending id that is refused loses its place. The join phase is
// not completed by that, as it is not in Kafka: its deadline ends it.
func (c *Core) refuseForSize(g *group, r *Request, req *kmsg.JoinGroupRequest) {
	if p := g.pending[req.MemberID]; p != nil {
		c.forgetPending(g, p)
		c.noteMember(g, NoteMemberRemoved, p.id, p.clientHost, "was refused: the group is full")
	}
	if m := g.member(req.MemberID); m != nil {
		c.remove(g, m)
		c.noteMember(g, NoteMemberRemoved, m.id, m.clientHost, "was refused: the group is full")
	}
	c.refuseJoin(r, req, "", kerr.GroupMaxSizeReached)
}

// supports says whether the request's protocols fit: to an empty group anything does that is not empty, later at least
// one must be offered by every member.
//
// Source: Kafka ClassicGroup.supportsProtocols.
func (g *group) supports(req *kmsg.JoinGroupRequest) bool {
	if g.state == Empty {
		return req.ProtocolType != "" && len(req.Protocols) > 0
	}
	if g.protocolType == "" || g.protocolType != req.ProtocolType {
		return false
	}
	for i := range req.Protocols {
		if g.supported[req.Protocols[i].Name] == len(g.members) {
			return true
		}
	}
	return false
}

// refuseJoin answers a JoinGroup with an error.
func (c *Core) refuseJoin(r *Request, req *kmsg.JoinGroupRequest, memberID string, e *kerr.Error) {
	c.reply(r.Token, joinError(req.Version, memberID, e))
}

// joinError is a JoinGroup answer with Kafka's default fields. Before version 7 the protocol name cannot be null.
func joinError(version int16, memberID string, e *kerr.Error) *kmsg.JoinGroupResponse {
	resp := &kmsg.JoinGroupResponse{
		Version:    version,
		ErrorCode:  e.Code,
		Generation: -1,
		MemberID:   memberID,
		Members:    []kmsg.JoinGroupResponseMember{},
	}
	if version < 7 {
		resp.Protocol = new(string)
	}
	return resp
}

// joinAnswer is a JoinGroup answer with the group's current generation. The leader learns of all members.
func (g *group) joinAnswer(version int16, m *member) *kmsg.JoinGroupResponse {
	protocolType, name := g.protocolType, g.protocol
	resp := &kmsg.JoinGroupResponse{
		Version:      version,
		Generation:   g.generation,
		ProtocolType: &protocolType,
		Protocol:     &name,
		LeaderID:     g.leaderID(),
		MemberID:     m.id,
		Members:      []kmsg.JoinGroupResponseMember{},
	}
	if g.leader == m {
		resp.Members = g.joinMembers()
	}
	return resp
}

// joinMembers lists all members with their metadata for the chosen protocol, which the broker never looks into.
func (g *group) joinMembers() []kmsg.JoinGroupResponseMember {
	members := make([]kmsg.JoinGroupResponseMember, len(g.members))
	for i, m := range g.members {
		members[i] = kmsg.JoinGroupResponseMember{
			MemberID:         m.id,
			InstanceID:       m.instanceID,
			ProtocolMetadata: m.metadata(g.protocol),
		}
	}
	return members
}
