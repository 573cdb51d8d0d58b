package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// kafkaLog writes the log directory of another broker.
type kafkaLog struct {
	t   *testing.T
	dir string
}

// segment writes batches into a segment of a partition.
func (k *kafkaLog) segment(partition string, base int64, batches ...partitionlog.Batch) string {
	k.t.Helper()
	name := filepath.Join(k.dir, partition, fmt.Sprintf("%020d.log", base))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		k.t.Fatal(err)
	}
	var b []byte
	for _, batch := range batches {
		b = append(b, batch...)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		k.t.Fatal(err)
	}
	return name
}

// batch is a batch of one record; producer -1 is no transaction.
func (k *kafkaLog) batch(base, producer int64, key, value []byte) partitionlog.Batch {
	b := partitionlog.NewBuilder(partitionlog.None)
	b.ProducerID, b.Transactional = producer, producer >= 0
	b.LeaderEpoch = 40 // that broker was started often
	b.Add(0, 1, key, value, nil)
	return b.Bytes(base)
}

func (k *kafkaLog) marker(base, producer int64, kind byte) partitionlog.Batch {
	b := partitionlog.NewBuilder(partitionlog.None)
	b.ProducerID, b.Transactional, b.Control = producer, true, true
	b.Add(0, 1, []byte{0, 0, 0, kind}, []byte{0, 0, 0, 0, 0, 1}, nil)
	return b.Bytes(base)
}

// committed is the batch of an offset.
func (k *kafkaLog) committed(base int64, group, topic string, offset int64) partitionlog.Batch {
	v := kmsg.OffsetCommitValue{Version: 4, Offset: offset, LeaderEpoch: 40, CommitTimestamp: 4e12}
	return k.batch(base, -1, offsetslog.AppendOffsetKey(nil, group, topic, 0), v.AppendTo(nil))
}

