package partitionlog

import (
	"fmt"
	"time"
)

// maintain runs maintenance in the background.
func (s *Store) maintain() {
	if s.config.MaintenanceInterval < 0 {
		return
	}
	ticker := time.NewTicker(s.config.MaintenanceInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = s.RunMaintenance(s.config.Now())
		case <-s.closing:
			return
		}
	}
}

// RunMaintenance runs one round of retention, compaction and producer expiry as of now. Files that became
// unnecessary go with a checkpoint that it begins.
//
// Errors: of the first partition that could not be served; the others are.
func (s *Store) RunMaintenance(now time.Time) error {
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	err := s.retain(now)
	behind, compactErr := s.compactAll(now)
	if err == nil {
		err = compactErr
	}
	tidyErr := s.run(func() error {
		s.expireProducers(now)
		if behind || s.checkpointDue(now) {
			s.beginCheckpoint()
		}
		return nil
	})
	if err == nil {
		err = tidyErr
	}
	return err
}

func (s *Store) expireProducers(now time.Time) {
	before := now.Add(-s.config.ProducerIDExpiration).UnixMilli()
	for _, t := range s.catalog.all() {
		for _, p := range t.Partitions {
			if p.loop.producers.expire(before) {
				p.loop.stale = true
			}
		}
	}
}

// retain moves log starts by time and size, in frames of many entries each.
//
// Source: Kafka, UnifiedLog.deleteOldSegments.
func (s *Store) retain(now time.Time) error {
	type cut struct {
		p      *Partition
		before int64
	}
	var cuts []cut
	for _, t := range s.Topics() {
		for _, p := range t.Partitions {
			logStart, _ := p.Offsets()
			if before := p.retained(now.UnixMilli()); before > logStart {
				cuts = append(cuts, cut{p, before})
			}
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	return s.run(func() error {
		for _, c := range cuts {
			// The world moved on since: nothing is trimmed that is gone or trimmed further.
			if c.p.check() == nil && c.before > c.p.logStart.Load() {
				s.frame.trim(c.p, c.before)
			}
		}
		return nil
	})
}

// retained returns the offset below which retention lets go: whole segments from the oldest on, by the largest
// timestamp in each, or while what is left is still at least retention.bytes.
func (p *Partition) retained(nowMs int64) (before int64) {
	c := p.config.Load()
	if !c.Delete || p.check() != nil {
		return 0
	}
	excess := p.Size() - c.RetentionBytes
	for _, g := range p.picks() {
		age := g.maxTimestamp
		if age < 0 {
			age = g.createdMs
		}
		byTime := c.RetentionMs >= 0 && nowMs-age > c.RetentionMs
		bySize := c.RetentionBytes >= 0 && excess-g.size >= 0
		if !byTime && !bySize {
			break
		}
		excess -= g.size
		before = g.next
	}
	return before
}

// DeleteRecords moves the log start up to an offset, -1 for the high watermark. Below the log start it changes
// nothing.
//
// Errors: ErrOffsetOutOfRange, ErrOffline, ErrUnknownTopic, ErrStorage, ErrClosed.
func (s *Store) DeleteRecords(p *Partition, before int64) (lowWatermark int64, err error) {
	err = s.run(func() error {
		if err := p.check(); err != nil {
			return err
		}
		logStart, highWatermark := p.Offsets()
		target := before
		if before == -1 {
			target = highWatermark
		}
		if target < 0 || target > highWatermark {
			return fmt.Errorf("%w: %d is not within [%d, %d] of %s", ErrOffsetOutOfRange, before, logStart, highWatermark, p)
		}
		if target > logStart {
			s.frame.trim(p, target)
		}
		return nil
	})
	if err != nil {
		return -1, err
	}
	if err := p.check(); err != nil {
		return -1, err
	}
	lowWatermark, _ = p.Offsets()
	return lowWatermark, nil
}
