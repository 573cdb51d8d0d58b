package coordinator

import "time"

// expiry is the search for offsets and groups that have outlived their use. A run visits every group once; it starts
// RetentionCheckInterval after the last one ended.
//
// A run over a million offsets must not stop heartbeats for a second, so one Tick looks at expirySlice offsets and groups
// at most and leaves the rest to the next one, expiryPause later. The walk goes from the end of Core.order to its
// start, and within a group from the last offset to the first. Groups that are created meanwhile lie behind it, and a
// group that is dropped moves one from behind into its place, so that no group is left out.
type expiry struct {
	timer   timer
	running bool
	next    int // position of the next group, if running

	// The rest of the group at next, if its offsets did not fit into one slice: what lies before this offset.
	partial    bool
	topic      string
	partition  int32
	removed    int // offsets of this group that have expired in this run
	inspecting *group
}

const (
	// expirySlice is how many offsets and groups one Tick looks at: less than 10 ms if all of them expire.
	expirySlice = 8192
	// expiryPause is the time for others between two slices.
	expiryPause = time.Millisecond
)

// expire does one slice of a run.
//
// Source: KIP-211; spec 4.9; Kafka GroupCoordinatorShard.cleanupExpiredOffsets.
func (c *Core) expire() {
	x := &c.expiry
	if !x.running {
		x.running, x.next, x.partial = true, len(c.order)-1, false
	}
	budget := expirySlice
	for ; x.next >= 0 && budget > 0; budget-- {
		if x.next >= len(c.order) {
			x.next = len(c.order) - 1
			continue
		}
		if !c.expireGroup(c.order[x.next], &budget) {
			break // the same group goes on in the next slice
		}
		x.next--
	}
	if x.next >= 0 {
		c.arm(&x.timer, expiryPause)
		return
	}
	x.running, x.inspecting, x.topic = false, nil, ""
	c.arm(&x.timer, c.config.RetentionCheckInterval)
}

// expireGroup deletes the expired offsets of a group, and the group itself if it is empty and nothing is left of it. It
// returns false if the budget ended before the offsets did.
//
// Deviation: Kafka writes all tombstones of a group in one batch. Here a group with more offsets than a slice loses them in
// several; a crash in between leaves the rest to the next run. The group's own tombstone always comes last.
func (c *Core) expireGroup(g *group, budget *int) bool {
	x := &c.expiry
	if x.inspecting != g {
		x.inspecting, x.partial, x.removed = g, false, 0
	}
	base, may := g.expiryBase()
	if may && len(g.offsets) > 0 {
		if c.config.Check {
			c.touched = append(c.touched, g)
		}
		if !c.expireOffsets(g, base, budget) {
			return false
		}
	}
	removed := x.removed
	x.inspecting, x.partial, x.removed = nil, false, 0
	gone := len(g.offsets) == 0 && g.state == Empty
	switch {
	case gone && removed > 0:
		c.endGroup(g, NoteGroupExpired, plural(removed, "offset")+" expired, none is left, and it has no members")
	case gone:
		c.endGroup(g, NoteGroupExpired, "it has neither members nor offsets")
	case removed > 0:
		c.note(g, NoteOffsetsExpired, plural(removed, "offset")+" expired")
	}
	return true
}

// expireOffsets walks the group's offsets downwards from where the last slice stopped.
func (c *Core) expireOffsets(g *group, base int64, budget *int) bool {
	x := &c.expiry
	i := len(g.offsets) - 1
	if x.partial {
		var found bool
		if i, found = g.searchTopic(x.topic); !found {
			x.partial = false
			i--
		}
	}
	for ; i >= 0; i-- {
		t := g.offsets[i]
		j := len(t.partitions) - 1
		if x.partial {
			j, _ = t.search(x.partition)
			j--
			x.partial = false
		}
		if g.subscribedTo(t.topic) {
			*budget--
			continue
		}
		for ; j >= 0; j-- {
			if *budget <= 0 {
				x.partial, x.topic = true, t.topic
				x.partition = t.partitions[j].partition + 1
				return false
			}
			*budget--
			if c.expired(&t.partitions[j], base) {
				c.emitOffsetTombstone(g, t.topic, t.partitions[j].partition)
				x.removed++
			}
		}
	}
	return true
}

// expiryBase says from when the retention of the group's offsets counts (-1: from each one's commit), and whether they may
// expire at all. While members are there whose subscriptions we do not know, nothing does.
//
// Source: Kafka ClassicGroup.offsetExpirationCondition.
func (g *group) expiryBase() (base int64, may bool) {
	switch {
	case g.protocolType == "":
		return -1, true
	case g.state == Empty:
		return g.stateTimestamp, true
	case g.state == Stable && g.usesConsumerProtocol() && g.subscribed != nil:
		return -1, true
	}
	return -1, false
}

// expired says whether an offset has outlived its retention, or the explicit one that old clients may ask for.
func (c *Core) expired(o *committed, base int64) bool {
	if o.expireTimestamp >= 0 {
		return c.nowMs() >= o.expireTimestamp
	}
	if base < 0 {
		base = o.commitTimestamp
	}
	return c.nowMs()-base >= c.config.OffsetsRetention.Milliseconds()
}
