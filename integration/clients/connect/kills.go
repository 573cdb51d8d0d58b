package connect

import (
	"slices"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// workerKilled: a worker is killed when all is stored, and again in the middle of work. Its successor goes on where the
// first was: after the first kill everything is there once, after the second everything at least once, and nothing from
// before.
func workerKilled(t *harness.T, folder *jvm.Folder) {
	b, admin := serve(t)
	dir := t.TempDir()
	w := start(t, folder, b, dir, brief)
	w.feed(t, 1, 50)
	w.source(t)
	w.sink(t)
	awaitLines(t, b, 50)
	awaitCommitted(t, b)
	w.awaitStored(t, b, 50)
	former := harness.Describe(t, admin, workers)
	w.process.Kill()

	w.feed(t, 51, 100)
	w = start(t, folder, b, dir, brief)
	awaitLines(t, b, 100)
	awaitCommitted(t, b)
	w.awaitStored(t, b, 100)
	times, records := inLog(t, b)
	every(t, times, 100, true)
	all(t, w.sunk(t), records, true)
	if now := harness.Describe(t, admin, workers); len(now.Members) != 1 || now.Members[0].MemberID == former.Members[0].MemberID {
		t.Errorf("the workers' group has %d members, of which the first is %s", len(now.Members), now.Members[0].MemberID)
	}

	const many = 20_000
	w.feed(t, 101, many)
	awaitLines(t, b, 1000)
	w.process.Kill()
	if at := stored(t, b); at >= many {
		t.Fatalf("the source had sent everything when it was killed")
	}
	w = start(t, folder, b, dir, brief)
	w.awaitStored(t, b, many)
	awaitCommitted(t, b)
	times, records = inLog(t, b)
	every(t, times, many, false)
	all(t, w.sunk(t), records, false)
	for i := 1; i <= 100; i++ {
		if times[i] != 1 {
			t.Errorf("line %d, of before the kill before, lies in the topic %d times", i, times[i])
		}
	}
}

// brokerKilled: the broker is killed in the middle of work. Worker and sinks keep their seats, and nothing is lost. The
// generation of the sinks may grow: where the leader's client finds the broker away, it forgets all topics
// (metadata.recovery.strategy=rebootstrap), and may take that for a change of the topic and join again.
func brokerKilled(t *harness.T, folder *jvm.Folder) {
	b, admin := serve(t)
	w := start(t, folder, b, t.TempDir(), "")
	w.feed(t, 1, 50)
	w.source(t)
	w.sink(t)
	awaitLines(t, b, 50)
	awaitCommitted(t, b)
	harness.AwaitGroup(t, admin, sinks, "Stable", 2)
	seats := func() (all []string) {
		for _, group := range []string{workers, sinks} {
			for _, m := range harness.Describe(t, admin, group).Members {
				all = append(all, group+" "+m.MemberID)
			}
		}
		slices.Sort(all)
		return all
	}
	before, generation := seats(), b.Generation(workers)

	const many = 20_000
	w.feed(t, 51, many)
	awaitLines(t, b, 1000)
	b.Kill()
	b.Restart(t)
	w.awaitStored(t, b, many)
	awaitCommitted(t, b)
	times, records := inLog(t, b)
	every(t, times, many, false)
	all(t, w.sunk(t), records, false)
	if now := seats(); !slices.Equal(now, before) {
		t.Errorf("members before the kill: %v, and after it: %v", before, now)
	}
	if now := b.Generation(workers); now != generation {
		t.Errorf("the workers' generation was %d before the kill, and is %d", generation, now)
	}
	w.await(t, "source", "RUNNING")
	w.await(t, "sink", "RUNNING")
}
