package coordinator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstVersionWithProtocol is the SyncGroup version from which request and response name the protocol. Source: KIP-559.
const firstVersionWithProtocol = 5

// syncGroup answers a SyncGroup with the member's assignment, or parks it until the leader has sent them all.
//
// Source: spec 2.8; Kafka GroupMetadataManager.classicGroupSyncToClassicGroup.
func (c *Core) syncGroup(r *Request, req *kmsg.SyncGroupRequest) {
	g, m, e := c.validateSync(req)
	if e != nil {
		c.reply(r.Token, syncError(req.Version, e))
		return
	}
	switch g.state {
	case PreparingRebalance:
		c.reply(r.Token, syncError(req.Version, kerr.RebalanceInProgress))
	case CompletingRebalance:
		c.parkSync(g, m, r, req)
		if g.leader == m {
			c.assign(g, req)
		}
	case Stable:
		c.synced(g, m)
		c.reply(r.Token, g.syncAnswer(req.Version, m))
	case Empty, Dead:
		panic(c.bug(g.id, "a member syncs in a group without members"))
	}
}

// validateSync makes the checks of a SyncGroup, in Kafka's order: the member before the generation before the protocol.
func (c *Core) validateSync(req *kmsg.SyncGroupRequest) (*group, *member, *kerr.Error) {
	if req.Version >= firstVersionWithProtocol && (req.ProtocolType == nil || req.Protocol == nil) {
		return nil, nil, kerr.InconsistentGroupProtocol
	}
	if req.Group == "" {
		return nil, nil, kerr.InvalidGroupID
	}
	g := c.find(req.Group)
	if g == nil {
		return nil, nil, kerr.UnknownMemberID
	}
	m, e := g.validate(req.MemberID, req.InstanceID)
	switch {
	case e != nil:
		return nil, nil, e
	case req.Generation != g.generation:
		return nil, nil, kerr.IllegalGeneration
	case differs(req.ProtocolType, g.protocolType), differs(req.Protocol, g.protocol):
		return nil, nil, kerr.InconsistentGroupProtocol
	}
	return g, m, nil
}

// differs says whether a name that the request may give contradicts one that the group may have.
func differs(given *string, known string) bool {
	return given != nil && known != "" && *given != known
}

// parkSync keeps a member's SyncGroup until the assignment is known.
//
// Deviation: Kafka never answers a SyncGroup that a second one of the same member replaces. Here the older one is answered
// with REBALANCE_IN_PROGRESS.
func (c *Core) parkSync(g *group, m *member, r *Request, req *kmsg.SyncGroupRequest) {
	c.answerSync(m, syncError(m.sync.version, kerr.RebalanceInProgress))
	m.sync = parked{waits: true, token: r.Token, version: req.Version}
	c.synced(g, m)
}

// synced notes that a member's SyncGroup of this generation has come. The last one ends the sync phase.
func (c *Core) synced(g *group, m *member) {
	if !m.awaitsSync {
		return
	}
	m.awaitsSync = false
	if g.awaitingSync--; g.awaitingSync == 0 {
		c.deadlines.disarm(&g.syncTimer)
	}
}

// assign stores the leader's assignment: the generation becomes durable, everybody who waits gets its part, and the group
// is Stable. Who is not listed gets empty bytes; entries for strangers are ignored.
func (c *Core) assign(g *group, req *kmsg.SyncGroupRequest) {
	for _, m := range g.members {
		m.assignment = nil
	}
	for i := range req.GroupAssignment {
		if m := g.member(req.GroupAssignment[i].MemberID); m != nil {
			m.assignment = bytes.Clone(req.GroupAssignment[i].MemberAssignment)
		}
	}
	// The record carries the time of the state before, as Kafka's does: it is written before the group is Stable.
	c.emit(g.recordOf())
	for _, m := range g.members {
		if m.sync.waits {
			c.answerSync(m, g.syncAnswer(m.sync.version, m))
			c.armSession(m)
		}
	}
	c.transition(g, Stable)
	c.note(g, NoteGroupStable, fmt.Sprintf("leader %s assigned %s", g.leader.id, plural(len(g.members), "member")))
}

// endSyncPhase forgets who has not synced.
func (c *Core) endSyncPhase(g *group) {
	c.deadlines.disarm(&g.syncTimer)
	if g.awaitingSync == 0 {
		return
	}
	for _, m := range g.members {
		m.awaitsSync = false
	}
	g.awaitingSync = 0
}

// syncExpired removes the members that never synced, also from a stable group, and starts a rebalance without them.
//
// Source: Kafka GroupMetadataManager.expirePendingSync.
func (c *Core) syncExpired(g *group) {
	if g.state != CompletingRebalance && g.state != Stable || g.awaitingSync == 0 {
		return
	}
	removed := 0
	for _, m := range slices.Clone(g.members) {
		if m.awaitsSync {
			c.remove(g, m)
			removed++
			c.noteMember(g, NoteMemberRemoved, m.id, m.clientHost, "was removed: it did not ask for its assignment in time")
		}
	}
	c.prepareRebalance(g, cause{reason: plural(removed, "member") + " did not ask for an assignment in time"})
}

// answerSync answers a member's parked SyncGroup, if there is one.
func (c *Core) answerSync(m *member, resp *kmsg.SyncGroupResponse) {
	if !m.sync.waits {
		return
	}
	c.reply(m.sync.token, resp)
	m.sync = parked{}
}

// syncAnswer is a SyncGroup answer with the member's assignment, which is never null.
func (g *group) syncAnswer(version int16, m *member) *kmsg.SyncGroupResponse {
	protocolType, name := g.protocolType, g.protocol
	resp := &kmsg.SyncGroupResponse{
		Version:          version,
		ProtocolType:     &protocolType,
		Protocol:         &name,
		MemberAssignment: m.assignment,
	}
	if resp.MemberAssignment == nil {
		resp.MemberAssignment = []byte{}
	}
	return resp
}

// syncError is a SyncGroup answer with Kafka's default fields.
func syncError(version int16, e *kerr.Error) *kmsg.SyncGroupResponse {
	return &kmsg.SyncGroupResponse{Version: version, ErrorCode: e.Code, MemberAssignment: []byte{}}
}
