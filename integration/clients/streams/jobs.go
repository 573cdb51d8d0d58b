package streams

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

const allTasks = "0_0 0_1 1_0 1_1" // two halves of the topology with two partitions each

// count: the topology with its repartition topic, which is trimmed as it is read, and its changelog.
func count(t *harness.T, folder *jvm.Folder) {
	m := newModel(t)
	a := start(t, folder, m.b, t.TempDir())
	harness.AwaitGroup(t, m.admin, group, "Stable", 1)
	if g := harness.Describe(t, m.admin, group); g.ProtocolType != "consumer" || g.Protocol != "stream" {
		t.Errorf("the application's group has protocol type %s and protocol %s", g.ProtocolType, g.Protocol)
	}
	a.awaitTasks(t, allTasks)
	for topic, want := range map[string]string{changelog: "2 compact", repartition: "2 delete -1"} {
		if got := internal(t, m, topic); got != want {
			t.Errorf("topic %s: %s, want %s", topic, got, want)
		}
	}

	for range 5 {
		m.send(t, 100)
	}
	m.settle(t)
	m.check(t, a)
	for _, words := range m.read(t, "counts") {
		for word, counts := range words {
			for i, n := range counts {
				if n != int64(i+1) {
					t.Fatalf("the counts of %s are %v", word, counts)
				}
			}
		}
	}
	harness.Until(t, "the repartition topic is trimmed to what is committed", func() bool {
		starts, err := m.admin.ListStartOffsets(harness.Limited(t), repartition)
		if err != nil {
			t.Fatal(err)
		}
		committed := harness.Committed(t, m.admin, group, repartition)
		return committed[0]+committed[1] == int64(m.sent) &&
			starts[repartition][0].Offset == committed[0] && starts[repartition][1].Offset == committed[1]
	})

	if _, err := fmt.Fprintln(a.stdin, "close"); err != nil {
		t.Fatal(err)
	}
	if code := a.process.Code(t, harness.Patience); code != 0 {
		t.Errorf("the application ended with exit code %d", code)
	}
}

// internal is a topic's number of partitions and how it is cleaned.
func internal(t *harness.T, m *model, topic string) string {
	t.Helper()
	configs, err := m.admin.DescribeTopicConfigs(harness.Limited(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, c := range configs[0].Configs {
		said[c.Key] = c.MaybeValue()
	}
	s := fmt.Sprint(len(harness.Ends(t, m.admin, topic)), " ", said["cleanup.policy"])
	if said["cleanup.policy"] == "delete" {
		s += " " + said["retention.ms"]
	}
	return s
}

// killed: the application is killed when all is committed, and starts again with the state that it has kept; then it is
// killed again, and starts without.
func killed(t *harness.T, folder *jvm.Folder) {
	m := newModel(t)
	dir := filepath.Join(t.TempDir(), "state")
	a := start(t, folder, m.b, dir, brief...)
	m.send(t, 300)
	m.settle(t)
	m.check(t, a)
	for _, wipe := range []bool{false, true} {
		a.process.Kill()
		m.send(t, 100)
		if wipe {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		a = start(t, folder, m.b, dir, brief...)
		m.settle(t)
		m.check(t, a)
	}
}

// twoInstances: the tasks are shared, and the one that stays gets them all when the other is killed.
func twoInstances(t *harness.T, folder *jvm.Folder) {
	m := newModel(t)
	stays := start(t, folder, m.b, t.TempDir(), brief...)
	m.send(t, 300)
	dies := start(t, folder, m.b, t.TempDir(), brief...)
	harness.AwaitGroup(t, m.admin, group, "Stable", 2)
	harness.Until(t, "both instances have two tasks", func() bool {
		one, other := stays.ask(t, "tasks"), dies.ask(t, "tasks")
		both := slices.Sorted(slices.Values(append(slices.Clone(one), other...)))
		return len(one) == 2 && len(other) == 2 && strings.Join(both, " ") == allTasks
	})
	m.settle(t)
	m.check(t, stays, dies)
	before := m.b.Generation(group)

	dies.process.Kill()
	m.send(t, 300)
	harness.AwaitGroup(t, m.admin, group, "Stable", 1)
	m.settle(t)
	m.check(t, stays)
	stays.awaitTasks(t, allTasks)
	if now := m.b.Generation(group); now <= before {
		t.Errorf("the generation was %d before the takeover, and is %d", before, now)
	}
}

// brokerKilled: the broker is killed in the middle of work. The application keeps its seat and its counts.
func brokerKilled(t *harness.T, folder *jvm.Folder) {
	m := newModel(t)
	a := start(t, folder, m.b, t.TempDir())
	m.send(t, 100)
	m.settle(t)
	seat := func() string { return harness.Describe(t, m.admin, group).Members[0].MemberID }
	before := seat()

	m.send(t, 20_000)
	harness.Until(t, "the application is at work", func() bool {
		ends := harness.Ends(t, m.admin, "counts")
		return ends[0]+ends[1] > 1000
	})
	m.b.Kill()
	m.b.Restart(t)
	m.send(t, 100)
	m.settle(t)
	m.check(t, a)
	if now := seat(); now != before {
		t.Errorf("the application was %s before the broker was killed, and is %s", before, now)
	}
	sum := int64(0)
	for n := range maps.Values(m.counts) {
		sum += n
	}
	if ends := harness.Ends(t, m.admin, "counts"); ends[0]+ends[1] != sum {
		t.Errorf("topic counts has %d records, want one for each of %d words", ends[0]+ends[1], sum)
	}
}