// newKafkaLog has a topic that begins at 10, has a hole, an aborted transaction, one that did not end, and a group.
func newKafkaLog(t *testing.T) *kafkaLog {
	k := &kafkaLog{t, filepath.Join(t.TempDir(), "kafka-logs")}
	k.segment("__consumer_offsets-2", 0, k.committed(0, "team", "orders", 9), k.committed(1, "team", "orders", 16))
	k.segment("orders-0", 8,
		k.batch(8, -1, nil, []byte("8")), k.batch(12, -1, nil, []byte("12")), k.batch(13, 5, nil, []byte("13 aborted")),
		k.marker(14, 5, 0), k.batch(15, 6, nil, []byte("15 committed")))
	k.segment("orders-0", 16, k.marker(16, 6, 1), k.batch(17, -1, nil, []byte("17")), k.batch(18, 7, nil, []byte("18 open")))
	k.segment("orders-2", 100)
	k.segment("deleted-0.77f3c41ba8354e0d8d3d4c4f1b1c1d1e-delete", 0, k.batch(0, -1, nil, nil))
	k.segment("__transaction_state-0", 0, k.batch(0, -1, nil, nil))
	if err := os.WriteFile(filepath.Join(k.dir, "log-start-offset-checkpoint"), []byte("0\n1\norders 0 10\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return k
}

// imports runs an import and returns its report.
func imports(t *testing.T, k *kafkaLog, wantCode int, args ...string) (report importReport, errOut string) {
	t.Helper()
	out, errOut, code := said(t, "", "", append(append([]string{"import-offsets", k.dir}, args...), "-o", "json")...)
	if code != wantCode {
		t.Fatalf("exit code %d, want %d: %s%s", code, wantCode, out, errOut)
	}
	if out != "" {
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return report, errOut
}

// A group that moves with its topic goes on where it was, in a log with the same offsets.
func TestImport(t *testing.T) {
	k := newKafkaLog(t)
	second := &kafkaLog{t, filepath.Join(t.TempDir(), "second")} // of the same broker
	second.segment("orders-3", 0, k.batch(0, -1, nil, []byte("x")))
	data := filepath.Join(t.TempDir(), "data")
	imports(t, k, 0, second.dir, "--data", data, "--dry-run", "--topics")
	if exists(data) {
		t.Fatal("a dry run wrote something")
	}
	report, _ := imports(t, k, 0, second.dir, "--data", data, "--topics", "--topic-config", "retention.ms=-1", "--set", "offsets.topic.num.partitions=4")
	want := importTopic{Name: "orders", Partitions: 4, Missing: 1, Batches: 6, Uncommitted: 2}
	got := report.Topics[0]
	want.Offsets, want.Bytes = got.Offsets, got.Bytes
	if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(got.Offsets) != "[{0 10 19} {2 100 100} {3 0 1}]" {
		t.Errorf("topic %+v", got)
	}
	if fmt.Sprint(report.Groups) != "[{team  0 0 1}]" || report.Partitions != 4 {
		t.Errorf("groups %+v, %d partitions", report.Groups, report.Partitions)
	}
	b, err := broker.Start(t.Context(), broker.Config{DataDir: data, Profile: settings.Dev})
	if err != nil {
		t.Fatal(err)
	}
	if out, errOut, _ := said(t, b.Addr(), "", "consume", "orders:0", "-e"); out != "12\n15 committed\n17\n" {
		t.Errorf("all records: %s%s", out, errOut)
	}
	if out, errOut, _ := said(t, b.Addr(), "", "consume", "orders", "-g", "team", "-n", "2"); !strings.Contains(out, "17\n") || !strings.Contains(out, "x\n") {
		t.Errorf("the group goes on with: %s%s", out, errOut)
	}
	out, errOut, _ := said(t, b.Addr(), "", "produce", "orders", "-p", "2", "x", "-o", "json")
	if !strings.Contains(out, "100") {
		t.Errorf("the first record behind a log without any: %s%s", out, errOut)
	}
	if _, errOut := imports(t, k, 1, "--data", data); !strings.Contains(errOut, "LOCK") && !strings.Contains(errOut, "process") {
		t.Errorf("import beside a broker: %s", errOut)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, errOut := imports(t, k, 1, "--data", data); !strings.Contains(errOut, `group "team" is in`) || !strings.Contains(errOut, "--replace") {
		t.Errorf("second import: %s", errOut)
	}
	if _, errOut := imports(t, k, 1, "--data", data, "--replace", "--topics"); !strings.Contains(errOut, `topic "orders" is in`) {
		t.Errorf("second import of topics: %s", errOut)
	}
	imports(t, k, 0, "--data", data, "--replace")
}

// What is damaged is named with its position, and what is whole is imported; a single directory can be named, too.
func TestImportDamage(t *testing.T) {
	k := newKafkaLog(t)
	name := k.segment("__consumer_offsets-2", 0, k.committed(0, "team", "orders", 9), k.committed(1, "lost", "orders", 16), k.committed(2, "other", "orders", 3))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	size := len(b) / 3
	b[size+70] ^= 1
	b = append(b, b[:40]...)
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	k.dir = filepath.Dir(name)
	report, _ := imports(t, k, 1, "--data", filepath.Join(t.TempDir(), "data"))
	if len(report.Groups) != 2 || len(report.Damage) != 2 || report.Damage[0].Position != int64(len(k.committed(0, "team", "orders", 9))) ||
		report.Damage[0].File != name || report.Damage[1].Position != int64(len(b)-40) {
		t.Errorf("%+v", report)
	}
	if _, errOut := imports(t, k, 1, k.dir, "--data", filepath.Join(t.TempDir(), "data")); !strings.Contains(errOut, "are the same partition") {
		t.Errorf("the same directory twice: %s", errOut)
	}
	k.dir = t.TempDir()
	if _, errOut := imports(t, k, 1, "--data", filepath.Join(k.dir, "data")); !strings.Contains(errOut, "no directory __consumer_offsets-N") {
		t.Errorf("no log directory: %s", errOut)
	}
}
