package partitionlog

import (
	"fmt"
	"slices"
)

// apply executes the entries of one frame. It is the only function that changes a log or the catalogue, in the
// loop and in recovery alike; in the loop the frame is durable before.
//
// A mistake is never the disk's (that takes a partition offline), but a contradiction between the frame and what is
// in memory: the journal does not belong to the table, or a file was edited.
//
// Owner: the loop; Open before it.
func (s *Store) apply(lsn uint64, frame []byte) error {
	s.applying = lsn
	d := decoder{b: frame}
	nowMs := int64(d.fixed64())
	for d.err == nil && len(d.b) > 0 {
		e, err := d.entry()
		if err == nil {
			err = s.applyEntry(lsn, e, nowMs)
		}
		if err != nil {
			return fmt.Errorf("journal entry %d: %w", lsn, err)
		}
	}
	if d.err != nil {
		return fmt.Errorf("journal entry %d: %w", lsn, d.err)
	}
	s.flush(lsn)
	return nil
}

func (s *Store) applyEntry(lsn uint64, e entry, nowMs int64) error {
	switch e.kind {
	case entryAppend, entryTrim, entrySkip:
		return s.applyToPartition(lsn, e, nowMs)
	case entryCreateTopic, entryCreatePartitions, entryTopicConfig, entryGroupConfig, entryBeginDelete,
		entryFinishDelete, entryLeaderEpoch, entryProducerIDs:
		if lsn <= s.catalogLSN {
			return nil // replayed for a pinned partition's sake; the table has it
		}
		return s.applyToCatalog(lsn, e)
	}
	return fmt.Errorf("%w: entry of unknown kind %d", ErrDamaged, e.kind)
}

func (s *Store) applyToPartition(lsn uint64, e entry, nowMs int64) error {
	t := s.catalog.byTopicID(e.id)
	if t == nil && lsn <= s.catalogLSN {
		return nil // the topic was deleted since
	}
	if t == nil || int(e.partition) >= len(t.Partitions) {
		return fmt.Errorf("%w: entry of partition %d of unknown topic %x", ErrDamaged, e.partition, e.id)
	}
	p := t.Partitions[e.partition]
	if lsn <= p.loop.applied && s.replaying || p.isOffline() {
		return nil
	}
	s.touch(p)
	switch e.kind {
	case entryTrim:
		return p.applyTrim(e.number)
	case entrySkip:
		return p.applySkip(e.number)
	default:
		return p.applyAppend(e.batch, nowMs)
	}
}

// touch remembers the partitions of the turn.
func (s *Store) touch(p *Partition) {
	if !p.loop.touched {
		p.loop.touched = true
		s.touched = append(s.touched, p)
	}
}

// applyAppend takes a batch into the partition. Its bytes reach the segment at the latest with flush.
func (p *Partition) applyAppend(b Batch, nowMs int64) error {
	l := &p.loop
	if b.BaseOffset() != l.nextOffset {
		return fmt.Errorf("%w: batch at offset %d of %s, which continues at %d", ErrDamaged, b.BaseOffset(), p, l.nextOffset)
	}
	l.pieces = append(l.pieces, piece{b, nowMs})
	l.nextOffset = b.NextOffset()
	l.assigned = max(l.assigned, l.nextOffset)
	l.stale = true
	if b.ProducerID() != NoProducerID && b.BaseSequence() != NoSequence {
		l.producers.apply(b, nowMs)
	}
	return nil
}

// applyTrim moves the log start and drops segments that lie wholly below it, the active one too.
func (p *Partition) applyTrim(logStart int64) error {
	l := &p.loop
	if logStart > l.nextOffset {
		return fmt.Errorf("%w: log start %d of %s, which ends at %d", ErrDamaged, logStart, p, l.nextOffset)
	}
	if err := p.writePieces(); err != nil {
		p.takeOffline(err)
		return nil
	}
	if logStart <= p.logStart.Load() {
		return nil
	}
	l.stale = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.logStart.Store(logStart)
	p.epochs = p.epochs.trim(logStart)
	n := 0
	for n < len(p.segments) && p.segments[n].next <= logStart {
		n++
	}
	p.removeSegments(p.segments[:n])
	p.segments = append([]*segment(nil), p.segments[n:]...)
	p.cleanedTo = max(p.cleanedTo, logStart)
	return nil
}

// removeSegments takes segments out of the books; their files stay until a table without them is durable. What of
// them is not synced never needs to be.
func (p *Partition) removeSegments(out []*segment) {
	p.letGo(out)
	for _, g := range out {
		p.bytes.Add(-g.size)
		p.store.removed = append(p.store.removed, removal{p, g})
	}
}

// letGo gives up waiting for a checkpoint of some segments.
func (p *Partition) letGo(segments []*segment) {
	for _, g := range segments {
		if g.file == nil {
			continue
		}
		p.store.files.release(g.file)
		p.store.held--
		g.file = nil
	}
	p.loop.dirty = slices.DeleteFunc(p.loop.dirty, func(g *segment) bool { return g.file == nil })
}

// flush brings the batches of the frame into the segments and lets readers see them.
func (s *Store) flush(lsn uint64) {
	for _, p := range s.touched {
		p.loop.touched = false
		if err := p.writePieces(); err != nil {
			p.takeOffline(err)
		}
		p.loop.pieces = p.loop.pieces[:0]
		if p.isOffline() {
			continue
		}
		p.loop.applied = lsn
		p.watchers.notify()
	}
	s.touched = s.touched[:0]
}
