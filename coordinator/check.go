package coordinator

import "fmt"

// check proves the invariants of the groups that the event touched, and panics with a Bug if one does not hold. Only tests
// pay for it.
func (c *Core) check() {
	for _, g := range c.touched {
		if g.position == dropped {
			continue
		}
		if err := c.checkGroup(g); err != "" {
			panic(c.bug(g.id, "invariant broken: "+err))
		}
	}
	c.touched = c.touched[:0]
}

// checkGroup returns what is wrong with a group, or "".
func (c *Core) checkGroup(g *group) string {
	if c.groups[g.id] != g || c.order[g.position] != g {
		return "the group is not where the core keeps it"
	}
	if g.record != nil && g.generation < g.record.Generation {
		return fmt.Sprintf("generation %d is older than the logged %d", g.generation, g.record.Generation)
	}
	for _, check := range []func(*group) string{checkMembers, checkCounts, checkState, checkOffsets} {
		if err := check(g); err != "" {
			return err
		}
	}
	return ""
}

func checkMembers(g *group) string {
	instances := 0
	for _, m := range g.members {
		if g.byID[m.id] != m {
			return "member " + m.id + " is not found by its id"
		}
		if m.instanceID != nil {
			instances++
			if g.byInstance[*m.instanceID] != m {
				return "member " + m.id + " is not found by its instance"
			}
		}
		if g.pending[m.id] != nil {
			return "member " + m.id + " is also pending"
		}
		parked := m.join.waits || m.sync.waits
		if m.timer.index == unqueued && (!parked || m.isNew) {
			return "member " + m.id + " has no deadline"
		}
		if m.join.waits && g.state != PreparingRebalance || m.sync.waits && g.state != CompletingRebalance {
			return fmt.Sprintf("member %s waits in state %s", m.id, g.state)
		}
	}
	if len(g.byID) != len(g.members) || len(g.byInstance) != instances {
		return "an index knows members that the group does not have"
	}
	for id, p := range g.pending {
		if p.id != id || p.timer.index == unqueued {
			return "pending member " + id + " has no deadline"
		}
	}
	return ""
}

func checkCounts(g *group) string {
	joins, syncs := 0, 0
	supported := map[string]int{}
	for _, m := range g.members {
		if m.join.waits {
			joins++
		}
		if m.awaitsSync {
			syncs++
		}
		seen := map[string]bool{}
		for _, p := range m.protocols {
			if !seen[p.name] {
				supported[p.name]++
				seen[p.name] = true
			}
		}
	}
	if joins != g.awaitingJoin || syncs != g.awaitingSync {
		return fmt.Sprintf("%d join and %d are to sync, counted as %d and %d", joins, syncs, g.awaitingJoin, g.awaitingSync)
	}
	if len(supported) != len(g.supported) {
		return fmt.Sprintf("protocols %v, counted as %v", supported, g.supported)
	}
	for name, n := range supported {
		if g.supported[name] != n {
			return fmt.Sprintf("protocols %v, counted as %v", supported, g.supported)
		}
	}
	return ""
}

func checkState(g *group) string {
	leads := g.leader != nil && g.byID[g.leader.id] == g.leader
	switch g.state {
	case Empty:
		if len(g.members) > 0 || g.protocol != "" || g.leader != nil {
			return "the empty group has members, a protocol or a leader"
		}
	case PreparingRebalance:
		if g.joinTimer.index == unqueued {
			return "a join phase has no deadline"
		}
	case CompletingRebalance, Stable:
		if len(g.members) == 0 {
			return "a generation has no members"
		}
		if !leads && g.previous != Dead {
			return "a generation has no leader"
		}
	case Dead:
		return "a dead group is still kept"
	}
	if g.awaitingSync > 0 && g.syncTimer.index == unqueued {
		return "a sync phase has no deadline"
	}
	if g.state != PreparingRebalance && g.joinTimer.index != unqueued {
		return "a join deadline outlived its phase"
	}
	return ""
}

func checkOffsets(g *group) string {
	for i, t := range g.offsets {
		if len(t.partitions) == 0 || i > 0 && g.offsets[i-1].topic >= t.topic {
			return "topic " + t.topic + " is empty or out of order"
		}
		for j := range t.partitions {
			if j > 0 && t.partitions[j-1].partition >= t.partitions[j].partition {
				return "offsets of topic " + t.topic + " are out of order"
			}
		}
	}
	return ""
}
