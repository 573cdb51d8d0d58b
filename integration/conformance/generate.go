package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generate draws a history: what a few members and an administrator might send, right and wrong, at versions drawn at
// random. The same seed draws the same history. Timed: sessions and rebalances are short, so that they run out.
func Generate(seed uint64, timed bool) []string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), timed: timed}
	g.static = g.IntN(3) == 0
	g.topics = !timed && g.IntN(3) == 0
	n := 8 + g.IntN(22)
	var lines []string
	if g.topics {
		lines = append(lines, g.topicWithOffsets()...)
	}
	for range n {
		lines = append(lines, g.step())
	}
	return append(lines, "Z tries: DescribeGroups v6 Groups: [$g]", "Z tries: ListGroups v5",
		"Z tries: OffsetFetch v9 Groups: [{Group: $g, Topics: null}]")
}

type generator struct {
	*rand.Rand
	timed  bool
	static bool // members A and B have instances
	topics bool // a topic of the history's own comes and goes
}

// pick draws one of several texts.
func (g *generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// often draws the first text nine times in ten, and one of the others otherwise.
func (g *generator) often(usual string, others ...string) string {
	if g.IntN(10) > 0 {
		return usual
	}
	return g.pick(others...)
}

func (g *generator) step() string {
	m := g.pick("A", "A", "B", "B", "C")
	if g.topics {
		switch n := g.IntN(100); {
		case n < 20:
			return g.topicStep()
		case n < 35:
			return g.commit(m)
		case n < 45:
			return g.fetch()
		}
	}
	switch n := g.IntN(100); {
	case n < 34:
		return g.join(m)
	case n < 56:
		return g.sync(m)
	case n < 66:
		return fmt.Sprintf("%s tries: Heartbeat v%d MemberID: %s, Generation: %s%s", m, g.IntN(5), g.id(m), g.generation(), g.instance(m))
	case n < 78:
		return g.commit(m)
	case n < 84:
		return g.fetch()
	case n < 91:
		return g.leave(m)
	case n < 95:
		return fmt.Sprintf("Z tries: DescribeGroups v%d Groups: [$g]", g.IntN(7))
	case n < 97:
		return fmt.Sprintf("Z tries: ListGroups v%d StatesFilter: [%s]", g.IntN(6), g.pick("", "stable", "Empty", "preparingrebalance"))
	case n < 98:
		return fmt.Sprintf("Z tries: DeleteGroups v%d Groups: [$g]", g.IntN(3))
	default:
		return "Z tries: OffsetDelete v0 Topics: [{Topic: $t, Partitions: [{Partition: 0}, {Partition: 1}]}, {Topic: $u, Partitions: [{Partition: 0}]}]"
	}
}

// id is a member's own, or a wrong one.
func (g *generator) id(m string) string { return g.often("$"+m, "nobody", `""`, "$A", "$B") }

func (g *generator) generation() string { return g.often("$gen", "$gen+1", "$gen-1", "-1") }

func (g *generator) instance(m string) string {
	if !g.static || m == "C" {
		return ""
	}
	return ", InstanceID: " + g.often("i"+m, "null", "iX", "iA")
}

func (g *generator) timeouts() string {
	if !g.timed {
		return ", SessionTimeoutMillis: 300000, RebalanceTimeoutMillis: 300000"
	}
	// Between the times of steps, which are multiples of 450 ms.
	at := []int{600, 1050, 1500, 2400}
	return fmt.Sprintf(", SessionTimeoutMillis: %d, RebalanceTimeoutMillis: %d", at[g.IntN(len(at))], at[g.IntN(len(at))])
}

func (g *generator) join(m string) string {
	id := "$" + m
	if g.static && g.IntN(2) == 0 {
		id = `""`
	} else if g.IntN(12) == 0 {
		id = g.pick(`""`, "nobody", "$A", "$B")
	}
	protocols := g.pick("{Name: range, Metadata: M}", "{Name: range, Metadata: M}", "{Name: range, Metadata: M}, {Name: roundrobin, Metadata: R}",
		"{Name: roundrobin, Metadata: R}, {Name: range, Metadata: M}", "{Name: range, Metadata: N}")
	if g.IntN(30) == 0 {
		protocols = g.pick("", "{Name: sticky, Metadata: S}")
	}
	kind := ""
	if g.IntN(40) == 0 {
		kind = `, ProtocolType: ` + g.pick("connect", `""`)
	}
	return fmt.Sprintf("%s tries: JoinGroup v%d MemberID: %s, Protocols: [%s]%s%s%s", m, g.version(9), id, protocols, kind, g.instance(m), g.timeouts())
}

// version draws a version, the highest half of the time.
func (g *generator) version(highest int) int {
	if g.IntN(2) == 0 {
		return highest
	}
	return g.IntN(highest + 1)
}

func (g *generator) sync(m string) string {
	var parts []string
	for _, name := range []string{"A", "B", "C"} {
		if g.IntN(8) > 0 {
			parts = append(parts, fmt.Sprintf("{MemberID: $%s, MemberAssignment: %s%d}", name, name, g.IntN(3)))
		}
	}
	if g.IntN(6) == 0 {
		parts = nil
	}
	return fmt.Sprintf("%s tries: SyncGroup v%d MemberID: %s, Generation: %s, Protocol: %s, GroupAssignment: [%s]%s",
		m, g.version(5), g.id(m), g.generation(), g.often("$proto", "other", "null"), strings.Join(parts, ", "), g.instance(m))
}

func (g *generator) commit(m string) string {
	who := fmt.Sprintf("MemberID: %s, Generation: %s%s", g.id(m), g.generation(), g.instance(m))
	if g.IntN(4) == 0 {
		m, who = "Z", "Generation: -1"
	}
	topic := g.commitTopic()
	return fmt.Sprintf("%s tries: OffsetCommit v%d %s, Topics: [{%s, Partitions: [{Partition: %d, Offset: %d, LeaderEpoch: %d, Metadata: %s}]}]",
		m, 2+g.version(8), who, topic, g.IntN(4), g.IntN(100), g.IntN(3)-1, g.pick("m", "null", `""`))
}

func (g *generator) fetch() string {
	topics := g.fetchTopics()
	version := 1 + g.version(9)
	if version == 1 && topics == "null" {
		topics = "[]"
	}
	if version < 8 {
		return fmt.Sprintf("Z tries: OffsetFetch v%d Group: $g, Topics: %s", version, strings.NewReplacer("ID ", "", "OLD ", "").Replace(topics))
	}
	withIDs := strings.NewReplacer("$t, ID ", "$t, TopicID: $t.id, ", "$u, ID ", "$u, TopicID: $u.id, ",
		"$d, ID ", "$d, TopicID: $d.id, ", "$d, OLD ", "$d, TopicID: $d.old, ").Replace(topics)
	return fmt.Sprintf("Z tries: OffsetFetch v%d Groups: [{Group: $g, Topics: %s}]", version, withIDs)
}

func (g *generator) leave(m string) string {
	id := g.id(m)
	entry := "{MemberID: " + id + g.instance(m) + "}"
	if g.static && g.IntN(2) == 0 {
		entry = `{MemberID: ""` + g.instance("A") + "}"
	}
	if g.IntN(6) == 0 {
		entry += ", {MemberID: $B}"
	}
	return fmt.Sprintf("Z tries: LeaveGroup v%d MemberID: %s, Members: [%s]", g.version(5), id, entry)
}
