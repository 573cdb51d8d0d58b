package kafkatools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// offsets: what a log holds with kafka-get-offsets and kafka-log-dirs, and kafka-delete-records.
func offsets(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	k, admin := open(t, folder, b), b.Admin(t)
	harness.CreateTopic(t, admin, "orders", 2)
	stamp := time.Now().Add(-time.Hour).Truncate(time.Second)
	harness.Produce(t, b.Client(t), "orders", 2, 0, 20, stamp)

	at := func(when string) string { return k.run(offsetsTool, "--topic", "orders", "--time", when) }
	equal(t, "the end", at("-1"), "orders:0:10\norders:1:10\n")
	equal(t, "latest", at("latest"), "orders:0:10\norders:1:10\n")
	equal(t, "the start", at("-2"), "orders:0:0\norders:1:0\n")
	seventh := stamp.Add(7 * time.Second).UnixMilli() // record 7 is the fourth of partition 1; partition 0 goes on with record 8
	equal(t, "by time", at(itoa(seventh)), "orders:0:4\norders:1:3\n")
	equal(t, "max timestamp", at("max-timestamp"), "orders:0:9\norders:1:9\n")
	equal(t, "one partition", k.run(offsetsTool, "--topic-partitions", "orders:1"), "orders:1:10\n")

	file := filepath.Join(t.TempDir(), "delete.json")
	if err := os.WriteFile(file, []byte(`{"version":1,"partitions":[{"topic":"orders","partition":0,"offset":4}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, k.run(recordsTool, "--offset-json-file", file), "partition: orders-0\tlow_watermark: 4\n")
	equal(t, "the start after kafka-delete-records", at("-2"), "orders:0:4\norders:1:0\n")
	starts, err := admin.ListStartOffsets(harness.Limited(t), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if got := starts["orders"][0].Offset; got != 4 {
		t.Errorf("kafka-delete-records up to 4, and the log starts at %d", got)
	}

	sizes(t, k, admin)
}

// sizes holds what kafka-log-dirs prints against what the broker tells franz-go.
func sizes(t *harness.T, k *tools, admin *kadm.Client) {
	t.Helper()
	out := k.run(logDirsTool, "--describe", "--topic-list", "orders")
	var printed struct {
		Brokers []struct {
			LogDirs []struct {
				LogDir     string
				Partitions []struct {
					Partition string
					Size      int64
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &printed); err != nil {
		t.Fatalf("kafka-log-dirs: %v\n%s", err, out)
	}
	told, err := admin.DescribeBrokerLogDirs(harness.Limited(t), 1, kadm.TopicsSet{"orders": {0: {}, 1: {}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := printed.Brokers[0].LogDirs[0]
	if len(dir.Partitions) != 2 {
		t.Fatalf("kafka-log-dirs knows %d partitions, want 2\n%s", len(dir.Partitions), out)
	}
	for _, p := range dir.Partitions {
		number := int32(p.Partition[len(p.Partition)-1] - '0')
		if want := told[dir.LogDir].Topics["orders"][number].Size; p.Size != want || want == 0 {
			t.Errorf("kafka-log-dirs: %s has %d bytes; the broker says %d to franz-go", p.Partition, p.Size, want)
		}
	}
}

func equal[V comparable](t *harness.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
