package coordinator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Core is the group coordinator of one shard: all groups whose offsets live in one partition of __consumer_offsets.
//
// Owner: one goroutine; nothing in it is locked.
// Invariant: groups[order[i].id] == order[i] and order[i].position == i.
type Core struct {
	config Config
	seed   uint64
	random *rand.Rand

	now    int64 // nanoseconds since the epoch; never goes backwards
	loaded bool

	groups   map[string]*group
	order    []*group          // in order of creation: what a walk over all groups follows, since a map has no order
	topics   map[string]string // interned topic names
	lastUsed *group            // the group of the last applied record; most records come in runs

	deadlines deadlines
	expiry    expiry

	effects Effects
	slab    []OffsetRecord // where the next offset records are taken from, so that a commit does not allocate each
	trace   trace
	touched []*group // by this event; kept only if config.Check
}

// New returns a core without groups. The seed decides the member ids it will hand out.
//
// The caller replays the log into it, calls Loaded once, and only then Step and Tick.
func New(config Config, seed uint64) *Core {
	c := &Core{
		config: config.filled(),
		seed:   seed,
		random: rand.New(rand.NewPCG(seed, 0x6b6f686f7274)),
		groups: make(map[string]*group),
		topics: make(map[string]string),
	}
	c.expiry.timer = timer{kind: expiryTimer, index: unqueued}
	return c
}

// Replay applies one record of the log. It does what emitting the record did.
func (c *Core) Replay(rec Record) {
	if c.loaded {
		panic(c.bug(rec.GroupID(), "a record was replayed after the end of loading"))
	}
	c.apply(rec)
}

// Loaded ends the replay: groups with members become Stable with fresh session deadlines, and the search for expired
// offsets is scheduled. The effects hold notes only, and may be ignored.
//
// Source: Kafka GroupMetadataManager.onLoaded.
func (c *Core) Loaded(now time.Time) Effects {
	c.begin(now)
	c.loaded = true
	for _, g := range c.order {
		c.restore(g)
	}
	for _, g := range c.order {
		if len(g.members) > c.config.MaxGroupSize {
			c.prepareRebalance(g, cause{reason: fmt.Sprintf("%d members are more than the limit of %d", len(g.members), c.config.MaxGroupSize)})
		}
	}
	c.arm(&c.expiry.timer, c.config.RetentionCheckInterval)
	return c.end()
}

// Step reacts to one event. The request's token is answered in the returned effects or in those of a later call.
//
// Invariant: now is not before the now of any earlier call.
func (c *Core) Step(now time.Time, ev Event) Effects {
	c.begin(now)
	defer c.explain(ev)
	switch ev := ev.(type) {
	case *Request:
		c.request(ev)
	case *TopicsDeleted:
		c.topicsDeleted(ev)
	}
	return c.end()
}

// request hands a request to the file of its API.
func (c *Core) request(r *Request) {
	switch body := r.Body.(type) {
	case *kmsg.OffsetCommitRequest:
		c.offsetCommit(r, body)
	case *kmsg.HeartbeatRequest:
		c.heartbeat(r, body)
	case *kmsg.OffsetFetchRequest:
		c.offsetFetch(r, body)
	case *kmsg.JoinGroupRequest:
		c.joinGroup(r, body)
	case *kmsg.SyncGroupRequest:
		c.syncGroup(r, body)
	case *kmsg.LeaveGroupRequest:
		c.leaveGroup(r, body)
	case *kmsg.OffsetDeleteRequest:
		c.offsetDelete(r, body)
	case *kmsg.DescribeGroupsRequest:
		c.describeGroups(r, body)
	case *kmsg.ListGroupsRequest:
		c.listGroups(r, body)
	case *kmsg.DeleteGroupsRequest:
		c.deleteGroups(r, body)
	default:
		panic(c.bug("", fmt.Sprintf("request %T is not one of a group coordinator", body)))
	}
}

