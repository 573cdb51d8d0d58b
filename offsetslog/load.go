package offsetslog

import (
	"fmt"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// loadBytes is how much of a partition is read at once while it is replayed.
//
// Source: offsets.load.buffer.size, 5 MiB in Kafka; less here since several partitions load at a time.
const loadBytes = 1 << 20

// Loaded says what a replay has read.
type Loaded struct {
	Records, Skipped int
	Bytes            int64
	Next             int64 // the offset behind the last record
}

// Load reads a partition from its log start to its high watermark and hands over each record in order.
//
// Control batches and kinds of records that are not of classic groups are skipped and counted.
//
// Errors: *DecodeError with the offset in front of it; what reading the partition returns.
// Source: CoordinatorLoaderImpl.java.
func Load(p *partitionlog.Partition, fn func(coordinator.Record)) (Loaded, error) {
	var l Loaded
	next, end := p.Offsets()
	l.Next = next
	for l.Next < end {
		b, err := p.Read(l.Next, loadBytes, true)
		if err != nil {
			return l, err
		}
		if len(b) == 0 {
			break
		}
		l.Bytes += int64(len(b))
		for len(b) > 0 {
			var batch partitionlog.Batch
			if batch, b, err = partitionlog.NextBatch(b); err != nil {
				return l, err
			}
			if err := l.loadBatch(batch, fn); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

func (l *Loaded) loadBatch(batch partitionlog.Batch, fn func(coordinator.Record)) error {
	base := batch.BaseOffset()
	from := l.Next
	l.Next = batch.NextOffset()
	if batch.IsControl() {
		l.Skipped++
		return nil
	}
	return batch.Records(func(r partitionlog.Record) error {
		if base+int64(r.OffsetDelta) < from {
			return nil // before the log start, which may lie inside a batch
		}
		rec, err := Decode(r.Key, r.Value)
		if err != nil {
			return fmt.Errorf("offset %d: %w", base+int64(r.OffsetDelta), err)
		}
		if rec == nil {
			l.Skipped++
			return nil
		}
		l.Records++
		fn(rec)
		return nil
	})
}
