package coordinator

import "time"

// maxBarriers bounds how often the first barrier is extended.
const maxBarriers = 10

// startInitialDelay begins the first join phase of an empty group: more members are probably about to start, and each
// one that comes later costs all of them another rebalance.
//
// Source: spec 2.6; Kafka GroupMetadataManager.prepareRebalance.
func (c *Core) startInitialDelay(g *group) {
	delay := c.config.InitialRebalanceDelay
	longest := time.Duration(g.rebalanceTimeout()) * time.Millisecond
	g.newMemberAdded = false
	g.initialDelay = int64(delay)
	g.initialRemaining = int64(max(longest-delay, 0))
	g.barriers = 0
	if delay == 0 {
		delay = c.config.FirstBarrier
	}
	c.armInitial(g, delay)
}

func (c *Core) armInitial(g *group, delay time.Duration) {
	c.deadlines.disarm(&g.joinTimer)
	g.joinTimer.kind = initialJoinTimer
	c.arm(&g.joinTimer, delay)
}

// initialDelayPassed ends the initial join phase, or extends it because members came during the delay.
//
// The bookkeeping is Kafka's: the whole wait stays within the longest rebalance timeout as of its start, though the last
// step may be shorter than the delay. The flag is set by members that come after the first one.
//
// Source: Kafka GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule.
func (c *Core) initialDelayPassed(g *group) {
	if c.config.InitialRebalanceDelay == 0 && c.config.FirstBarrier > 0 {
		c.firstBarrierPassed(g)
		return
	}
	if !g.newMemberAdded || g.initialRemaining == 0 {
		c.completeJoin(g)
		return
	}
	g.newMemberAdded = false
	next := min(int64(c.config.InitialRebalanceDelay), g.initialRemaining)
	g.initialRemaining = max(g.initialRemaining-g.initialDelay, 0)
	g.initialDelay = next
	c.armInitial(g, time.Duration(next))
}

// firstBarrierPassed is the end of one window of the first barrier. Another one follows while members still arrive or
// are on their way back with a new id, ten at most.
//
// Deviation: with no initial delay Kafka ends the phase in the next operation of its queue, after a write of its log. Two
// members that start together are then mostly in that queue already and share a generation; a broker that is faster than
// Kafka would make two generations of them. Client test suites expect the former.
func (c *Core) firstBarrierPassed(g *group) {
	if g.barriers++; g.barriers >= maxBarriers || !g.newMemberAdded && len(g.pending) == 0 {
		c.completeJoin(g)
		return
	}
	g.newMemberAdded = false
	c.armInitial(g, c.config.FirstBarrier)
}
