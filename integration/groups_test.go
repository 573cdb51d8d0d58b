package integration

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestGroupLife leads a group through everything that happens to one, under load, with each way to rebalance: two
// members share six partitions, a third joins, and leaves; a fourth joins, and is killed.
func TestGroupLife(t *testing.T) {
	t.Parallel()
	balancers := []struct {
		balancer    kgo.GroupBalancer
		cooperative bool
	}{
		{kgo.RangeBalancer(), false},
		{kgo.RoundRobinBalancer(), false},
		{kgo.CooperativeStickyBalancer(), true},
	}
	for _, b := range balancers {
		t.Run(b.balancer.ProtocolName(), func(t *testing.T) {
			t.Parallel()
			groupLife(t, b.balancer, b.cooperative)
		})
	}
}

func groupLife(t *testing.T, balancer kgo.GroupBalancer, cooperative bool) {
	b := dev(t)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "orders", 6)
	stop := feed(t, b.addr, "orders", 6)
	c := newCrew(b.addr, "crew", "orders", kgo.Balancers(balancer))

	one, two := c.join(t, "one"), c.join(t, "two")
	c.share(t, 3, one, two)
	describe(t, admin, c, balancer.ProtocolName(), one, two)

	_, mark := c.movesSince(0)
	three := c.join(t, "three")
	c.share(t, 2, one, two, three)
	describe(t, admin, c, balancer.ProtocolName(), one, two, three)
	moves, mark := c.movesSince(mark)
	checkRevoked(t, "a third joins", moves, cooperative, map[string]int{"one": 1, "two": 1})

	three.leave()
	c.share(t, 3, one, two)
	describe(t, admin, c, balancer.ProtocolName(), one, two)
	moves, _ = c.movesSince(mark)
	checkRevoked(t, "the third leaves", moves, cooperative, map[string]int{"three": 2})
	if twice := c.doubles(); len(twice) > 0 {
		t.Errorf("members came and went in good order, and yet these were seen twice: %v", twice)
	}

	const session = 500 * time.Millisecond
	four := c.join(t, "four", kgo.SessionTimeout(session))
	c.share(t, 2, one, two, four)
	describe(t, admin, c, balancer.ProtocolName(), one, two, four)
	c.mu.Lock()
	lost := slices.Sorted(maps.Keys(c.owned["four"]))
	c.mu.Unlock()
	_, mark = c.movesSince(0)
	log := b.stderr.count()
	killed := time.Now()
	four.wire.sever()
	b.event(t, log, "crew", "member-removed")
	if took := time.Since(killed); took < session-150*time.Millisecond || took > session+2*time.Second {
		t.Errorf("the killed member was removed after %v; its session is %v", took, session)
	}
	b.message(t, log, "sent no heartbeat for 500 ms")
	four.kill()
	c.share(t, 3, one, two)
	describe(t, admin, c, balancer.ProtocolName(), one, two)
	moves, _ = c.movesSince(mark)
	checkRevoked(t, "the fourth is killed", moves, cooperative, map[string]int{"four": 2})

	counts := stop()
	c.allSeen(t, counts)
	checkDoubles(t, c, lost, killed)
	checkErrors(t, c, "one", "two", "three")
	one.leave()
	two.leave()
	checkLag(t, admin, c, counts)
}

// describe checks that the broker tells of the group what its members see.
func describe(t *testing.T, admin *kadm.Client, c *crew, protocol string, members ...*member) {
	t.Helper()
	eventually(t, func() error {
		groups, err := admin.DescribeGroups(limited(t), c.group)
		if err == nil {
			err = groups.Error()
		}
		if err != nil {
			return err
		}
		g := groups[c.group]
		if g.State != "Stable" || g.Protocol != protocol || g.ProtocolType != "consumer" || len(g.Members) != len(members) {
			return fmt.Errorf("described as %s with %s and %d members, want Stable with %s and %d", g.State, g.Protocol, len(g.Members), protocol, len(members))
		}
		for _, m := range g.Members {
			assignment, ok := m.Assigned.AsConsumer()
			if !ok {
				return fmt.Errorf("the assignment of %s cannot be read", m.ClientID)
			}
			var described []int32
			for _, topic := range assignment.Topics {
				described = append(described, topic.Partitions...)
			}
			slices.Sort(described)
			c.mu.Lock()
			owned := slices.Sorted(maps.Keys(c.owned[m.ClientID]))
			c.mu.Unlock()
			if !slices.Equal(described, owned) || m.ClientHost != "/127.0.0.1" {
				return fmt.Errorf("%s (%s) is described with %v, and has %v", m.ClientID, m.ClientHost, described, owned)
			}
		}
		return nil
	})
}

// checkRevoked holds the callbacks of one step against the way of rebalancing: eager members give everything away,
// cooperative ones only what moves.
func checkRevoked(t *testing.T, step string, moves []move, cooperative bool, want map[string]int) {
	t.Helper()
	if !cooperative {
		for _, m := range moves {
			if m.kind == "lost" && want[m.member] == 0 {
				t.Errorf("%s: %s lost %v; nobody was fenced", step, m.member, m.partitions)
			}
		}
		return
	}
	got := map[string]int{}
	for _, m := range moves {
		if m.kind != "assigned" && len(m.partitions) > 0 {
			got[m.member] += len(m.partitions)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: cooperative members gave away %v, want only what moves: %v (%v)", step, got, want, moves)
	}
}

// checkDoubles checks that only the killed member's partitions were read twice, from its last acknowledged commit on,
// and no more of them than a commit interval holds.
func checkDoubles(t *testing.T, c *crew, lost []int32, killed time.Time) {
	t.Helper()
	const slack = 500 * time.Millisecond // for a busy machine
	for p, offsets := range c.doubles() {
		if !slices.Contains(lost, p) {
			t.Errorf("partition %d was read twice, and was not the killed member's (%v)", p, lost)
		}
		for offset, sights := range offsets {
			if committed := c.commits["four"][p]; offset < committed {
				t.Errorf("partition %d: offset %d was read twice; %d was committed and acknowledged", p, offset, committed)
			}
			if age := killed.Sub(sights[0].at); len(sights) > 2 || age > commitInterval+slack {
				t.Errorf("partition %d: offset %d was read %d times, first %v before the kill; the commit interval is %v", p, offset, len(sights), age, commitInterval)
			}
		}
	}
}

// checkErrors checks that members in good health have seen no error.
func checkErrors(t *testing.T, c *crew, names ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		for _, err := range c.errs[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkLag checks that the group is left empty with everything committed.
func checkLag(t *testing.T, admin *kadm.Client, c *crew, counts []int64) {
	t.Helper()
	lags, err := admin.Lag(limited(t), c.group)
	if err == nil {
		err = lags.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	lag := lags[c.group]
	if lag.State != "Empty" || len(lag.Members) != 0 {
		t.Errorf("after everybody left the group is %s with %d members", lag.State, len(lag.Members))
	}
	for p, n := range counts {
		l, ok := lag.Lag.Lookup(c.topic, int32(p))
		if !ok || l.Commit.At != n || l.End.Offset != n || l.Lag != 0 {
			t.Errorf("partition %d: committed %d, end %d, lag %d; want %d, %d, 0", p, l.Commit.At, l.End.Offset, l.Lag, n, n)
		}
	}
}
