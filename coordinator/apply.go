package coordinator

// apply is the only writer of hard state: the live path reaches it through emit, start-up through Replay.
//
// An offset of an unknown group makes a simple group; a group's tombstone ends the group, unless offsets were
// committed that the tombstone's batch did not delete: then a simple group remains, as a replay of Kafka's own log would
// have it.
func (c *Core) apply(rec Record) {
	switch r := rec.(type) {
	case *OffsetRecord:
		c.applyOffset(r)
	case *GroupRecord:
		c.applyGroup(r)
	}
}

func (c *Core) applyOffset(r *OffsetRecord) {
	g := c.lastUsed
	if g == nil || g.id != r.Group {
		g = c.groups[r.Group]
		if g == nil {
			if r.Tombstone {
				return
			}
			g = c.create(r.Group)
		}
		c.lastUsed = g
	}
	if r.Tombstone {
		g.deleteOffset(r.Topic, r.Partition)
		return
	}
	g.topicFor(c, r.Topic).put(committed{
		partition:       r.Partition,
		leaderEpoch:     r.LeaderEpoch,
		offset:          r.Offset,
		commitTimestamp: r.CommitTimestamp,
		expireTimestamp: r.ExpireTimestamp,
		metadata:        r.Metadata,
	})
}

func (c *Core) applyGroup(r *GroupRecord) {
	g := c.groups[r.Group]
	if !r.Tombstone {
		if g == nil {
			g = c.create(r.Group)
		}
		g.record = r
		return
	}
	if g == nil {
		return
	}
	g.record = nil
	if len(g.offsets) == 0 {
		c.drop(g)
	}
}
