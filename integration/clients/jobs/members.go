package jobs

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kohort/kohort/integration/clients/harness"
)

// autoCommit is the interval of automatic commits in jobs that count what is read twice.
const autoCommit = 500 * time.Millisecond

// slack is what a busy machine adds to the commit interval.
const slack = 5 * time.Second

// members lets two members share six partitions; a third joins, and leaves; the second is killed. All the time records
// come in.
func members(t *testing.T, c *Client, strategy string) {
	const partitions = 6
	b := harness.Serve(t)
	admin := b.Admin(t)
	harness.CreateTopic(t, admin, "t", partitions)
	args := []string{"reset=earliest", "commit=auto", fmt.Sprintf("auto_ms=%d", autoCommit.Milliseconds()), "strategy=" + strategy}
	if !c.Auto {
		args[1] = c.mode()
	}
	stop := feed(t, b, "t", partitions)
	w1 := c.consume(t, b.Addr, "m1", "g", "t", args...)
	own(t, partitions, 6, w1)
	w2 := c.consume(t, b.Addr, "m2", "g", "t", args...)
	own(t, partitions, 3, w1, w2)
	agree(t, admin, "g", "t", w1, w2)
	two := b.Generation("g")

	moves1, moves2 := len(w1.of("assigned")), len(w2.of("assigned"))
	w3 := c.consume(t, b.Addr, "m3", "g", "t", args...)
	own(t, partitions, 2, w1, w2, w3)
	agree(t, admin, "g", "t", w1, w2, w3)
	three := b.Generation("g")
	if strategy == "cooperative" {
		kept(t, w1, moves1)
		kept(t, w2, moves2)
	}
	reading(t, w1, w2, w3)

	w3.close(t)
	own(t, partitions, 3, w1, w2)
	agree(t, admin, "g", "t", w1, w2)
	left := b.Generation("g")
	reading(t, w1, w2)
	checkTwice(t, seen(w1, w2, w3), 0, "while members came and left in good order")

	lost := slices.Clone(w2.owned())
	committed := harness.Committed(t, admin, "g", "t")
	killed := time.Now()
	w2.crash(t)
	mine := seen(w1, w2, w3)
	own(t, partitions, 6, w1)
	if took := time.Since(killed); took < session-2*time.Second {
		t.Errorf("the partitions of a killed member changed hands after %v, its session is %v", took, session)
	}
	agree(t, admin, "g", "t", w1)
	heir := b.Generation("g")
	if !(0 < two && two < three && three < left && left < heir) {
		t.Errorf("generations: %d with two members, %d with three, %d after one left, %d after the kill", two, three, left, heir)
	}
	ends := stop()
	t.Cleanup(func() { lostBetween(t, ends, w1, w2, w3) })
	untilAll(t, fmt.Sprintf("every record up to %v, read by somebody", ends), func() bool {
		all := seen(w1, w2, w3)
		return missing(nil, ends, all) <= c.dropped(ends, all, w2)+c.dropped(ends, all, w3)
	}, w1)
	whole := seen(w1, w2, w3)
	for _, p := range lost {
		for o := range committed[p] {
			if whole[p][o] > mine[p][o] {
				t.Errorf("%d-%d was read again, though %d was committed before the kill", p, o, committed[p])
			}
		}
	}
	checkTwice(t, seen(w1, w2, w3), session, "in all")
	if c.Auto {
		harness.Until(t, fmt.Sprintf("automatic commits of %v", ends), func() bool { return maps.Equal(harness.Committed(t, admin, "g", "t"), ends) })
	}
	w1.close(t)
	harness.AwaitGroup(t, admin, "g", "Empty", 0)
}

// dropped counts the records that nobody read and that follow right after what a member read until it ended, up to as many
// as a member of this client may lose then.
func (c *Client) dropped(ends map[int32]int64, all map[int32]map[int64]int, ended *worker) (n int64) {
	if c.Drops == 0 {
		return 0
	}
	for p, offsets := range seen(ended) {
		after := slices.Max(slices.Collect(maps.Keys(offsets))) + 1
		for ; after < ends[p] && all[p][after] == 0; after++ {
			n++
		}
	}
	return min(n, c.Drops)
}

// lostBetween names each record that nobody read, with those who read the ones before and after it.
func lostBetween(t *testing.T, ends map[int32]int64, workers ...*worker) {
	who := map[int32]map[int64][]string{}
	for _, w := range workers {
		for p, offsets := range seen(w) {
			for o := range offsets {
				if who[p] == nil {
					who[p] = map[int64][]string{}
				}
				who[p][o] = append(who[p][o], w.name)
			}
		}
	}
	for p, end := range ends {
		for o := range end {
			if len(who[p][o]) == 0 {
				t.Logf("%d-%d was read by nobody; the one before by %v, the one after by %v", p, o, who[p][o-1], who[p][o+1])
			}
		}
	}
}