// Tick fires everything due at or before now, in the order of the deadlines. The work of one Tick is bounded even
// if a million offsets expire at once: see expire.go.
//
// Invariant: afterwards NextDeadline is after now.
func (c *Core) Tick(now time.Time) Effects {
	c.begin(now)
	defer c.explain(nil)
	for t := c.deadlines.due(c.now); t != nil; t = c.deadlines.due(c.now) {
		c.fire(t)
	}
	return c.end()
}

// NextDeadline returns when Tick must be called next; false if nothing is scheduled. Tick may then find that the
// deadline has moved on, and do nothing.
func (c *Core) NextDeadline() (time.Time, bool) {
	if len(c.deadlines.heap) == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, c.deadlines.heap[0].queued), true
}

// Parked returns the tokens that wait for an answer, in ascending order. A caller that gives the core up answers
// them itself, with NOT_COORDINATOR.
func (c *Core) Parked() []Token {
	var tokens []Token
	for _, g := range c.order {
		for _, m := range g.members {
			if m.join.waits {
				tokens = append(tokens, m.join.token)
			}
			if m.sync.waits {
				tokens = append(tokens, m.sync.token)
			}
		}
	}
	slices.Sort(tokens)
	return tokens
}

// begin empties the effects of the last call and moves the clock.
func (c *Core) begin(now time.Time) {
	ns := now.UnixNano()
	if ns < c.now {
		panic(c.bug("", fmt.Sprintf("the clock went back by %s", time.Duration(c.now-ns))))
	}
	c.now = ns
	c.effects.Records = emptied(c.effects.Records)
	c.effects.Replies = emptied(c.effects.Replies)
	c.effects.Notes = emptied(c.effects.Notes)
}

// keptCapacity bounds what a slice of effects keeps for the next event: enough for any usual one, not for the deletion of
// a million offsets.
const keptCapacity = 4096

// emptied makes a slice ready for reuse, without holding on to what it held.
func emptied[T any](s []T) []T {
	if cap(s) > keptCapacity {
		return nil
	}
	clear(s)
	return s[:0]
}

// end proves the invariants, if asked to, and hands the effects out.
func (c *Core) end() Effects {
	if c.config.Check {
		c.check()
	}
	return c.effects
}

// nowMs is the time in the unit of records.
func (c *Core) nowMs() int64 { return c.now / int64(time.Millisecond) }

// emit makes a fact durable and true: it goes into the effects and is applied, in this order and nowhere else.
func (c *Core) emit(rec Record) {
	c.effects.Records = append(c.effects.Records, rec)
	c.apply(rec)
}

// reply answers a token.
func (c *Core) reply(token Token, response kmsg.Response) {
	c.effects.Replies = append(c.effects.Replies, Reply{Token: token, Response: response})
}

// find returns a group, or nil if it does not exist.
func (c *Core) find(id string) *group {
	g := c.groups[id]
	if c.config.Check && g != nil {
		c.touched = append(c.touched, g)
	}
	return g
}

// create adds an empty group, which must not exist.
func (c *Core) create(id string) *group {
	g := newGroup(id, len(c.order))
	c.groups[id] = g
	c.order = append(c.order, g)
	if c.config.Check {
		c.touched = append(c.touched, g)
	}
	return g
}

// drop forgets a group. The last group of the order takes its place.
func (c *Core) drop(g *group) {
	for _, p := range g.pending {
		c.deadlines.disarm(&p.timer)
	}
	for _, m := range g.members {
		c.deadlines.disarm(&m.timer)
	}
	c.deadlines.disarm(&g.joinTimer)
	c.deadlines.disarm(&g.syncTimer)
	last := c.order[len(c.order)-1]
	c.order[g.position] = last
	last.position = g.position
	c.order[len(c.order)-1] = nil
	c.order = c.order[:len(c.order)-1]
	delete(c.groups, g.id)
	if c.lastUsed == g {
		c.lastUsed = nil
	}
	g.position = dropped
}

// intern returns the one copy of a topic's name.
func (c *Core) intern(topic string) string {
	if s, ok := c.topics[topic]; ok {
		return s
	}
	c.topics[topic] = topic
	return topic
}
