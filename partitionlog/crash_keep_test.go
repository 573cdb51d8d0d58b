package partitionlog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// keep lets the offsets of a partition jump: alone, or with a batch that brings its own.
func (m *sim) keep(mt *modelTopic) error {
	i := m.rng.IntN(len(mt.partitions))
	mp, p := mt.partitions[i], m.store.Topic(mt.name).Partitions[i]
	next := mp.next + int64(m.rng.IntN(20))
	if m.rng.IntN(2) == 0 {
		err := m.store.SkipTo(p, next)
		m.logf("skip %s to %d: %v", p, next, err)
		switch {
		case err == nil:
			mp.next = next
		case mp.offline: // refused before the journal
		case m.broken() || errors.Is(err, ErrOffline):
			mp.maybeNext = next
			mp.offline = mp.offline || errors.Is(err, ErrOffline)
		default:
			return m.tolerate(err)
		}
		return nil
	}
	a := &Append{Partition: p, Records: m.batch(mp, nil, nil), Origin: OriginCoordinator, KeepOffset: true}
	sent := modelBatch{Batch(a.Records), m.now.Load()}
	sent.bytes.SetBaseOffset(next)
	m.store.Append(a)
	m.logf("keep %s at %d: offset %d, %v", p, next, a.BaseOffset, a.Err)
	switch {
	case a.Err == nil && a.BaseOffset != next:
		return fmt.Errorf("%s: a batch that keeps offset %d has %d", p, next, a.BaseOffset)
	case a.Err == nil:
		mp.accept(sent)
	case mp.offline: // refused before the journal
	case m.broken() || errors.Is(a.Err, ErrOffline):
		mp.maybe = append(mp.maybe, sent)
		mp.offline = mp.offline || errors.Is(a.Err, ErrOffline)
	default:
		return m.tolerate(a.Err)
	}
	return nil
}

// A log that begins above 0 and has holes is the same after a crash and after a checkpoint, and goes on behind its end.
func TestKeepOffset(t *testing.T) {
	disk := vfs.NewCrash(1)
	config := Config{Dir: "data", FS: disk, JournalBytes: 4 << 20, MaintenanceInterval: -1}
	s, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	topic, err := s.CreateTopic(TopicSpec{Name: "t", Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := topic.Partitions[0]
	if err := s.SkipTo(p, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteRecords(p, -1); err != nil {
		t.Fatal(err)
	}
	kept := func(base, producer int64, transactional, control bool) *Append {
		b := NewBuilder(None)
		b.ProducerID, b.Transactional, b.Control = producer, transactional, control
		b.Add(0, 1, []byte{0, 0, 0, 1}, []byte("v"), nil)
		return &Append{Partition: p, Records: b.Bytes(base), Origin: OriginCoordinator, KeepOffset: true}
	}
	appends := []*Append{kept(105, NoProducerID, false, false), kept(106, 7, true, false), kept(110, 7, true, true)}
	s.Append(appends...)
	for i, a := range appends {
		if a.Err != nil || a.BaseOffset != []int64{105, 106, 110}[i] {
			t.Fatalf("batch %d: offset %d, %v", i, a.BaseOffset, a.Err)
		}
	}
	below, client := kept(110, NoProducerID, false, false), kept(200, NoProducerID, false, false)
	client.Origin = OriginClient
	if s.Append(below, client); !errors.Is(below.Err, ErrOffsetOutOfRange) || !errors.Is(client.Err, ErrInvalidRecord) {
		t.Errorf("below: %v; a client's: %v", below.Err, client.Err)
	}
	broken := kept(300, NoProducerID, false, false)
	broken.Records[len(broken.Records)-1]++
	if s.Append(broken); !errors.Is(broken.Err, ErrCorruptBatch) {
		t.Errorf("broken: %v", broken.Err)
	}
	if err := s.SkipTo(p, 120); err != nil {
		t.Fatal(err)
	}
	if err := s.SkipTo(p, 119); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Errorf("backwards: %v", err)
	}
	if err := s.ReserveProducerIDs(8); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		p := s.Topic("t").Partitions[0]
		got, err := readLog(p)
		var bases []string
		for _, b := range got {
			bases = append(bases, itoa(b.BaseOffset()))
		}
		logStart, next := p.Offsets()
		if text := strings.Join(bases, " "); err != nil || logStart != 100 || next != 120 || text != "105 106 110" {
			t.Errorf("offsets [%d, %d], batches at %s, %v", logStart, next, text, err)
		}
		for _, offset := range []int64{100, 107, 111, 120} {
			if b, err := p.Read(offset, 1, true); err != nil || (len(b) == 0) != (offset > 110) {
				t.Errorf("read at %d: %d bytes, %v", offset, len(b), err)
			}
		}
	}
	check()
	reopen := func(crash bool) {
		t.Helper()
		if crash {
			disk.HaltAt(1)
		}
		if err := s.Close(); err != nil && !crash {
			t.Fatal(err)
		}
		if crash {
			disk = disk.Crash(2)
			config.FS = disk
		}
		if s, err = Open(config); err != nil {
			t.Fatal(err)
		}
		check()
	}
	reopen(true)
	reopen(false)
	defer s.Close()
	if id, err := s.NextProducerID(); err != nil || id != 8 {
		t.Errorf("the next producer id is %d, %v", id, err)
	}
	b := NewBuilder(None)
	b.Add(0, 1, []byte("k"), []byte("v"), nil)
	a := &Append{Partition: s.Topic("t").Partitions[0], Records: b.Bytes(0)}
	if s.Append(a); a.Err != nil || a.BaseOffset != 120 {
		t.Errorf("the next batch: offset %d, %v", a.BaseOffset, a.Err)
	}
}
