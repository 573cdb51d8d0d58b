package partitionlog

import (
	"errors"
	"io/fs"
)

// stamped is a record's place in time.
type stamped struct {
	offset, timestamp int64
	leaderEpoch       int32
	found             bool
}

// OffsetForTimestamp returns the first record with a timestamp of at least ts, exactly: not the base of its batch.
//
// Errors: ErrOffline, ErrUnknownTopic, and what the disk says.
// Source: Kafka, UnifiedLog.fetchOffsetByTimestamp.
func (p *Partition) OffsetForTimestamp(ts int64) (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	return p.search(func(from int64) (stamped, error) { return p.firstSince(ts, from) })
}

// MaxTimestamp returns the first of the records with the largest timestamp.
//
// Errors: ErrOffline, ErrUnknownTopic, and what the disk says.
// Source: Kafka, ListOffsets with timestamp -3, KIP-734.
func (p *Partition) MaxTimestamp() (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	return p.search(func(from int64) (stamped, error) {
		largest, err := p.largestTimestamp(from)
		if err != nil || largest < 0 {
			return stamped{}, err
		}
		return p.firstSince(largest, from)
	})
}

// search repeats a search that compaction disturbed.
func (p *Partition) search(once func(logStart int64) (stamped, error)) (offset, timestamp int64, leaderEpoch int32, found bool, err error) {
	if err := p.check(); err != nil {
		return -1, NoTimestamp, -1, false, err
	}
	var r stamped
	for range lookups {
		logStart, _ := p.Offsets()
		if r, err = once(logStart); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil || !r.found {
		return -1, NoTimestamp, -1, false, err
	}
	return r.offset, r.timestamp, r.leaderEpoch, true, nil
}

func (p *Partition) picks() []pick {
	p.mu.RLock()
	defer p.mu.RUnlock()
	picked := make([]pick, len(p.segments))
	for i, g := range p.segments {
		picked[i] = g.pick()
	}
	return picked
}

// firstSince walks from the first segment that can hold the record.
func (p *Partition) firstSince(ts, logStart int64) (stamped, error) {
	for _, g := range p.picks() {
		if g.maxTimestamp < ts || g.next <= logStart {
			continue
		}
		position, err := p.positionSince(g.segment, ts, logStart)
		if err != nil {
			return stamped{}, err
		}
		r, err := p.firstInSegment(g, position, ts, logStart)
		if err != nil || r.found {
			return r, err
		}
	}
	return stamped{}, nil
}

// positionSince is the later of two places: before the timestamp and before the log start.
func (p *Partition) positionSince(g *segment, ts, logStart int64) (int64, error) {
	for {
		p.mu.RLock()
		byTime, needHead := g.index.atTimestamp(ts)
		byOffset, needHeadToo := g.index.atOffset(logStart)
		p.mu.RUnlock()
		if !needHead && !needHeadToo {
			return max(byTime.position, byOffset.position), nil
		}
		if err := p.buildHead(g); err != nil {
			return 0, err
		}
	}
}

// errFound ends a walk.
var errFound = errors.New("found")

func (p *Partition) firstInSegment(g pick, position, ts, logStart int64) (stamped, error) {
	file, err := p.store.files.acquire(g.segment)
	if err != nil {
		return stamped{}, err
	}
	defer p.store.files.release(file)
	var r stamped
	err = walkBatches(file, position, g.size, func(b Batch, _ int64) error {
		if b.MaxTimestamp() < ts || b.LastOffset() < logStart {
			return nil
		}
		return b.Records(func(rec Record) error {
			offset := b.BaseOffset() + int64(rec.OffsetDelta)
			if rec.Timestamp < ts || offset < logStart {
				return nil
			}
			r = stamped{offset, rec.Timestamp, b.LeaderEpoch(), true}
			return errFound
		})
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return r, err
}

// largestTimestamp trusts the segments' maxima except for the one that the log start cuts, and empty batches.
func (p *Partition) largestTimestamp(logStart int64) (int64, error) {
	largest := NoTimestamp
	for _, g := range p.picks() {
		if g.next <= logStart || g.maxTimestamp <= largest {
			continue
		}
		if g.base >= logStart {
			largest = g.maxTimestamp
			continue
		}
		inCut, err := p.largestInSegment(g, logStart)
		if err != nil {
			return 0, err
		}
		largest = max(largest, inCut)
	}
	return largest, nil
}

func (p *Partition) largestInSegment(g pick, logStart int64) (int64, error) {
	position, err := p.positionSince(g.segment, NoTimestamp, logStart)
	if err != nil {
		return 0, err
	}
	file, err := p.store.files.acquire(g.segment)
	if err != nil {
		return 0, err
	}
	defer p.store.files.release(file)
	largest := NoTimestamp
	err = walkBatches(file, position, g.size, func(b Batch, _ int64) error {
		if b.LastOffset() < logStart || b.MaxTimestamp() <= largest {
			return nil
		}
		return b.Records(func(rec Record) error {
			if b.BaseOffset()+int64(rec.OffsetDelta) >= logStart {
				largest = max(largest, rec.Timestamp)
			}
			return nil
		})
	})
	return largest, err
}
