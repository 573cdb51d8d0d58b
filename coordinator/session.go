package coordinator

import "github.com/twmb/franz-go/pkg/kerr"

// sessionExpired removes a member that has not been heard of in time.
//
// A member whose request is parked is alive: it cannot send anything else. Its deadline is not set again here, but when
// the request is answered. The exception is a new member: its client may have given up long ago and joined under another
// id, and nothing would ever show.
//
// Source: spec 2.4; Kafka GroupMetadataManager.expireClassicGroupMemberHeartbeat.
func (c *Core) sessionExpired(g *group, m *member) {
	if !m.isNew && (m.join.waits || m.sync.waits) {
		return
	}
	removed, reason := "session is over", "sent no heartbeat for "+seconds(int64(m.sessionTimeout))
	if m.isNew {
		removed, reason = "first join phase took too long", "waited for its first join phase for too long"
	}
	c.removeAnswered(g, m, "was removed: its "+removed)
	switch g.state {
	case Stable, CompletingRebalance:
		c.prepareRebalance(g, m.because(reason))
	case PreparingRebalance:
		if g.allJoined() {
			c.completeJoin(g)
		}
	case Empty, Dead:
	}
}

// pendingExpired forgets a member id that never came back. A join phase that waited for nothing else ends, even an
// initial one.
//
// Source: Kafka GroupMetadataManager.removePendingMemberAndUpdateClassicGroup.
func (c *Core) pendingExpired(g *group, p *pendingMember) {
	c.forgetPending(g, p)
	c.noteMember(g, NoteMemberRemoved, p.id, p.clientHost, "never came back with its member id")
	if g.state == PreparingRebalance && g.allJoined() {
		c.completeJoin(g)
	}
}

// removeAnswered removes a member and answers what it has parked with UNKNOWN_MEMBER_ID, which makes a client that is
// still there join anew.
//
// Deviation: Kafka leaves the parked SyncGroup of a removed member unanswered, until the client's own timeout.
func (c *Core) removeAnswered(g *group, m *member, reason string) {
	c.answerJoin(g, m, joinError(m.join.version, "", kerr.UnknownMemberID))
	c.answerSync(m, syncError(m.sync.version, kerr.UnknownMemberID))
	c.remove(g, m)
	c.noteMember(g, NoteMemberRemoved, m.id, m.clientHost, reason)
}
