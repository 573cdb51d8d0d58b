package coordinator

// group is one classic group. It has two halves: what survives a crash, and what does not.
//
// Invariant: a group exists exactly if it has a group record, committed offsets, or was created by an event since the
// last start; the last kind is deleted by the next search for expired offsets.
type group struct {
	id       string
	position int // in Core.order
	hard
	soft
}

// dropped is the position of a group that no longer exists.
const dropped = -1

// hard is what the log says about a group. Only apply writes it.
type hard struct {
	record  *GroupRecord    // nil: a simple group, or one that has never completed a generation
	offsets []*topicOffsets // ascending by topic
}

// soft is the life of a group between two of its records: it is rebuilt by restore, and what restore cannot rebuild
// (who has joined, who waits for an answer) its members will repeat.
//
// Invariant: generation >= record.Generation. awaitingJoin = number of members with a parked JoinGroup.
// supported[name] = number of members that offer the protocol.
type soft struct {
	state          State
	previous       State // before state; Empty marks an initial rebalance
	newMemberAdded bool  // during the initial rebalance, since its last extension
	barriers       int8  // windows of the first barrier used so far
	generation     int32
	stateTimestamp int64  // milliseconds, -1 unknown
	protocolType   string // "" until a first member joined; kept when the group becomes empty
	protocol       string // "" unless a generation completed with members
	leader         *member

	members      []*member          // in order of arrival
	byID         map[string]*member // nil until needed, as are the other maps: most groups that only commit need none
	byInstance   map[string]*member
	pending      map[string]*pendingMember
	supported    map[string]int
	awaitingJoin int
	awaitingSync int // members that have not synced in this generation

	// subscribed is what the members' metadata says; unknown if it is nil.
	subscribed *subscription

	joinTimer timer
	syncTimer timer

	// The rest of an initial rebalance, in nanoseconds: the running delay and what may still be added to it.
	initialDelay     int64
	initialRemaining int64
}

func newGroup(id string, position int) *group {
	g := &group{id: id, position: position}
	g.stateTimestamp = -1
	g.joinTimer = timer{kind: joinTimer, group: g, index: unqueued}
	g.syncTimer = timer{kind: syncTimer, group: g, index: unqueued}
	return g
}

// leaderID is the leader's member id, or "" without one.
func (g *group) leaderID() string {
	if g.leader == nil {
		return ""
	}
	return g.leader.id
}

// allJoined says whether the join phase may end before its deadline: every member waits, and no member id is on its
// way back to us.
func (g *group) allJoined() bool {
	return len(g.members) == g.awaitingJoin && len(g.pending) == 0
}

// initial says whether the running join phase is the first one of an empty group, which only its own timer ends.
func (g *group) initial() bool {
	return g.state == PreparingRebalance && g.previous == Empty
}

// rebalanceTimeout is the longest that a current member asks for. Units: milliseconds.
func (g *group) rebalanceTimeout() int64 {
	longest := int32(0)
	for _, m := range g.members {
		longest = max(longest, m.rebalanceTimeout)
	}
	return int64(longest)
}

// usesConsumerProtocol says whether the members speak the protocol of Kafka's own consumers.
func (g *group) usesConsumerProtocol() bool { return g.protocolType == consumerProtocolType }

// consumerProtocolType is the protocol type of Kafka's consumers. Source: Kafka ConsumerProtocol.PROTOCOL_TYPE.
const consumerProtocolType = "consumer"

// transition moves the group to another state. Only lawful moves happen.
func (c *Core) transition(g *group, next State) {
	if !g.state.mayBecome(next) {
		panic(c.bug(g.id, "illegal transition from "+g.state.String()+" to "+next.String()))
	}
	g.previous = g.state
	g.state = next
	g.stateTimestamp = c.nowMs()
}
