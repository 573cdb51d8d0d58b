package partitionlog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kohort/kohort/partitionlog/journal"
)

// loop is the one goroutine that changes anything. Each round takes all calls that wait; while it writes and syncs,
// the next ones gather, so the more load, the bigger the turn.
func (s *Store) loop() {
	var taken []*call
	for {
		select {
		case <-s.queue.wake:
		case done := <-s.checkpoint.finished:
			s.finishCheckpoint(done)
			continue
		case <-s.closing:
			s.turn(s.queue.take(nil))
			s.awaitCheckpoint()
			return
		}
		for taken = s.queue.take(taken); len(taken) > 0; taken = s.queue.take(taken) {
			s.turn(taken)
			clear(taken)
			select {
			case done := <-s.checkpoint.finished:
				s.finishCheckpoint(done)
			default:
			}
		}
	}
}

// turn serves calls in order: batches share frames, an operation has a frame of its own, so that it sees everything
// before it applied.
func (s *Store) turn(taken []*call) {
	s.checkFreeBytes()
	for _, c := range taken {
		if c.operate != nil {
			s.commit()
			c.err = s.operate(c)
			s.waiting = append(s.waiting, c)
			s.commit()
			continue
		}
		for _, a := range c.appends {
			if !s.frameEmpty() && len(s.frame.b)+len(a.Records)+entryOverhead > s.maxFrame {
				s.commit()
			}
			if err := s.stage(a); err != nil {
				a.fail(err)
			}
		}
		s.waiting = append(s.waiting, c)
	}
	s.commit()
	s.considerCheckpoint()
}

// operate runs an operation; one that goes wrong leaves no entries behind.
func (s *Store) operate(c *call) error {
	if s.Err() != nil {
		return ErrClosed
	}
	err := c.operate()
	if err != nil {
		s.resetFrame()
	}
	return err
}

// stage decides about one batch and, if it is accepted, gives it its offsets and puts it into the frame.
func (s *Store) stage(a *Append) error {
	if a.Err != nil {
		return a.Err
	}
	if s.Err() != nil {
		return ErrClosed
	}
	if a.Incarnation != 0 && a.Incarnation != s.incarnation.Load() {
		return fmt.Errorf("%w: %d, now it is %d", ErrFenced, a.Incarnation, s.incarnation.Load())
	}
	p := a.Partition
	if err := p.check(); err != nil {
		return err
	}
	if s.diskFull.Load() && !a.Urgent {
		return s.diskFullError()
	}
	b := Batch(a.Records)
	l := &p.loop
	if a.KeepOffset && a.Origin == OriginCoordinator {
		if err := s.keepOffset(p, b); err != nil {
			return err
		}
	}
	b.SetBaseOffset(l.assigned)
	b.SetLeaderEpoch(s.leaderEpoch.Load())
	if a.Origin == OriginClient && b.ProducerID() != NoProducerID {
		original, duplicate, err := l.producers.stage(b)
		if err != nil {
			return err
		}
		if duplicate {
			a.BaseOffset, a.Duplicate, a.LogStartOffset = original, true, p.logStart.Load()
			b.SetBaseOffset(original)
			s.staged = append(s.staged, a) // it waits for the original, which may be in this very frame
			return nil
		}
	}
	a.BaseOffset, a.LogStartOffset = l.assigned, p.logStart.Load()
	l.assigned = b.NextOffset()
	s.assigned = append(s.assigned, p)
	s.staged = append(s.staged, a)
	s.frame.append(p, b)
	return nil
}

func (s *Store) frameEmpty() bool { return len(s.frame.b) == frameHeader }

// resetFrame begins an empty frame; memory that one huge batch needed is given back.
func (s *Store) resetFrame() {
	if cap(s.frame.b) > 4*frameBytes || cap(s.frame.b) == 0 {
		s.frame.b = make([]byte, frameHeader, 64<<10)
	}
	s.frame.b = s.frame.b[:frameHeader]
}

// commit makes the frame durable, applies it and releases whoever waited for it. Without entries there is nothing
// to write, but whoever waits is still released only after all frames before.
func (s *Store) commit() {
	if !s.frameEmpty() {
		if err := s.write(); err != nil {
			s.disown(err)
		} else {
			s.settle()
		}
	}
	for _, p := range s.assigned {
		p.loop.assigned = p.loop.nextOffset
		p.loop.producers.unstage()
	}
	s.assigned = s.assigned[:0]
	s.resetFrame()
	clear(s.staged)
	s.staged = s.staged[:0]
	for i, c := range s.waiting {
		s.waiting[i] = nil
		c.release()
	}
	s.waiting = s.waiting[:0]
}

// write journals and applies the frame.
func (s *Store) write() error {
	frame := s.stamp()
	lsn := s.lsn + 1
	if s.journal != nil {
		var err error
		if lsn, err = s.journalAppend(frame); err != nil {
			return err
		}
	}
	if err := s.apply(lsn, frame); err != nil {
		s.fail(err) // what the loop validated contradicts what it applies: a mistake of ours
		return err
	}
	s.lsn = lsn
	return nil
}

// stamp puts the turn's time before the entries. The frame's buffer has room for it in front.
func (s *Store) stamp() []byte {
	binary.BigEndian.PutUint64(s.frame.b[:frameHeader], uint64(s.nowMs()))
	return s.frame.b
}

// settle marks the appends whose partition went offline under the frame.
func (s *Store) settle() {
	for _, a := range s.staged {
		if a.Partition.isOffline() {
			a.fail(a.Partition.check())
		}
	}
}

// disown answers everybody who has a part in a frame that is not known to be durable.
func (s *Store) disown(cause error) {
	err := fmt.Errorf("%w: %w", ErrStorage, cause)
	for _, a := range s.staged {
		a.fail(err)
	}
	for _, c := range s.waiting {
		if c.operate != nil && c.err == nil {
			c.err = err
		}
	}
	if s.Err() == nil && !refusedByJournal(cause) {
		s.reincarnate(cause)
	}
}

// refusedByJournal says that the journal is as it was before.
func refusedByJournal(err error) bool {
	return errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrTooLarge) || errors.Is(err, journal.ErrNoSpare)
}

// reincarnate begins anew after a failed journal write. What is in memory is what was applied, and only durable
// frames are; the segments are synced and noted at once, so that the file that failed is not needed any more.
func (s *Store) reincarnate(cause error) {
	s.awaitCheckpoint()
	if s.Err() != nil {
		return
	}
	if err := s.journal.Restart(); err != nil {
		s.fail(fmt.Errorf("begin a new incarnation after %w: %w", cause, err))
		return
	}
	if err := s.checkpointNow(); err != nil {
		s.fail(fmt.Errorf("checkpoint after %w: %w", cause, err))
		return
	}
	n := s.incarnation.Add(1)
	s.config.Observe(Event{Kind: EventReload, Count: int64(n), Err: cause})
}

// journalAppend writes a frame, after room was made for it.
func (s *Store) journalAppend(frame []byte) (lsn uint64, err error) {
	lsn, err = s.journal.Append(frame)
	if !errors.Is(err, journal.ErrFull) {
		return lsn, err
	}
	s.awaitCheckpoint()
	if err := s.checkpointNow(); err != nil {
		return 0, fmt.Errorf("%w: %w", journal.ErrFull, err)
	}
	lsn, err = s.journal.Append(frame)
	if errors.Is(err, journal.ErrFull) && s.pinned() {
		s.fail(fmt.Errorf("partitions that are offline hold the whole journal; restart to replay it: %w", err))
	}
	return lsn, err
}
