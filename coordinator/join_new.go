package coordinator

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstVersionWithMemberIDRequired is the JoinGroup version from which a dynamic member must come back with the id that
// it was given, so that a retry of the first request does not leave a member behind. Source: KIP-394.
const firstVersionWithMemberIDRequired = 4

// joinNewDynamic answers a dynamic member without id: newer clients get an id and must come back with it, older ones are
// members at once.
//
// Source: Kafka GroupMetadataManager.classicGroupJoinNewDynamicMember.
func (c *Core) joinNewDynamic(r *Request, req *kmsg.JoinGroupRequest, g *group) {
	id := c.newMemberID(r.Client, nil)
	if req.Version < firstVersionWithMemberIDRequired {
		c.addMember(r, req, g, id)
		return
	}
	p := &pendingMember{id: id, clientHost: r.Client.Host}
	p.timer = timer{kind: pendingTimer, group: g, pending: p, index: unqueued}
	if g.pending == nil {
		g.pending = make(map[string]*pendingMember)
	}
	g.pending[id] = p
	c.armMs(&p.timer, int64(req.SessionTimeoutMillis))
	c.noteMember(g, NoteMemberPending, id, r.Client.Host, "got its member id and must come back with it")
	c.refuseJoin(r, req, id, kerr.MemberIDRequired)
}

// joinNewStatic answers a static member without id: an unknown instance is added at once, a known one replaced.
//
// Source: KIP-345; Kafka GroupMetadataManager.classicGroupJoinNewStaticMember.
func (c *Core) joinNewStatic(r *Request, req *kmsg.JoinGroupRequest, g *group) {
	id := c.newMemberID(r.Client, req.InstanceID)
	if m := g.byInstance[*req.InstanceID]; m != nil {
		c.replaceStatic(r, req, g, m, id)
		return
	}
	c.addMember(r, req, g, id)
}

// addMember takes a new member into the group and parks its JoinGroup. Until its first join phase ends it is not held by
// its session, since it cannot send heartbeats, but by NewMemberJoinTimeout.
//
// Source: Kafka GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin.
func (c *Core) addMember(r *Request, req *kmsg.JoinGroupRequest, g *group, id string) {
	if p := g.pending[id]; p != nil {
		c.forgetPending(g, p)
	}
	m := &member{
		id:         id,
		clientID:   r.Client.ID,
		clientHost: r.Client.Host,
		isNew:      true,
	}
	if req.InstanceID != nil {
		instance := strings.Clone(*req.InstanceID)
		m.instanceID = &instance
	}
	m.timer = timer{kind: sessionTimer, group: g, member: m, index: unqueued}
	m.take(req)
	if g.initial() {
		g.newMemberAdded = true
	}
	g.add(m, strings.Clone(req.ProtocolType))
	c.park(g, m, r, req)
	c.arm(&m.timer, c.config.NewMemberJoinTimeout)
	c.noteMember(g, NoteMemberAdded, m.id, m.clientHost, "is a new member"+becauseOf(req.Reason))
	c.rebalanceOrCompleteJoin(g, m.because("joined"))
}

// take copies what a JoinGroup says about the member.
func (m *member) take(req *kmsg.JoinGroupRequest) {
	m.sessionTimeout = req.SessionTimeoutMillis
	m.rebalanceTimeout = req.RebalanceTimeoutMillis
	if req.Version == 0 {
		m.rebalanceTimeout = req.SessionTimeoutMillis // version 0 has no such field
	}
	m.protocols = make([]protocol, len(req.Protocols))
	for i, p := range req.Protocols {
		m.protocols[i] = protocol{name: strings.Clone(p.Name), metadata: bytes.Clone(p.Metadata)}
	}
}

// park keeps a member's JoinGroup until the join phase ends.
//
// Deviation: Kafka never answers a JoinGroup that a second one of the same member replaces. Here each request is
// answered, the older one with REBALANCE_IN_PROGRESS, which makes whoever still listens join again.
func (c *Core) park(g *group, m *member, r *Request, req *kmsg.JoinGroupRequest) {
	c.answerJoin(g, m, joinError(m.join.version, m.id, kerr.RebalanceInProgress))
	m.join = parked{waits: true, token: r.Token, version: req.Version}
	g.awaitingJoin++
}

// answerJoin answers a member's parked JoinGroup, if there is one.
func (c *Core) answerJoin(g *group, m *member, resp *kmsg.JoinGroupResponse) {
	if !m.join.waits {
		return
	}
	c.reply(m.join.token, resp)
	m.join = parked{}
	g.awaitingJoin--
}

// becauseOf is a client's reason (KIP-800) as the end of a sentence.
func becauseOf(reason *string) string {
	if reason == nil || *reason == "" {
		return ""
	}
	return " (client reason: " + quote(*reason) + ")"
}

// quoteLimit bounds what a client's own words may take of a note.
const quoteLimit = 255

// quote makes a client's words safe for a log line.
func quote(s string) string {
	if len(s) > quoteLimit {
		s = s[:quoteLimit] + "..."
	}
	return strconv.Quote(s)
}

// seconds prints a timeout for people: 10 s, 1.5 s, 250 ms.
func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Second {
		return strconv.FormatInt(ms, 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}
