package partitionlog

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/kohort/kohort/partitionlog/journal"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// A layout names every segment with the size that a checkpoint has synced, and the journal's entries say what happened.
func TestLayoutAndEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Config{Dir: dir, MaintenanceInterval: -1, JournalBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	topic := mustCreate(t, s, "t", 2, map[string]string{"retention.ms": "-1"})
	b := batchOf(1, "a", "b", "c")
	mustAppend(t, s, topic.Partitions[1], b)
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, topic.Partitions[1], batchOf(1, "d"))
	l, err := ReadLayout(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.ClusterID != s.ClusterID() || l.LSN == 0 || len(l.Topics) != 1 || l.Topics[0].Name != "t" || len(l.Topics[0].Partitions) != 2 {
		t.Fatalf("got %+v", l)
	}
	p := l.Topics[0].Partitions[1]
	if len(p.Segments) != 1 || p.Next != 3 || p.Segments[0].Size != int64(len(b)) || path.Join(dir, p.Segments[0].Path) != topic.Partitions[1].SegmentFiles()[0] {
		t.Errorf("got %+v", p)
	}
	counts := map[string]int{}
	for _, name := range mustList(t, path.Join(dir, JournalDir)) {
		raw, err := os.ReadFile(path.Join(dir, JournalDir, name))
		if err != nil {
			t.Fatal(err)
		}
		found, err := journal.Inspect(name, raw)
		if err != nil || found.Torn != 0 || found.Later != 0 {
			t.Fatalf("%s: %v, %+v", name, err, found)
		}
		for _, f := range found.Frames {
			if f.Begin {
				continue
			}
			turn, entries, err := DecodeFrame(f.Payload)
			if err != nil || turn.IsZero() {
				t.Fatal(err)
			}
			for _, e := range entries {
				counts[e.Kind]++
				if e.Kind == "append" && (e.TopicID != l.Topics[0].ID || *e.Partition != 1 || e.Batch.NumRecords() == 0) {
					t.Errorf("got %+v", e)
				}
				if e.Kind == "create-topic" && (e.Topic != "t" || *e.Number != 2 || e.Overrides["retention.ms"] != "-1") {
					t.Errorf("got %+v", e)
				}
			}
			if _, _, err := DecodeFrame(f.Payload[:len(f.Payload)-1]); err == nil {
				t.Error("a frame that is cut off is decoded")
			}
		}
	}
	if counts["append"] != 2 || counts["create-topic"] != 1 || counts["leader-epoch"] != 1 {
		t.Errorf("got %v", counts)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ReadLayout(vfs.OS, t.TempDir()); !errors.Is(err, ErrDamaged) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := ReadLayout(vfs.OS, path.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func mustList(t *testing.T, dir string) []string {
	t.Helper()
	names, err := vfs.OS.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A recovery tried on an overlay finds what is there, and leaves the directory to the one after it.
func TestOpenOnOverlay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(Config{Dir: dir, MaintenanceInterval: -1, JournalBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	topic := mustCreate(t, s, "t", 1, nil)
	mustAppend(t, s, topic.Partitions[0], batchOf(1, "a"))
	for range 2 {
		tried, err := Open(Config{Dir: dir, FS: vfs.NewOverlay(), MaintenanceInterval: -1, JournalBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		p := tried.Topic("t").Partitions[0]
		if offset := mustAppend(t, tried, p, batchOf(1, "b")); offset != 1 || tried.LeaderEpoch() != 1 {
			t.Errorf("offset %d, leader epoch %d", offset, tried.LeaderEpoch())
		}
		if err := tried.Close(); err != nil {
			t.Error(err)
		}
	}
	if offset := mustAppend(t, s, topic.Partitions[0], batchOf(1, "c")); offset != 1 {
		t.Errorf("offset %d", offset)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Producers are listed with their last sequence; those of a topic that is gone are not.
func TestProducersList(t *testing.T) {
	s := openMemory(t)
	topic := mustCreate(t, s, "t", 1, nil)
	for _, id := range []int64{9, 4} {
		b := NewBuilder(None)
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, 2, 0
		b.Add(0, 1, nil, []byte("x"), nil)
		b.Add(1, 1, nil, []byte("y"), nil)
		mustAppend(t, s, topic.Partitions[0], b.Bytes(0))
	}
	list, err := s.Producers(topic.Partitions[0])
	if err != nil || len(list) != 2 || list[0].ID != 4 || list[1].ID != 9 || list[0].Epoch != 2 || list[0].LastSequence != 1 || list[0].LastMs <= 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if err := errors.Join(s.BeginDeleteTopic(topic.ID), s.FinishDeleteTopic(topic.ID)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Producers(topic.Partitions[0]); !errors.Is(err, ErrUnknownTopic) {
		t.Errorf("of a deleted topic: %v", err)
	}
}
