package kafkatools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// said is a line of VerifiableProducer or VerifiableConsumer.
type said struct {
	Name       string
	Value      string
	Offset     int64
	Partition  int32
	Acked      int
	Count      int
	Partitions []struct {
		Partition            int32
		MinOffset, MaxOffset int64
	}
}

// heard are the lines so far.
func heard(p *harness.Process) (all []said) {
	lines, _, _ := p.Stdout.Snapshot()
	for _, line := range lines {
		var s said
		if json.Unmarshal([]byte(line), &s) == nil {
			all = append(all, s)
		}
	}
	return all
}

// verifiable: VerifiableProducer while the broker is killed and started again. What was acknowledged is in the log, where
// it was said to be, and, as this producer does not try again, once. What was on its way when the broker went may have failed,
// but nothing that came later.
func verifiable(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	harness.CreateTopic(t, b.Admin(t), "orders", 2)
	p := folder.Start(t, verifiableP, "--bootstrap-server", b.Addr, "--topic", "orders", "--max-messages", "3000", "--throughput", "1000")
	p.Stdout.Wait(t, 0, harness.Patience, "500 acknowledged records", func(string) bool { return p.Stdout.Count() > 500 })
	b.Kill()
	b.Restart(t)
	if code := p.Code(t, harness.Patience); code != 0 {
		t.Errorf("VerifiableProducer ended with exit code %d\n%s", code, p.Stderr.Text())
	}

	log, times := map[string]string{}, map[string]int{}
	for partition, records := range harness.Read(t, b, "orders") {
		for _, r := range records {
			times[string(r.Value)]++
			log[string(r.Value)] = fmt.Sprintf("%d@%d", partition, r.Offset)
		}
	}
	acked, told, newest, failed := 0, 0, 0, -1
	for _, s := range heard(p) {
		switch s.Name {
		case "producer_send_success":
			acked++
			newest = max(newest, number(t, s.Value))
			if at := fmt.Sprintf("%d@%d", s.Partition, s.Offset); log[s.Value] != at {
				t.Errorf("record %s was acknowledged at %s, and lies at %q", s.Value, at, log[s.Value])
			}
		case "producer_send_error":
			if n := number(t, s.Value); failed < 0 || n < failed {
				failed = n
			}
		case "tool_data":
			told = s.Acked
		}
	}
	equal(t, "the tool's own count", told, acked)
	if acked < 500 || newest < failed {
		t.Errorf("%d records were acknowledged, of which the newest is %d; the first that failed is %d", acked, newest, failed)
	}
	for value, n := range times {
		if n != 1 {
			t.Errorf("record %s lies in the log %d times", value, n)
		}
	}
}

// number is a record's value.
func number(t *harness.T, value string) int {
	t.Helper()
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatalf("a record has the value %q: %v", value, err)
	}
	return n
}

// takeover: two VerifiableConsumers, one of which is killed, and the broker once.
func takeover(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	admin := b.Admin(t)
	harness.CreateTopic(t, admin, "orders", 2)
	start := func() *harness.Process {
		return folder.Start(t, verifiableC, "--bootstrap-server", b.Addr, "--topic", "orders", "--group-id", "shop", "--reset-policy", "earliest",
			"--session-timeout", "6000", "--group-protocol", "classic")
	}
	stays, dies := start(), start()
	harness.AwaitGroup(t, admin, "shop", "Stable", 2)
	harness.Produce(t, b.Client(t), "orders", 2, 0, 100, time.Time{})
	awaitCommitted(t, admin, map[int32]int64{0: 50, 1: 50})
	before := b.Generation("shop")

	dies.Kill()
	b.Kill()
	b.Restart(t)
	harness.Produce(t, b.Client(t), "orders", 2, 100, 100, time.Time{})
	harness.AwaitGroup(t, admin, "shop", "Stable", 1)
	awaitCommitted(t, admin, map[int32]int64{0: 100, 1: 100})
	if now := b.Generation("shop"); now <= before {
		t.Errorf("the generation was %d before the takeover, and is %d", before, now)
	}

	seen := map[string]int{}
	for _, p := range []*harness.Process{stays, dies} {
		for _, s := range heard(p) {
			if s.Name != "records_consumed" {
				continue
			}
			for _, part := range s.Partitions {
				for o := part.MinOffset; o <= part.MaxOffset; o++ {
					seen[fmt.Sprintf("%d@%d", part.Partition, o)]++
				}
			}
		}
	}
	equal(t, "records that a consumer saw", len(seen), 200)
	if again := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(at string) bool { return seen[at] == 1 }); len(again) > 0 {
		t.Errorf("all had been committed before the kill, yet these were read again: %s", strings.Join(again, " "))
	}
}
