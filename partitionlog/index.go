package partitionlog

import "sort"

// indexEntry points at a batch.
type indexEntry struct {
	offset    int64 // of the batch
	position  int64 // in the file
	maxBefore int64 // largest timestamp of the batches before it in this segment
}

// index finds a position near an offset or a timestamp: sparse, one entry per index.interval.bytes, in memory.
//
// It has two halves. The tail covers what was appended since the segment was opened and grows with it. The head
// covers what was there before; it is built by the first reader that needs it, from bytes that no longer change.
//
// Owner: guarded by the partition's mu.
type index struct {
	head      []indexEntry
	headBuilt bool

	tailFrom   int64 // position where the tail begins; 0: there is no head
	tailOffset int64 // no batch of the tail is below it, no batch of the head reaches it
	tailMax    int64 // largest timestamp of the head
	tail       []indexEntry
}

// add notes a batch unless the last noted one is near.
func (x *index) add(e indexEntry, interval int64) {
	last := x.tailFrom
	if n := len(x.tail); n > 0 {
		last = x.tail[n-1].position
	}
	if e.position-last >= max(interval, 1) {
		x.tail = append(x.tail, e)
	}
}

// atOffset returns the last noted batch at or below an offset. needHead says that the answer needs the head, which
// is not built.
func (x *index) atOffset(offset int64) (at indexEntry, needHead bool) {
	if x.tailFrom > 0 && offset < x.tailOffset {
		return lastBefore(x.head, func(e indexEntry) bool { return e.offset > offset }), !x.headBuilt
	}
	return x.inTail(lastBefore(x.tail, func(e indexEntry) bool { return e.offset > offset })), false
}

// atTimestamp returns the last noted batch before which every timestamp is below ts.
func (x *index) atTimestamp(ts int64) (at indexEntry, needHead bool) {
	if x.tailFrom > 0 && x.tailMax >= ts {
		return lastBefore(x.head, func(e indexEntry) bool { return e.maxBefore >= ts }), !x.headBuilt
	}
	return x.inTail(lastBefore(x.tail, func(e indexEntry) bool { return e.maxBefore >= ts })), false
}

func (x *index) inTail(e indexEntry) indexEntry {
	if e.position < x.tailFrom {
		return indexEntry{offset: x.tailOffset, position: x.tailFrom, maxBefore: x.tailMax}
	}
	return e
}

// lastBefore returns the last entry for which beyond is false; the zero entry is the beginning of the segment.
func lastBefore(entries []indexEntry, beyond func(indexEntry) bool) indexEntry {
	n := sort.Search(len(entries), func(i int) bool { return beyond(entries[i]) })
	if n == 0 {
		return indexEntry{maxBefore: NoTimestamp}
	}
	return entries[n-1]
}

// buildHead walks the batch headers below the tail once and installs what it found.
func (p *Partition) buildHead(g *segment) error {
	file, err := p.store.files.acquire(g)
	if err != nil {
		return err
	}
	defer p.store.files.release(file)
	p.mu.RLock()
	end := g.index.tailFrom
	p.mu.RUnlock()
	interval := int64(p.config.Load().IndexIntervalBytes)
	built := index{}
	maxTimestamp := NoTimestamp
	err = walkHeaders(file, 0, end, func(b Batch, position int64) bool {
		built.add(indexEntry{offset: b.BaseOffset(), position: position, maxBefore: maxTimestamp}, interval)
		maxTimestamp = max(maxTimestamp, b.MaxTimestamp())
		return true
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	g.index.head, g.index.headBuilt = built.tail, true
	p.mu.Unlock()
	return nil
}