// reading waits until each of the workers reads on in each partition that it owns.
func reading(t *testing.T, workers ...*worker) {
	t.Helper()
	before := make([]int, len(workers))
	for i, w := range workers {
		before[i] = len(w.records())
	}
	untilAll(t, "every member reads on in all its partitions", func() bool {
		for i, w := range workers {
			fresh := map[int32]bool{}
			for _, r := range w.records()[before[i]:] {
				fresh[r.Partition] = true
			}
			for _, p := range w.owned() {
				if !fresh[p] {
					return false
				}
			}
		}
		return true
	}, workers...)
}

// agree checks that the broker names the same owners as the workers do.
func agree(t *testing.T, admin *kadm.Client, group, topic string, workers ...*worker) {
	t.Helper()
	harness.Until(t, "broker and members name the same owners", func() bool {
		d := harness.Describe(t, admin, group)
		if d.State != "Stable" || len(d.Members) != len(workers) {
			return false
		}
		for _, w := range workers {
			if !slices.ContainsFunc(d.Members, func(m kadm.DescribedGroupMember) bool {
				a, ok := m.Assigned.AsConsumer()
				if !ok || len(a.Topics) != 1 || a.Topics[0].Topic != topic {
					return false
				}
				return slices.Equal(slices.Sorted(slices.Values(a.Topics[0].Partitions)), w.owned())
			}) {
				return false
			}
		}
		return true
	})
}

// kept checks that a member, from a move on, never gave up what it owns in the end.
func kept(t *testing.T, w *worker, from int) {
	t.Helper()
	for _, move := range w.of("assigned")[from:] {
		for _, p := range w.owned() {
			if !slices.Contains(move.Partitions, p) {
				t.Errorf("%s keeps %v in the end, and owned only %v in between", w.name, w.owned(), move.Partitions)
			}
		}
	}
}

// checkTwice bounds how many records of a partition were read more than once: what was produced in the commit interval,
// in the slack, and in the time that the takeover took.
func checkTwice(t *testing.T, seen map[int32]map[int64]int, takeover time.Duration, when string) {
	t.Helper()
	bound := int((autoCommit + slack + takeover) / (6 * feedPace))
	total := 0
	for p, offsets := range seen {
		twice := 0
		for _, n := range offsets {
			if n > 1 {
				twice++
			}
		}
		total += twice
		if twice > bound {
			t.Errorf("%s: %d records of partition %d were read twice, at most %d may be", when, twice, p, bound)
		}
	}
	t.Logf("%s: %d records were read twice", when, total)
}

// static kills a static member and starts it again within its session.
func static(t *testing.T, c *Client) {
	const partitions = 6
	b := harness.Serve(t)
	admin, client := b.Admin(t), b.Client(t)
	harness.CreateTopic(t, admin, "t", partitions)
	args := []string{"reset=earliest", c.mode(), "auto_ms=500", "session_ms=25000"} // a JVM on a busy machine is back by then
	if len(c.Strategies) > 0 {
		args = append(args, "strategy="+c.Strategies[0]) // one that gives a member that forgot everything the same again
	}
	start := func(name, instance string) *worker {
		return c.consume(t, b.Addr, name, "g", "t", append(args, "instance="+instance)...)
	}
	w1 := start("s1", "one")
	own(t, partitions, partitions, w1)
	w2 := start("s2", "two")
	own(t, partitions, 3, w1, w2)
	agree(t, admin, "g", "t", w1, w2)
	harness.Produce(t, client, "t", partitions, 0, 60, time.Time{})
	first := harness.Ends(t, admin, "t")
	readAll(t, first, w1, w2)
	c.settle1(t, w1)
	c.settle1(t, w2)
	harness.Until(t, fmt.Sprintf("commits of %v", first), func() bool { return maps.Equal(harness.Committed(t, admin, "g", "t"), first) })

	generation, mine, moves, from := b.Generation("g"), w1.owned(), len(w2.of("assigned")), len(b.Log())
	w1.crash(t)
	again := start("s1", "one")
	again.until(t, fmt.Sprintf("the partitions %v again", mine), func() bool { return slices.Equal(again.owned(), mine) })
	harness.Produce(t, client, "t", partitions, 60, 60, time.Time{})
	second := harness.Ends(t, admin, "t")
	readRange(t, first, second, again, w2)
	if got := b.Generation("g"); got != generation {
		t.Errorf("generation %d after the restart, %d before", got, generation)
	}
	if n := len(w2.of("assigned")); n != moves {
		t.Errorf("the other member was moved: %+v", w2.of("assigned")[moves:])
	}
	for _, l := range b.Log()[from:] {
		if l.Group == "g" && l.Event == "rebalance-started" {
			t.Errorf("a rebalance: %s", l.Message)
		}
	}
	agree(t, admin, "g", "t", again, w2)
	again.close(t)
	w2.close(t)
}

// settle1 makes one of several workers commit, if it does so on demand.
func (c *Client) settle1(t *testing.T, w *worker) {
	t.Helper()
	if !c.Can("commit") {
		return
	}
	if got := w.ask(t, "commit"); got.Event != "committed" {
		t.Errorf("%s: commit: %+v", w.name, got)
	}
}
