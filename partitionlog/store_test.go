package partitionlog

import (
	"fmt"
	"testing"
	"time"
)

// batchOf builds an uncompressed batch of records with the given keys, as a client would send it.
func batchOf(ts int64, keys ...string) Batch {
	b := NewBuilder(None)
	for i, k := range keys {
		b.Add(int32(i), ts+int64(i), []byte(k), []byte("value of "+k), nil)
	}
	return b.Bytes(0)
}

func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := Open(Config{MaintenanceInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustCreate(t *testing.T, s *Store, name string, partitions int32, overrides map[string]string) *Topic {
	t.Helper()
	topic, err := s.CreateTopic(TopicSpec{Name: name, Partitions: partitions, Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func mustAppend(t *testing.T, s *Store, p *Partition, b Batch) int64 {
	t.Helper()
	a := &Append{Partition: p, Records: b}
	s.Append(a)
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	return a.BaseOffset
}

func TestMemoryAppendRead(t *testing.T) {
	s := openMemory(t)
	topic := mustCreate(t, s, "t", 3, nil)
	now := time.Now().UnixMilli()
	for i := range 10 {
		if got, want := mustAppend(t, s, topic.Partitions[1], batchOf(now, fmt.Sprint(i), "x")), int64(2*i); got != want {
			t.Fatalf("batch %d at offset %d, want %d", i, got, want)
		}
	}
	records, err := topic.Partitions[1].Read(5, 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := NextBatch(records)
	if err != nil || b.BaseOffset() != 4 {
		t.Fatalf("read at 5 begins with %v, %v; want the batch at 4", b.BaseOffset(), err)
	}
}
