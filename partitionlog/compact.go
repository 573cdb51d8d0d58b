package partitionlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// keyMapBytes bounds the memory of one compaction; a partition with more goes in several.
// Source: Kafka's log.cleaner.dedupe.buffer.size is 128 MiB for all of its threads.
const keyMapBytes = 64 << 20

// compactAll compacts every partition whose policy and state ask for it, one after the other. behind says that more
// could be compacted after a checkpoint.
func (s *Store) compactAll(now time.Time) (behind bool, first error) {
	for _, t := range s.Topics() {
		if !t.Config.Compact {
			continue
		}
		for _, p := range t.Partitions {
			c, err := s.compact(p, now.UnixMilli())
			behind = behind || c.behind
			if errors.Is(err, fs.ErrNotExist) {
				continue // trimmed meanwhile, file and all
			}
			if err != nil && first == nil {
				first = fmt.Errorf("compact %s: %w", p, err)
			}
		}
	}
	return behind, first
}

// compaction is one run over one partition.
//
// It keeps the newest record of each key below an offset, and never the other way round: keys are looked up in the
// dirty part [cleanedTo, upto), and every sealed segment below upto is written anew without what is older. Offsets stay.
// Only sealed segments take part whose every byte is in a durable table, so that a compacted file never holds what a
// crash would take from the journal's part.
type compaction struct {
	p        *Partition
	nowMs    int64
	config   TopicConfig
	logStart int64
	sealed   []pick // all that may be rewritten, oldest first
	dirty    int    // index of the first one with records that were never compacted
	from     int64  // cleanedTo before
	upto     int64  // where the keys in latest end
	latest   map[string]int64

	behind  bool  // there are sealed segments that no table holds
	dropped int64 // records
	saved   int64 // bytes
}

// compact does one run if enough is dirty.
//
// Source: Kafka, LogCleanerManager.grabFilthiestCompactedLog and Cleaner.doClean.
func (s *Store) compact(p *Partition, nowMs int64) (*compaction, error) {
	began := time.Now()
	c := p.plan(nowMs)
	if served := p.check() == nil; !served || !c.worthwhile() {
		return c, nil
	}
	if err := c.readKeys(); err != nil {
		return c, err
	}
	for _, group := range c.groups() {
		// Oldest first, and no further than one that did not come to pass: a tombstone must not go before what it
		// stands for.
		if done, err := c.replace(group); err != nil || !done {
			return c, err
		}
	}
	err := s.run(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.cleanedTo = max(p.cleanedTo, c.upto)
		p.loop.stale = true
		return nil
	})
	if c.dropped > 0 {
		s.config.Observe(Event{Kind: EventCompacted, Topic: p.topic, Partition: p.index, Took: time.Since(began), Bytes: c.saved, Count: c.dropped})
	}
	return c, err
}

// plan takes the sealed segments that are durable and old enough.
func (p *Partition) plan(nowMs int64) *compaction {
	c := &compaction{p: p, nowMs: nowMs, config: *p.config.Load()}
	durable := p.store.durableLSN.Load()
	p.mu.RLock()
	defer p.mu.RUnlock()
	c.logStart, c.from = p.logStart.Load(), p.cleanedTo
	for i, g := range p.segments {
		if i == len(p.segments)-1 {
			break
		}
		if c.behind = p.store.journal != nil && g.sealedAt > durable; c.behind {
			break
		}
		if lag := c.config.MinCompactionLagMs; lag > 0 && g.maxTimestamp > nowMs-lag {
			break
		}
		if g.next <= c.from {
			c.dirty = i + 1
		}
		c.sealed = append(c.sealed, g.pick())
	}
	return c
}

// worthwhile compares the dirty bytes with all, or finds a record that waited for too long.
func (c *compaction) worthwhile() bool {
	if c.dirty >= len(c.sealed) {
		return false
	}
	var clean, dirty int64
	for i, g := range c.sealed {
		if i < c.dirty {
			clean += g.size
		} else {
			dirty += g.size
		}
	}
	first := c.sealed[c.dirty].firstTimestamp
	overdue := first >= 0 && first < c.nowMs-c.config.MaxCompactionLagMs
	return overdue || float64(dirty) > c.config.MinCleanableRatio*float64(clean+dirty)
}

// groups joins neighbours that fit into one segment. Segments above the keys that were read do not take part.
//
// Source: Kafka, Cleaner.groupSegmentsBySize.
func (c *compaction) groups() [][]pick {
	var groups [][]pick
	var size int64
	for _, g := range c.sealed {
		if g.next > c.upto {
			break
		}
		last := len(groups) - 1
		if last >= 0 && size+g.size <= c.config.SegmentBytes && g.next-1-groups[last][0].base <= 1<<31-1 {
			groups[last] = append(groups[last], g)
			size += g.size
			continue
		}
		groups = append(groups, []pick{g})
		size = g.size
	}
	return groups
}

// replace writes a group anew and puts the result into its place.
//
// Order, and what a crash leaves: the new file is written and synced under a name of its own (an orphan that the next
// start removes); the list changes in memory (the table still names the old files, which are all there); a checkpoint
// names the new file; then the old ones are unlinked.
func (c *compaction) replace(group []pick) (done bool, err error) {
	out, err := c.rewrite(group)
	if err != nil || out == nil {
		return err == nil, err
	}
	return c.install(group, out)
}

// install puts a new segment into the place of a group, unless the group was trimmed meanwhile.
func (c *compaction) install(group []pick, out *segment) (done bool, err error) {
	s, p := c.p.store, c.p
	err = s.run(func() error {
		if p.check() != nil {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.Index(p.segments, group[0].segment)
		if i < 0 || i+len(group) > len(p.segments) || p.segments[i+len(group)-1] != group[len(group)-1].segment {
			return nil
		}
		old := slices.Clone(p.segments[i : i+len(group)])
		p.removeSegments(old)
		replacement := []*segment{}
		if out.size > 0 {
			replacement = append(replacement, out)
			p.bytes.Add(out.size)
		}
		p.segments = slices.Concat(p.segments[:i], replacement, p.segments[i+len(group):])
		p.loop.stale = true
		done = true
		return nil
	})
	if !done || out.size == 0 {
		s.unlink([]removal{{p, out}}, nil)
	}
	return done, err
}
