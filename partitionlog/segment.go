package partitionlog

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// segment is one file of a partition: batches, one after the other, nothing else.
//
// Owner: base, generation, path: anybody. The rest is guarded by the partition's mu and changed by the loop only.
// Invariant: base <= offsets of its records < next; size is a position between two batches.
type segment struct {
	base       int64
	generation int64 // 0 as appended; compaction writes a new file with a higher one
	path       string

	size           int64
	next           int64 // after the last batch that was ever appended to it
	firstTimestamp int64 // of the first batch; NoTimestamp when unknown
	maxTimestamp   int64
	createdMs      int64
	index          index

	file *openFile // held while it has bytes that no checkpoint has synced; the loop's
	// sealedAt is the LSN of the last entry in it, known once it is no longer active; 0 for one read from a table.
	sealedAt uint64
}

// segmentName is Kafka's, with a generation in the middle for compacted files; Kafka's own tools read both.
func segmentName(base, generation int64) string {
	if generation == 0 {
		return fmt.Sprintf("%020d.log", base)
	}
	return fmt.Sprintf("%020d.%d.log", base, generation)
}

// parseSegmentName is the inverse of segmentName.
func parseSegmentName(name string) (base, generation int64, ok bool) {
	rest, ok := strings.CutSuffix(name, ".log")
	if !ok {
		return 0, 0, false
	}
	digits, gen, compacted := strings.Cut(rest, ".")
	base, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || base < 0 {
		return 0, 0, false
	}
	if compacted {
		if generation, err = strconv.ParseInt(gen, 10, 64); err != nil {
			return 0, 0, false
		}
	}
	return base, generation, segmentName(base, generation) == name
}

func newSegment(dir string, base, generation, nowMs int64) *segment {
	return &segment{
		base: base, generation: generation, path: path.Join(dir, segmentName(base, generation)),
		next: base, firstTimestamp: NoTimestamp, maxTimestamp: NoTimestamp, createdMs: nowMs,
		index: index{tailOffset: base, tailMax: NoTimestamp},
	}
}

// add counts a batch that was written at the end. The caller holds the partition's mu, or nobody else knows the
// segment yet.
func (g *segment) add(b Batch, interval int32) {
	g.index.add(indexEntry{offset: b.BaseOffset(), position: g.size, maxBefore: g.maxTimestamp}, int64(interval))
	if g.size == 0 {
		g.firstTimestamp = b.MaxTimestamp()
	}
	g.size += int64(len(b))
	g.next = b.NextOffset()
	g.maxTimestamp = max(g.maxTimestamp, b.MaxTimestamp())
}

// mustRoll says whether a batch belongs into a new segment: this one is full, too old by the batch's own clock, or
// the batch's offset does not fit Kafka's 32-bit relative offsets.
//
// Deviation: a batch larger than segment.bytes gets a segment of its own; Kafka refuses it.
// Source: Kafka, LogSegment.shouldRoll.
func (g *segment) mustRoll(size int64, b Batch, nowMs int64, c *TopicConfig) bool {
	if size == 0 {
		return false
	}
	if size+int64(len(b)) > c.SegmentBytes || b.LastOffset()-g.base > 1<<31-1 {
		return true
	}
	if g.firstTimestamp >= 0 && b.MaxTimestamp() >= 0 {
		return b.MaxTimestamp()-g.firstTimestamp > c.segmentAgeMs()
	}
	return nowMs-g.createdMs > c.segmentAgeMs()
}

// pick is a segment as a reader saw it: what the loop may change since is copied.
type pick struct {
	*segment
	size, next, maxTimestamp int64
}

// pick copies; the caller holds the partition's mu.
func (g *segment) pick() pick { return pick{g, g.size, g.next, g.maxTimestamp} }
