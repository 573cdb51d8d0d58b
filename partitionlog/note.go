package partitionlog

// encodeNote writes down what cannot be had from the segments: their list, the offsets, the epochs, the producers.
func (p *Partition) encodeNote(b []byte) []byte {
	e := encoder{b}
	l := &p.loop
	e.int(p.logStart.Load())
	e.int(l.nextOffset)
	e.int(p.cleanedTo)
	e.uint(uint64(len(p.epochs)))
	for _, epoch := range p.epochs {
		e.int(int64(epoch.epoch))
		e.int(epoch.start)
	}
	e.uint(uint64(len(p.segments)))
	for _, g := range p.segments {
		e.int(g.base)
		e.int(g.generation)
		e.int(g.size)
		e.int(g.next)
		e.int(g.firstTimestamp)
		e.int(g.maxTimestamp)
		e.int(g.createdMs)
	}
	e.uint(uint64(len(l.producers.known)))
	for _, id := range sortedKeys(l.producers.known) {
		state := l.producers.known[id]
		e.int(id)
		e.int(int64(state.epoch))
		e.int(state.lastMs)
		e.uint(uint64(state.count))
		for _, sent := range state.batches[:state.count] {
			e.int(int64(sent.baseSequence))
			e.int(int64(sent.lastSequence))
			e.int(sent.baseOffset)
		}
	}
	return e.b
}

// decodeNote is the inverse, into a new partition.
func (p *Partition) decodeNote(b []byte) error {
	d := decoder{b: b}
	l := &p.loop
	p.logStart.Store(d.int())
	l.nextOffset = d.int()
	l.assigned = l.nextOffset
	p.highWatermark.Store(l.nextOffset)
	p.cleanedTo = d.int()
	for range d.length() {
		p.epochs = append(p.epochs, epochStart{int32(d.int()), d.int()})
	}
	dir := p.dir()
	for range d.length() {
		g := newSegment(dir, d.int(), d.int(), 0)
		g.size, g.next = d.int(), d.int()
		g.firstTimestamp, g.maxTimestamp, g.createdMs = d.int(), d.int(), d.int()
		g.index = index{tailFrom: g.size, tailOffset: g.next, tailMax: g.maxTimestamp}
		p.segments = append(p.segments, g)
		p.bytes.Add(g.size)
	}
	for range d.length() {
		id := d.int()
		state := &producer{epoch: int16(d.int()), lastMs: d.int()}
		n := int(d.uint())
		if n < 1 || n > retainedBatches {
			d.fail()
			break
		}
		for i := range n {
			state.batches[i] = sentBatch{int32(d.int()), int32(d.int()), d.int()}
		}
		state.count = int8(n)
		if l.producers.known == nil {
			l.producers.known = make(map[int64]*producer)
		}
		l.producers.known[id] = state
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}
