package coordinator

import (
	"fmt"
	"strings"
)

// traceLength is how many notes a core remembers for the report of a bug: enough for the last rebalances of a few
// groups, and a fixed amount of memory.
const traceLength = 256

// trace is a ring of the last notes.
type trace struct {
	notes [traceLength]Note
	next  int
}

// note reports a decision about a group.
func (c *Core) note(g *group, kind NoteKind, reason string) {
	c.record(Note{Kind: kind, Group: g.id, Generation: g.generation, State: g.state, Reason: reason})
}

// noteMember reports a decision about a member.
func (c *Core) noteMember(g *group, kind NoteKind, member, clientHost, reason string) {
	c.record(Note{
		Kind: kind, Group: g.id, Generation: g.generation, State: g.state,
		Member: member, ClientHost: clientHost, Reason: reason,
	})
}

func (c *Core) record(n Note) {
	c.effects.Notes = append(c.effects.Notes, n)
	c.trace.notes[c.trace.next%traceLength] = n
	c.trace.next++
}

// Bug is what the core panics with: a mistake of ours, never of a client. After it the core must not be used; the
// caller drops it and replays the log.
type Bug struct {
	Group  string // "" if it is not about one group
	Reason string
	Seed   uint64
	Trace  []string // the last notes, of the group if there is one, oldest first
}

// Error is the whole report, so that a bare panic prints it.
func (b *Bug) Error() string {
	return fmt.Sprintf("coordinator bug in group %q (seed %d): %s\n%s", b.Group, b.Seed, b.Reason, strings.Join(b.Trace, "\n"))
}

// bug builds the report.
func (c *Core) bug(group, reason string) *Bug {
	b := &Bug{Group: group, Reason: reason, Seed: c.seed}
	for i := max(0, c.trace.next-traceLength); i < c.trace.next; i++ {
		if n := c.trace.notes[i%traceLength]; group == "" || n.Group == group {
			b.Trace = append(b.Trace, n.String())
		}
	}
	if g := c.groups[group]; g != nil {
		b.Trace = append(b.Trace, fmt.Sprintf("%s: now generation %d, %s, %d members, %d joined, %d pending, %d not synced",
			g.id, g.generation, g.state, len(g.members), g.awaitingJoin, len(g.pending), g.awaitingSync))
	}
	return b
}

// explain turns a panic of the runtime (an index out of range, a nil pointer) into a Bug that says what was going on.
func (c *Core) explain(ev Event) {
	r := recover()
	if r == nil {
		return
	}
	if b, ok := r.(*Bug); ok {
		panic(b)
	}
	group, what := "", "a deadline"
	switch ev := ev.(type) {
	case *Request:
		group, what = groupOf(ev), fmt.Sprintf("%T version %d", ev.Body, ev.Body.GetVersion())
	case *TopicsDeleted:
		what = fmt.Sprintf("topics deleted %q", ev.Topics)
	}
	panic(c.bug(group, fmt.Sprintf("%v, while handling %s", r, what)))
}
