package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstVersionWithSkipAssignment is the JoinGroup version from which a restarted static leader can be told that it
// leads and yet need not assign anything. Source: KIP-814.
const firstVersionWithSkipAssignment = 9

// replaceStatic gives a static member's place to a new process that came with the same instance id: a new member id, the
// same assignment, and the leadership if it had it. In a stable group nobody else notices, which is what static
// membership is for. The old process is fenced.
//
// Deviation: a replaced member that had not synced owes its SyncGroup under the new id. Kafka remembers the debt under the
// old one, where nobody can pay it, and rebalances a stable group at the sync deadline for no reason.
//
// The new id's session starts with the old timeout; client id and host stay the old ones. Both are Kafka's ways.
//
// Source: KIP-345; Kafka GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin.
func (c *Core) replaceStatic(r *Request, req *kmsg.JoinGroupRequest, g *group, m *member, id string) {
	oldID, oldLeader := m.id, g.leaderID()
	c.answerJoin(g, m, joinError(m.join.version, oldID, kerr.FencedInstanceID))
	c.answerSync(m, syncError(m.sync.version, kerr.FencedInstanceID))
	delete(g.byID, oldID)
	m.id, m.isNew = id, false
	g.byID[id] = m
	c.armSession(m)
	c.update(r, req, g, m)
	c.noteMember(g, NoteMemberReplaced, id, r.Client.Host, "took over instance "+quote(*m.instanceID)+" from "+oldID)

	switch g.state {
	case Stable:
		if g.selectProtocol() != g.protocol {
			c.prepareRebalance(g, m.because("changed the group's protocol by its return"))
			return
		}
		c.keepStable(g, m, req.Version, oldLeader)
	case CompletingRebalance:
		// The leader may be assigning to the old id right now, and the new one would get nothing.
		c.prepareRebalance(g, m.because("returned before the assignment was known"))
	case PreparingRebalance:
		c.maybeCompleteJoin(g)
	case Empty, Dead:
		panic(c.bug(g.id, "a static member is replaced in a group without members"))
	}
}

// keepStable answers a replaced static member at once, without a rebalance. A leader that knows skip_assignment learns
// that it leads, with all members, and need not assign. An older one must not, or it would assign anew: it is shown the
// former leader id, believes that it follows, and asks for its assignment.
func (c *Core) keepStable(g *group, m *member, version int16, oldLeader string) {
	c.emit(g.recordOf())
	resp := g.joinAnswer(version, m)
	if version >= firstVersionWithSkipAssignment {
		resp.SkipAssignment = g.leader == m
	} else {
		resp.LeaderID = oldLeader
		resp.Members = []kmsg.JoinGroupResponseMember{}
	}
	c.answerJoin(g, m, resp)
}
