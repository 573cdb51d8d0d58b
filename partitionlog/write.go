package partitionlog

import (
	"path"
	"slices"
)

// writePieces writes the waiting batches behind the active segment, as few writes as segments allow, and makes them
// visible up to the high watermark that flush sets.
//
// Errors: what the disk says; the partition goes offline then.
func (p *Partition) writePieces() error {
	l := &p.loop
	for len(l.pieces) > 0 {
		if p.isOffline() {
			break
		}
		g := p.active()
		c := p.config.Load()
		if g == nil || g.mustRoll(g.size, l.pieces[0].batch, l.pieces[0].nowMs, c) {
			var err error
			if g, err = p.roll(l.pieces[0]); err != nil {
				return err
			}
		}
		n, size := 1, g.size+int64(len(l.pieces[0].batch))
		for n < len(l.pieces) && !g.mustRoll(size, l.pieces[n].batch, l.pieces[n].nowMs, c) {
			size += int64(len(l.pieces[n].batch))
			n++
		}
		if err := p.writeRun(g, l.pieces[:n], c.IndexIntervalBytes); err != nil {
			return err
		}
		l.pieces = slices.Delete(l.pieces, 0, n)
	}
	return nil
}

// writeRun writes batches that all belong into one segment.
func (p *Partition) writeRun(g *segment, run []piece, interval int32) error {
	if err := p.hold(g); err != nil {
		return err
	}
	var bytes []byte = run[0].batch
	if len(run) > 1 {
		bytes = p.store.scratch[:0]
		for _, r := range run {
			bytes = append(bytes, r.batch...)
		}
		p.store.scratch = bytes
	}
	if _, err := g.file.WriteAt(bytes, g.size); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range run {
		p.epochs = p.epochs.assign(r.batch.LeaderEpoch(), r.batch.BaseOffset())
		g.add(r.batch, interval)
	}
	p.bytes.Add(int64(len(bytes)))
	p.highWatermark.Store(g.next)
	return nil
}

// hold opens the segment's file and keeps it until a checkpoint has synced what is written now.
func (p *Partition) hold(g *segment) error {
	if g.file != nil {
		return nil
	}
	file, err := p.store.files.acquire(g)
	if err != nil {
		return err
	}
	g.file = file
	p.loop.dirty = append(p.loop.dirty, g)
	p.store.held++
	return nil
}

// roll begins a new active segment for a batch. The first one of a partition makes its directory.
func (p *Partition) roll(first piece) (*segment, error) {
	dir := p.dir()
	if !p.loop.hasDir {
		if err := p.store.config.FS.MkdirAll(dir); err != nil {
			return nil, err
		}
		p.loop.hasDir = true
		p.loop.newDir = true
	}
	g := newSegment(dir, first.batch.BaseOffset(), 0, first.nowMs)
	file, err := p.store.files.create(g)
	if err != nil {
		return nil, err
	}
	g.file = file
	p.loop.newFiles = true
	p.loop.dirty = append(p.loop.dirty, g)
	p.store.held++
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.active(); old != nil {
		old.sealedAt = p.store.applying
	}
	p.segments = append(p.segments, g)
	return g, nil
}

// dir is where the partition's segments lie.
func (p *Partition) dir() string {
	return path.Join(p.store.topicDir(p.topic, p.id), itoa(int64(p.index)))
}
