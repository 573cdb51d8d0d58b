package coordinator

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
)

// cause is why a rebalance starts: what a member did, or, without one, what happened to the group.
type cause struct{ member, clientHost, reason string }

// because makes a cause of what a member did.
func (m *member) because(reason string) cause { return cause{m.id, m.clientHost, reason} }

// rebalanceOrCompleteJoin starts a rebalance if the group's state allows one; in a running join phase it looks
// whether that may end now.
//
// Source: Kafka GroupMetadataManager.maybePrepareRebalanceOrCompleteJoin.
func (c *Core) rebalanceOrCompleteJoin(g *group, why cause) {
	if g.state.mayBecome(PreparingRebalance) {
		c.prepareRebalance(g, why)
		return
	}
	c.maybeCompleteJoin(g)
}

// prepareRebalance starts a join phase. Who waits for an assignment must join again. From Empty the initial delay
// gathers members; otherwise the phase ends when everybody has joined, or at the join deadline.
//
// Source: spec 2.5 "Starting a rebalance"; Kafka GroupMetadataManager.prepareRebalance.
func (c *Core) prepareRebalance(g *group, why cause) {
	if g.state == CompletingRebalance {
		for _, m := range g.members {
			m.assignment = nil
			if m.sync.waits {
				c.answerSync(m, syncError(m.sync.version, kerr.RebalanceInProgress))
				c.armSession(m)
			}
		}
	}
	c.endSyncPhase(g)
	c.transition(g, PreparingRebalance)
	c.noteMember(g, NoteRebalanceStarted, why.member, why.clientHost, why.reason)
	if g.previous == Empty {
		c.startInitialDelay(g)
		return
	}
	if g.allJoined() || len(g.members) == 0 {
		// Without members there is no rebalance timeout: an id that was handed out is not waited for.
		c.completeJoin(g)
		return
	}
	c.armJoin(g)
}

// armJoin sets the deadline of the join phase: the longest rebalance timeout of all members.
func (c *Core) armJoin(g *group) {
	g.joinTimer.kind = joinTimer
	c.deadlines.disarm(&g.joinTimer)
	c.armMs(&g.joinTimer, g.rebalanceTimeout())
}

// maybeCompleteJoin ends the join phase if everybody has joined. An initial one waits for its own timer, whoever is there.
//
// Source: Kafka GroupMetadataManager.maybeCompleteJoinPhase.
func (c *Core) maybeCompleteJoin(g *group) {
	if g.state == PreparingRebalance && !g.initial() && g.allJoined() {
		c.completeJoin(g)
	}
}

// completeJoin ends the join phase: who has not joined is removed, unless static, and the rest forms the next
// generation. Nothing is written for a generation with members: it becomes durable with its assignment.
//
// Source: spec 2.5 "Completing the join phase"; Kafka GroupMetadataManager.completeClassicGroupJoin.
func (c *Core) completeJoin(g *group) {
	c.deadlines.disarm(&g.joinTimer)
	c.removeNotJoined(g)
	if len(g.members) > 0 && !g.electLeader() {
		// Only static members are left, and none has joined. They keep their places until their sessions end.
		c.armJoin(g)
		return
	}
	g.generation++
	g.barriers, g.newMemberAdded = 0, false
	if len(g.members) == 0 {
		c.completeEmpty(g)
		return
	}
	g.protocol = g.selectProtocol()
	g.subscribed = g.parseSubscriptions()
	c.transition(g, CompletingRebalance)
	for _, m := range g.members {
		if m.join.waits {
			c.answerJoin(g, m, g.joinAnswer(m.join.version, m))
		}
		m.isNew = false
		c.armSession(m)
		m.awaitsSync = true
	}
	g.awaitingSync = len(g.members)
	g.syncTimer.kind = syncTimer
	c.armMs(&g.syncTimer, g.rebalanceTimeout())
	c.note(g, NoteGenerationStarted, fmt.Sprintf("join phase over with %s, leader %s, protocol %s",
		plural(len(g.members), "member"), g.leader.id, quote(g.protocol)))
}

// completeEmpty ends a join phase that nobody is left of. The generation has moved on, so that who returns with the
// old one is known to be late. The protocol type stays.
func (c *Core) completeEmpty(g *group) {
	g.protocol, g.leader = "", nil
	g.subscribed = g.parseSubscriptions()
	c.transition(g, Empty)
	c.emit(g.recordOf())
	c.note(g, NoteGroupEmpty, "no members are left")
}

// removeNotJoined removes the dynamic members that did not join in time.
func (c *Core) removeNotJoined(g *group) {
	if g.awaitingJoin == len(g.members) {
		return
	}
	for _, m := range slices.Clone(g.members) {
		if m.instanceID == nil && !m.join.waits {
			c.remove(g, m)
			c.noteMember(g, NoteMemberRemoved, m.id, m.clientHost, "was removed: it did not join in time")
		}
	}
}

// electLeader makes sure that the leader has joined: if it has not, the longest-standing member that has takes over.
// It says whether there is such a member.
//
// Deviation: Kafka takes the first in the order of a hash map, which nobody can foresee.
// Source: Kafka ClassicGroup.maybeElectNewJoinedLeader.
func (g *group) electLeader() bool {
	if g.leader != nil && g.leader.join.waits {
		return true
	}
	for _, m := range g.members {
		if m.join.waits {
			g.leader = m
			return true
		}
	}
	return false
}

// plural counts things in a sentence.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
