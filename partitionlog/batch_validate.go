package partitionlog

import (
	"fmt"
	"math"
)

// DefaultMaxDecompressed bounds what the records of one batch may decompress to. It is also the bound
// of Records and RewriteBatch, so rules that permit more would let a batch in that cannot be read.
//
// Deviation: Kafka decompresses as a stream and has no bound; we keep the records of one batch in memory.
const DefaultMaxDecompressed = 128 << 20

// BatchRules is what ValidateBatch holds a batch against, beside the format's own rules.
type BatchRules struct {
	MaxBytes        int // max.message.bytes; 0 = no limit
	MaxDecompressed int // bytes; 0 = DefaultMaxDecompressed

	// Coordinator is set for batches that the broker itself writes. They may carry control records,
	// offsets with holes and a count that differs from them.
	Coordinator bool
	// RefuseTransactional refuses batches of transactions.
	RefuseTransactional bool
	// RefuseZstd is for Produce requests before version 7.
	RefuseZstd bool

	Compacted bool          // cleanup.policy has compact: every record needs a key
	Timestamp TimestampType // message.timestamp.type
	Now       int64         // ms
	BeforeMax int64         // message.timestamp.before.max.ms
	AfterMax  int64         // message.timestamp.after.max.ms
}

// ClientRules returns rules with Kafka's defaults for a topic: no limit on size or on old timestamps, at
// most an hour into the future.
func ClientRules(now int64) BatchRules {
	return BatchRules{Now: now, BeforeMax: math.MaxInt64, AfterMax: 3600_000}
}

// ValidateBatch checks that b is exactly one batch which may be appended, and returns the largest timestamp
// of its records. The caller then sets base offset, leader epoch and, by SetMaxTimestamp, timestamp type and
// largest timestamp (that one or the time of the append). An uncompressed batch costs no allocation.
//
// Errors: ErrCorruptBatch (length, CRC), ErrUnsupportedMagic, ErrMessageTooLarge, ErrUnsupportedCodec,
// ErrInvalidTimestamp, and ErrInvalidRecord for everything else.
// Source: Kafka, ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.
func ValidateBatch(b Batch, r BatchRules) (maxTimestamp int64, err error) {
	if err := checkFraming(b, &r); err != nil {
		return NoTimestamp, err
	}
	if err := checkHeader(b, &r); err != nil {
		return NoTimestamp, err
	}
	if got, want := b.ComputeCRC(), b.CRC(); got != want {
		return NoTimestamp, fmt.Errorf("%w: its crc is %#08x, but its bytes have %#08x", ErrCorruptBatch, want, got)
	}
	records, err := openRecords(b, r.maxDecompressed())
	if err != nil {
		return NoTimestamp, err
	}
	defer records.release()
	return checkRecords(b, records.bytes, &r)
}

func (r *BatchRules) maxDecompressed() int {
	if r.MaxDecompressed > 0 {
		return r.MaxDecompressed
	}
	return DefaultMaxDecompressed
}

// checkFraming checks size and number of batches.
func checkFraming(b Batch, r *BatchRules) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: no record batch at all; send exactly one per partition", ErrInvalidRecord)
	}
	_, rest, err := NextBatch(b)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes behind the record batch; send exactly one per partition", ErrInvalidRecord, len(rest))
	}
	if r.MaxBytes > 0 && len(b) > r.MaxBytes {
		return fmt.Errorf("%w: %d bytes, max.message.bytes permits %d", ErrMessageTooLarge, len(b), r.MaxBytes)
	}
	return nil
}

// checkHeader checks what the header alone tells.
func checkHeader(b Batch, r *BatchRules) error {
	codec := b.Codec()
	if codec > Zstd {
		return fmt.Errorf("%w: %d; use none, gzip, snappy, lz4 or zstd", ErrUnsupportedCodec, codec)
	}
	if codec == Zstd && r.RefuseZstd {
		return fmt.Errorf("%w: zstd needs Produce version 7 or newer", ErrUnsupportedCodec)
	}
	count, span := b.NumRecords(), int64(b.LastOffsetDelta())+1
	if count < 0 || span <= 0 {
		return fmt.Errorf("%w: record count %d, last offset delta %d", ErrInvalidRecord, count, span-1)
	}
	if r.RefuseTransactional && b.IsTransactional() {
		return fmt.Errorf("%w: transactional batches are not accepted", ErrInvalidRecord)
	}
	if r.Timestamp == CreateTime && b.TimestampType() == LogAppendTime {
		return fmt.Errorf("%w: only the broker may set the timestamp type LogAppendTime", ErrInvalidTimestamp)
	}
	if r.Coordinator {
		return nil
	}
	if base := b.BaseOffset(); base != 0 {
		return fmt.Errorf("%w: base offset %d of a produced batch; it must be 0", ErrInvalidRecord, base)
	}
	if count == 0 || int64(count) != span {
		return fmt.Errorf("%w: record count %d, last offset delta %d", ErrInvalidRecord, count, span-1)
	}
	if b.IsControl() {
		return fmt.Errorf("%w: only the broker may write control records", ErrInvalidRecord)
	}
	if b.ProducerID() > NoProducerID && b.BaseSequence() < 0 {
		return fmt.Errorf("%w: producer id %d with base sequence %d", ErrInvalidRecord, b.ProducerID(), b.BaseSequence())
	}
	return nil
}
