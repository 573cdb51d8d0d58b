package partitionlog

import "fmt"

// mapEntryBytes is about what Go's map needs for a key beside its bytes.
const mapEntryBytes = 48

// readKeys finds the newest offset of each key in the dirty segments, and how far that went.
func (c *compaction) readKeys() error {
	c.latest = make(map[string]int64)
	used := 0
	for _, g := range c.sealed[c.dirty:] {
		if used > keyMapBytes {
			break
		}
		err := c.walk(g, func(b Batch) error {
			if b.IsControl() {
				return nil
			}
			return b.Records(func(r Record) error {
				offset := b.BaseOffset() + int64(r.OffsetDelta)
				if r.Key == nil || offset < c.from {
					return nil
				}
				if _, known := c.latest[string(r.Key)]; !known {
					used += len(r.Key) + mapEntryBytes
				}
				c.latest[string(r.Key)] = offset
				return nil
			})
		})
		if err != nil {
			return err
		}
		c.upto = g.next
	}
	return nil
}

// walk shows all batches of a segment that reach the log start.
func (c *compaction) walk(g pick, fn func(b Batch) error) error {
	file, err := c.p.store.files.acquire(g.segment)
	if err != nil {
		return err
	}
	defer c.p.store.files.release(file)
	err = walkBatches(file, 0, g.size, func(b Batch, _ int64) error {
		if b.LastOffset() < c.logStart {
			return nil
		}
		return fn(b)
	})
	if err != nil {
		return fmt.Errorf("%q: %w", g.path, err)
	}
	return nil
}

// retains says whether a record stays: it is the newest of its key, and no tombstone whose time has come. Records
// without a key have no place in a compacted topic.
//
// Source: Kafka, Cleaner.shouldRetainRecord.
func (c *compaction) retains(r Record, offset int64, expired bool) bool {
	if r.Key == nil || expired && r.Value == nil {
		return false
	}
	newest, known := c.latest[string(r.Key)]
	return !known || offset >= newest
}

// rewrite writes what stays of a group into a new file, synced. A nil segment: nothing would change.
//
// Producers need no empty batches to be remembered by, since their state is in the note.
func (c *compaction) rewrite(group []pick) (*segment, error) {
	s, last := c.p.store, group[len(group)-1]
	var generation int64
	for _, g := range group {
		generation = max(generation, g.generation+1)
	}
	out := newSegment(c.p.dir(), group[0].base, generation, last.createdMs)
	file, err := s.files.create(out)
	if err != nil {
		return nil, err
	}
	w := segmentWriter{file: file, segment: out, interval: c.config.IndexIntervalBytes}
	changed := len(group) > 1
	var size int64
	for _, g := range group {
		size += g.size
		err = c.walk(g, func(b Batch) error {
			kept, different, err := c.filter(b)
			changed = changed || different
			if err != nil || kept == nil {
				return err
			}
			return w.write(kept)
		})
		if err != nil {
			break
		}
	}
	out.next = last.next
	if err == nil && (changed || out.size != size) {
		if err = w.finish(); err == nil {
			s.files.release(file)
			c.saved += size - out.size
			return out, s.config.FS.SyncDir(c.p.dir())
		}
	}
	s.files.release(file)
	s.unlink([]removal{{c.p, out}}, nil)
	return nil, err
}

// filter returns what stays of a batch, nil when that is nothing. The first pass that meets a tombstone sets the
// time from which a later one may drop it (KIP-534).
func (c *compaction) filter(b Batch) (kept Batch, different bool, err error) {
	if b.IsControl() {
		return b, false, nil
	}
	horizon, has := b.DeleteHorizon()
	expired := has && horizon <= c.nowMs
	tombstones, stay, all := 0, 0, 0
	err = b.Records(func(r Record) error {
		all++
		if !c.retains(r, b.BaseOffset()+int64(r.OffsetDelta), expired) {
			return nil
		}
		stay++
		if r.Value == nil {
			tombstones++
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	c.dropped += int64(all - stay)
	if stay == 0 {
		return nil, true, nil
	}
	newHorizon := KeepHorizon
	if tombstones > 0 && !has {
		newHorizon = c.nowMs + c.config.DeleteRetentionMs
	}
	if stay == all && newHorizon == KeepHorizon {
		return b, false, nil
	}
	kept, _, err = RewriteBatch(b, newHorizon, func(r Record) bool {
		return c.retains(r, b.BaseOffset()+int64(r.OffsetDelta), expired)
	})
	return kept, true, err
}

// segmentWriter gathers batches into large writes.
type segmentWriter struct {
	file     *openFile
	segment  *segment
	interval int32
	buffer   []byte
	written  int64
}

func (w *segmentWriter) write(b Batch) error {
	w.segment.add(b, w.interval)
	w.buffer = append(w.buffer, b...)
	if len(w.buffer) < frameBytes {
		return nil
	}
	return w.drain()
}

func (w *segmentWriter) drain() error {
	if _, err := w.file.WriteAt(w.buffer, w.written); err != nil {
		return err
	}
	w.written += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	return nil
}

// finish writes the rest and makes the file durable.
func (w *segmentWriter) finish() error {
	if err := w.drain(); err != nil {
		return err
	}
	return w.file.Sync()
}
