package coordinator

// restore rebuilds the soft half of a group from its record: a group with members is Stable, and each of them gets its
// whole session timeout to be heard of. What the log does not hold (who had joined a later generation, who waits) is
// gone, and the members find out with their next request.
//
// The log may have been written by others, so nothing in it is trusted: of two members with one id or instance
// the first counts.
//
// Source: Kafka GroupMetadataManager.replay(GroupMetadataKey, GroupMetadataValue).
func (c *Core) restore(g *group) {
	r := g.record
	if r == nil {
		return
	}
	g.previous = Dead
	g.generation = r.Generation
	g.protocolType = r.ProtocolType
	g.stateTimestamp = r.StateTimestamp
	if r.Protocol != nil {
		g.protocol = *r.Protocol
	}
	for i := range r.Members {
		c.restoreMember(g, &r.Members[i])
	}
	g.leader = nil
	if r.Leader != nil {
		g.leader = g.member(*r.Leader)
	}
	if len(g.members) > 0 {
		g.state = Stable
	}
	g.subscribed = g.parseSubscriptions()
}

func (c *Core) restoreMember(g *group, r *MemberRecord) {
	if g.member(r.MemberID) != nil || r.InstanceID != nil && g.byInstance[*r.InstanceID] != nil {
		return
	}
	m := &member{
		id:               r.MemberID,
		instanceID:       r.InstanceID,
		clientID:         r.ClientID,
		clientHost:       r.ClientHost,
		rebalanceTimeout: r.RebalanceTimeout,
		sessionTimeout:   r.SessionTimeout,
		protocols:        []protocol{{name: g.protocol, metadata: r.Subscription}},
		assignment:       r.Assignment,
	}
	if m.rebalanceTimeout == -1 {
		m.rebalanceTimeout = m.sessionTimeout
	}
	m.timer = timer{kind: sessionTimer, group: g, member: m, index: unqueued}
	g.add(m, g.protocolType)
	c.armSession(m)
}

// recordOf is the group as the log should remember it. Its bytes are shared with the members, who never change them.
func (g *group) recordOf() *GroupRecord {
	r := &GroupRecord{
		Group:          g.id,
		ProtocolType:   g.protocolType,
		Generation:     g.generation,
		StateTimestamp: g.stateTimestamp,
	}
	if len(g.members) == 0 {
		return r
	}
	protocol := g.protocol
	r.Protocol = &protocol
	if g.leader != nil {
		leader := g.leader.id
		r.Leader = &leader
	}
	r.Members = make([]MemberRecord, len(g.members))
	for i, m := range g.members {
		r.Members[i] = MemberRecord{
			MemberID:         m.id,
			InstanceID:       m.instanceID,
			ClientID:         m.clientID,
			ClientHost:       m.clientHost,
			RebalanceTimeout: m.rebalanceTimeout,
			SessionTimeout:   m.sessionTimeout,
			Subscription:     m.metadata(g.protocol),
			Assignment:       m.assignment,
		}
	}
	return r
}
