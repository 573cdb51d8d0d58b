package coordinator

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// member is one member of a classic group.
//
// Units: timeouts are milliseconds, as on the wire.
type member struct {
	id               string
	instanceID       *string // nil for a dynamic member
	clientID         string
	clientHost       string
	rebalanceTimeout int32
	sessionTimeout   int32
	protocols        []protocol // in the member's order of preference
	assignment       []byte

	join  parked // its JoinGroup, if it waits
	sync  parked // its SyncGroup, if it waits
	isNew bool   // has never completed a join phase: a parked JoinGroup does not save it from its deadline
	// awaitsSync marks a member whose SyncGroup of this generation has not come.
	awaitsSync bool

	timer timer // the session, or the patience with a new member
}

// protocol is one assignment strategy that a member offers, with its opaque metadata.
type protocol struct {
	name     string
	metadata []byte
}

// parked is a request that waits for its answer.
type parked struct {
	waits   bool
	token   Token
	version int16
}

// pendingMember is a member id that was handed out with MEMBER_ID_REQUIRED and has not come back. Source: KIP-394.
type pendingMember struct {
	id         string
	clientHost string
	timer      timer
}

// metadata is what the member offers for a protocol.
func (m *member) metadata(name string) []byte {
	for _, p := range m.protocols {
		if p.name == name {
			return p.metadata
		}
	}
	return nil
}

// offers says whether the request's protocols are the ones we know, in the same order and with the same metadata.
func (m *member) offers(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(p protocol, r kmsg.JoinGroupRequestProtocol) bool {
		return p.name == r.Name && bytes.Equal(p.metadata, r.Metadata)
	})
}

// member returns a member by id, or nil.
func (g *group) member(id string) *member { return g.byID[id] }

// add puts a member at the end of the group. The first one decides the protocol type and becomes the leader.
func (g *group) add(m *member, protocolType string) {
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if g.byID == nil {
		g.byID = make(map[string]*member)
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.instanceID != nil {
		if g.byInstance == nil {
			g.byInstance = make(map[string]*member)
		}
		g.byInstance[*m.instanceID] = m
	}
	g.count(m, 1)
	if g.leader == nil {
		g.leader = m
	}
}

// count adds the member's protocols to the group's votes, or takes them away.
func (g *group) count(m *member, by int) {
	if g.supported == nil {
		g.supported = make(map[string]int)
	}
	for i, p := range m.protocols {
		if slices.ContainsFunc(m.protocols[:i], func(q protocol) bool { return q.name == p.name }) {
			continue // a name that is offered twice counts once
		}
		g.supported[p.name] += by
		if g.supported[p.name] == 0 {
			delete(g.supported, p.name)
		}
	}
}

// remove takes a member out, whose parked requests must have been answered. The longest-standing member inherits the
// leadership. Deviation: Kafka takes the first in the order of a hash map, which nobody can foresee.
func (c *Core) remove(g *group, m *member) {
	if m.join.waits || m.sync.waits {
		panic(c.bug(g.id, "member "+m.id+" is removed while its request is parked"))
	}
	c.deadlines.disarm(&m.timer)
	i := slices.Index(g.members, m)
	g.members = slices.Delete(g.members, i, i+1)
	delete(g.byID, m.id)
	if m.instanceID != nil {
		delete(g.byInstance, *m.instanceID)
	}
	g.count(m, -1)
	if m.awaitsSync {
		m.awaitsSync = false
		g.awaitingSync--
	}
	if g.leader == m {
		g.leader = nil
		if len(g.members) > 0 {
			g.leader = g.members[0]
		}
	}
}

// forgetPending takes a pending member id back.
func (c *Core) forgetPending(g *group, p *pendingMember) {
	c.deadlines.disarm(&p.timer)
	delete(g.pending, p.id)
}

// newMemberID makes an id that no other member has: the instance id or the client id, and a random UUID (version 4).
// Source: Kafka ClassicGroup.generateMemberId.
func (c *Core) newMemberID(client Client, instanceID *string) string {
	var uuid [16]byte
	binary.BigEndian.PutUint64(uuid[:8], c.random.Uint64())
	binary.BigEndian.PutUint64(uuid[8:], c.random.Uint64())
	uuid[6] = uuid[6]&0x0f | 0x40
	uuid[8] = uuid[8]&0x3f | 0x80
	prefix := client.ID
	if instanceID != nil {
		prefix = *instanceID
	}
	h := hex.EncodeToString(uuid[:])
	return prefix + "-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
