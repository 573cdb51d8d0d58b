package offsetbytes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// kohort is the built program.
var kohort string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kohort-bytes-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	kohort = filepath.Join(dir, "kohort")
	build := exec.Command("go", "build", "-o", kohort, "./cmd/kohort")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build ./cmd/kohort: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// imported imports the recorded directory of Kafka 4.4.0 and starts a broker on the result.
func imported(t *testing.T) *History {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, kohort, "import-offsets", "testdata/kafka", "--data", data, "--topics", "-o", "json").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var report struct {
		Aborted, Open int
		Skipped       []struct {
			Family  string
			Records int
		}
		Damage []any
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if report.Aborted != 1 || report.Open != 1 || len(report.Skipped) != 2 || len(report.Damage) != 0 {
		t.Errorf("import: %+v", report)
	}
	b, err := broker.Start(t.Context(), broker.Config{
		DataDir: data, Profile: settings.Dev, NoSync: true, Properties: map[string]string{
			// The recording becomes older every day.
			"offsets.retention.minutes": "2000000000", "log.retention.ms": "-1", "group.initial.rebalance.delay.ms": "0",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	h, err := NewHistory(t.Context(), b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// recorded is what Kafka said about its groups and topics when the recording was made.
func recorded(t *testing.T) *Truth {
	t.Helper()
	text, err := os.ReadFile("testdata/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	truth := &Truth{}
	if err := json.Unmarshal(text, truth); err != nil {
		t.Fatal(err)
	}
	return truth
}

// Every group and offset of Kafka's directory is found, and every partition begins and ends where it did. What is
// different: a consumer group (KIP-848) is here one that only has offsets, and Kafka's end of a log includes the open
// transaction, as ours does.
func TestImportedGroups(t *testing.T) {
	h, want := imported(t), recorded(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := h.Truth(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Groups) < 14 || len(want.Topics) < 7 {
		t.Fatalf("the recording has %d groups and %d partitions", len(want.Groups), len(want.Topics))
	}
	for i := range want.Groups {
		if g := &want.Groups[i]; g.Type == "consumer" {
			g.Type, g.ProtocolType = "classic", ""
		}
	}
	for i := range got.Groups {
		got.Groups[i].Type = "classic"
	}
	if !reflect.DeepEqual(got.Groups, want.Groups) {
		t.Errorf("groups\n%+v, want\n%+v", got.Groups, want.Groups)
	}
	if !reflect.DeepEqual(got.Topics, want.Topics) {
		t.Errorf("logs\n%+v, want\n%+v", got.Topics, want.Topics)
	}
}

// A consumer that moves to Kohort gets exactly what it had not committed in Kafka, whichever client it was.
func TestImportedConsumersResume(t *testing.T) {
	h := imported(t)
	moved := 0
	for _, g := range recorded(t).Groups {
		if g.Type != "classic" || g.ProtocolType != "consumer" || g.Members > 0 {
			continue
		}
		moved++
		want := map[string]bool{}
		for partition := range int32(3) {
			from := int64(0)
			if partition == 2 {
				from = 2 // where its log begins
			}
			for _, o := range g.Offsets {
				if o.Partition == partition {
					from = o.Offset
				}
			}
			for offset := from; offset < 10; offset++ {
				want[fmt.Sprintf("orders-%d-%d", partition, offset)] = true
			}
		}
		if got := rest(t, h, g.Name, len(want)); !maps.Equal(got, want) {
			t.Errorf("%s got %v, want %v", g.Name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
	if moved != 4 {
		t.Errorf("%d groups moved, want 4: of two balancers, of kcat and of Java", moved)
	}
}

// rest joins a group and takes all records that there are for it: n, and none within the time that a fetch waits.
func rest(t *testing.T, h *History, group string, n int) map[string]bool {
	t.Helper()
	c, err := h.client(
		"mover", kgo.ConsumerGroup(group), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(),
		kgo.Balancers(kgo.RangeBalancer(), kgo.CooperativeStickyBalancer()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := map[string]bool{}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(got) < n && ctx.Err() == nil {
		for _, r := range c.PollFetches(ctx).Records() {
			got[string(r.Value)] = true
		}
	}
	ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for _, r := range c.PollFetches(ctx).Records() {
		got[string(r.Value)] = true
	}
	return got
}

// The static member of Kafka's group has its seat here, too: it comes back without a new generation.
func TestImportedStaticMember(t *testing.T) {
	h := imported(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := h.client(
		"client-static", kgo.ConsumerGroup("static"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(),
		kgo.Balancers(kgo.RoundRobinBalancer()), kgo.InstanceID("seat-1"), kgo.SessionTimeout(5*time.Minute),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.PollFetches(ctx).Err0(); err != nil {
		t.Fatal(err)
	}
	if _, generation := c.GroupMetadata(); generation != 1 {
		t.Errorf("generation %d, and it was 1 in Kafka", generation)
	}
}

// Readers of the log see what they saw in Kafka as readers of committed records: no record of an aborted transaction.
func TestImportedTransactions(t *testing.T) {
	h := imported(t)
	c, err := h.client("reader", kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"payments": {0: kgo.NewOffset().AtStart()}}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []string
	for len(got) < 2 && ctx.Err() == nil {
		for _, r := range c.PollFetches(ctx).Records() {
			got = append(got, string(r.Value))
		}
	}
	if want := []string{"committed", "overtaken"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A compacted log keeps the holes that Kafka's cleaner left: it begins at 0, and its first record is further on.
func TestImportedHoles(t *testing.T) {
	h := imported(t)
	c, err := h.client("reader", kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"compacted": {0: kgo.NewOffset().At(0)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	records := c.PollFetches(ctx).Records()
	if len(records) == 0 || records[0].Offset == 0 {
		t.Fatalf("%d records, the first one at 0", len(records))
	}
	for _, r := range records {
		if want := fmt.Sprintf("compacted-0-%d", r.Offset%10); string(r.Value) != want {
			t.Errorf("record at %d is %q, want %q", r.Offset, r.Value, want)
		}
	}
	for _, p := range recorded(t).Topics {
		if p.Topic == "compacted" && (p.Start != 0 || p.End <= records[len(records)-1].Offset) {
			t.Errorf("the recording has [%d, %d]", p.Start, p.End)
		}
	}
}
