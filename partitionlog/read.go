package partitionlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
)

// A walk over headers reads a little first, for a fetch is usually near its goal, and more when it goes on.
const (
	firstChunk = 8 << 10
	readChunk  = 64 << 10
)

// lookups bounds how often a reader looks again after compaction took a file away under its hands. Each time
// the list in memory is newer; losing three times in a row means that something else is wrong.
const lookups = 4

// Read returns whole batches, beginning with the one that contains offset or, where compaction left a hole, the next
// one, of at most maxBytes together; the first one regardless of its size if minOne. At the high watermark and in an
// empty rest it returns nil. The first batch may begin below offset.
//
// Errors: ErrOffsetOutOfRange, ErrOffline, ErrUnknownTopic, and what the disk says.
// Owner: the caller owns the bytes.
func (p *Partition) Read(offset int64, maxBytes int, minOne bool) (records []byte, err error) {
	return p.ReadInto(func(n int) []byte { return make([]byte, n) }, offset, maxBytes, minOne)
}

// ReadInto is Read with memory of the caller's: alloc is asked for so many bytes, whatever is in them, when there is
// something to read, and again where the first answer was no use.
func (p *Partition) ReadInto(alloc func(int) []byte, offset int64, maxBytes int, minOne bool) (records []byte, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	for range lookups {
		logStart, highWatermark := p.Offsets()
		if offset < logStart || offset > highWatermark {
			return nil, fmt.Errorf("%w: %d is not within [%d, %d] of %s", ErrOffsetOutOfRange, offset, logStart, highWatermark, p)
		}
		records, err = p.readOnce(alloc, offset, maxBytes, minOne)
		if !errors.Is(err, fs.ErrNotExist) {
			return records, err
		}
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	return records, err
}

// readOnce goes from segment to segment until one has a batch at or above offset.
func (p *Partition) readOnce(alloc func(int) []byte, offset int64, maxBytes int, minOne bool) ([]byte, error) {
	for {
		g, position, err := p.locate(offset)
		if err != nil || g.segment == nil {
			return nil, err
		}
		records, next, err := p.readSegment(alloc, g, position, offset, maxBytes, minOne)
		if err != nil || next < 0 {
			return records, err
		}
		offset = next // all batches of this segment end below offset
	}
}

// locate finds the segment and the position from which to look for an offset. No segment: there is nothing.
func (p *Partition) locate(offset int64) (g pick, position int64, err error) {
	for {
		needHead := false
		p.mu.RLock()
		if found := p.segmentFor(offset); found != nil {
			g = found.pick()
			var at indexEntry
			at, needHead = found.index.atOffset(offset)
			position = at.position
		}
		p.mu.RUnlock()
		if !needHead {
			return g, position, nil
		}
		if err := p.buildHead(g.segment); err != nil {
			return pick{}, 0, err
		}
	}
}

// segmentFor returns the first segment that may hold a batch at or above offset. The caller holds mu.
func (p *Partition) segmentFor(offset int64) *segment {
	i := sort.Search(len(p.segments), func(i int) bool { return p.segments[i].next > offset })
	if i == len(p.segments) {
		return nil
	}
	return p.segments[i]
}

// readSegment reads batches from a position. next is -1, or where to go on because nothing here reaches offset.
func (p *Partition) readSegment(
	alloc func(int) []byte, g pick, position, offset int64, maxBytes int, minOne bool,
) (records []byte, next int64, err error) {
	file, err := p.store.files.acquire(g.segment)
	if err != nil {
		return nil, 0, err
	}
	defer p.store.files.release(file)
	found := int64(-1)
	first := 0
	err = walkHeaders(file, position, g.size, func(b Batch, at int64) bool {
		if b.LastOffset() < offset {
			return true
		}
		found, first = at, int(b.Length())+logOverhead
		return false
	})
	if err != nil {
		return nil, 0, err
	}
	if found < 0 {
		return nil, g.next, nil
	}
	length := min(int64(maxBytes), g.size-found)
	if length < int64(first) {
		if !minOne {
			return nil, -1, nil
		}
		length = int64(first)
	}
	records = alloc(int(length))
	if _, err := file.ReadAt(records, found); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read %q at %d: %w", g.path, found, err)
	}
	return records[:wholeBatches(records)], -1, nil
}

// wholeBatches returns the length of the batches that lie wholly within b.
func wholeBatches(b []byte) int {
	end := 0
	for {
		batch, _, err := NextBatch(b[end:])
		if err != nil {
			return end
		}
		end += len(batch)
	}
}

// walkHeaders calls fn with each batch between two positions, until fn returns false. Only the header of the batch
// that fn sees is there.
//
// Errors: ErrDamaged when the bytes are no batches.
func walkHeaders(file io.ReaderAt, from, to int64, fn func(header Batch, position int64) bool) error {
	var window []byte
	start := from // position of window[0]
	chunk := int64(firstChunk)
	for from < to {
		if need := from - start + batchOverhead; need > int64(len(window)) {
			length := min(chunk, to-from)
			chunk = readChunk
			if length < batchOverhead {
				return fmt.Errorf("%w: %d bytes at position %d are no batch", ErrDamaged, length, from)
			}
			if int64(cap(window)) < length {
				window = make([]byte, length)
			}
			window, start = window[:length], from
			if _, err := file.ReadAt(window, start); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
		}
		header := Batch(window[from-start:][:batchOverhead])
		size := int64(header.Length()) + logOverhead
		if header.Magic() != magicV2 || size < batchOverhead || from+size > to {
			return fmt.Errorf("%w: no batch at position %d", ErrDamaged, from)
		}
		if !fn(header, from) {
			return nil
		}
		from += size
	}
	return nil
}

// walkBatches is walkHeaders with whole batches.
func walkBatches(file io.ReaderAt, from, to int64, fn func(b Batch, position int64) error) error {
	var failed error
	var buffer []byte
	err := walkHeaders(file, from, to, func(header Batch, position int64) bool {
		size := int(header.Length()) + logOverhead
		if cap(buffer) < size {
			buffer = make([]byte, max(size, readChunk))
		}
		b := buffer[:size]
		if _, failed = file.ReadAt(b, position); failed != nil && !errors.Is(failed, io.EOF) {
			return false
		}
		failed = fn(b, position)
		return failed == nil
	})
	if err != nil {
		return err
	}
	return failed
}
