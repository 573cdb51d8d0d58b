package partitionlog

import (
	"fmt"
	"math"
)

// A log that comes from elsewhere keeps its offsets: it may begin above 0, and has holes where its broker compacted or
// where a transaction was aborted. Offsets of a partition therefore may jump, and an entry of its own says so.

// skip is the entry that moves a partition's next offset forward.
func (e *encoder) skip(p *Partition, next int64) {
	e.byte(byte(entrySkip))
	e.id(p.id)
	e.uint(uint64(p.index))
	e.uint(uint64(next))
}

// SkipTo moves the next offset of a partition forward, durably; nothing is there in between. The log start stays:
// DeleteRecords moves it.
//
// Errors: ErrOffsetOutOfRange when the next offset is larger already; ErrOffline, ErrUnknownTopic, ErrStorage,
// ErrClosed.
func (s *Store) SkipTo(p *Partition, next int64) error {
	err := s.run(func() error {
		if err := p.check(); err != nil {
			return err
		}
		switch _, highWatermark := p.Offsets(); {
		case next < highWatermark || next == math.MaxInt64:
			return fmt.Errorf("%w: %s continues at %d, it cannot go to %d", ErrOffsetOutOfRange, p, highWatermark, next)
		case next > highWatermark:
			s.frame.skip(p, next)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.check()
}

// keepOffset lets a batch have the offset that it names, with a skip before it where that is further on.
//
// Errors: ErrOffsetOutOfRange.
func (s *Store) keepOffset(p *Partition, b Batch) error {
	l := &p.loop
	base := b.BaseOffset()
	if base < l.assigned || b.LastOffset() < base {
		return fmt.Errorf("%w: batch at %d for %s, which continues at %d", ErrOffsetOutOfRange, base, p, l.assigned)
	}
	if base > l.assigned {
		s.frame.skip(p, base)
		l.assigned = base
	}
	return nil
}

// admitKept checks a batch that keeps its offset: the format only, for another broker accepted it by its own rules.
//
// Errors: those of ValidateBatch for length, checksum, format and codec.
func admitKept(b Batch) error {
	rules := BatchRules{Coordinator: true, Timestamp: b.TimestampType()}
	if err := checkFraming(b, &rules); err != nil {
		return err
	}
	if got, want := b.ComputeCRC(), b.CRC(); got != want {
		return fmt.Errorf("%w: its crc is %#08x, but its bytes have %#08x", ErrCorruptBatch, want, got)
	}
	return checkHeader(b, &rules)
}

// applySkip moves the next offset.
func (p *Partition) applySkip(next int64) error {
	l := &p.loop
	if next < l.nextOffset {
		return fmt.Errorf("%w: skip to %d in %s, which continues at %d", ErrDamaged, next, p, l.nextOffset)
	}
	if err := p.writePieces(); err != nil {
		p.takeOffline(err)
		return nil
	}
	l.nextOffset = next
	l.assigned = max(l.assigned, next)
	l.stale = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.highWatermark.Store(next)
	return nil
}

// ReserveProducerIDs makes NextProducerID return no id below a bound: those that stand in records from elsewhere are
// not handed out to others.
//
// Errors: ErrStorage, ErrClosed.
func (s *Store) ReserveProducerIDs(below int64) error {
	s.ids.Lock()
	defer s.ids.Unlock()
	if below <= s.ids.next {
		return nil
	}
	err := s.run(func() error {
		if below > s.producerIDs {
			s.frame.producerIDs(below)
		}
		return nil
	})
	if err == nil {
		s.ids.next = min(below, s.ids.end)
	}
	return err
}
