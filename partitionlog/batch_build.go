package partitionlog

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Builder makes a record batch out of records. Its zero fields are set by NewBuilder and Reset to those of a
// producer that is not idempotent; set them before Bytes where they differ.
//
// Owner: one goroutine.
type Builder struct {
	LeaderEpoch   int32
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	Transactional bool
	Control       bool

	codec   Codec
	zstd    *zstd.Encoder // made when needed
	records []byte
	count   int32
	last    int32 // largest offset delta
	// The first record's timestamp, or the delete horizon when there is one.
	baseTimestamp int64
	maxTimestamp  int64
	horizon       bool
}

// NewBuilder returns an empty builder of batches with a codec.
func NewBuilder(codec Codec) *Builder {
	b := &Builder{codec: codec}
	b.Reset()
	return b
}

// Reset forgets the records and keeps the memory. Batches that Bytes returned stay as they are.
func (b *Builder) Reset() {
	*b = Builder{
		LeaderEpoch: -1, ProducerID: NoProducerID, ProducerEpoch: NoProducerEpoch, BaseSequence: NoSequence,
		codec: b.codec, zstd: b.zstd, records: b.records[:0], last: -1, maxTimestamp: NoTimestamp,
	}
}

// Len is the number of records so far.
func (b *Builder) Len() int { return int(b.count) }

// Size is what Bytes would return at most, before compression.
func (b *Builder) Size() int { return batchOverhead + len(b.records) }

// Add appends a record. Nil key and value are null. Offset deltas must increase.
func (b *Builder) Add(offsetDelta int32, timestamp int64, key, value []byte, headers []Header) {
	if offsetDelta <= b.last {
		panic(fmt.Sprintf("offset delta %d after %d", offsetDelta, b.last))
	}
	if b.count == 0 && !b.horizon {
		b.baseTimestamp = timestamp
	}
	b.count++
	b.last = offsetDelta
	b.maxTimestamp = max(b.maxTimestamp, timestamp)
	delta := timestamp - b.baseTimestamp
	size := 1 + varintLen(delta) + varintLen(int64(offsetDelta)) + bytesLen(key) + bytesLen(value) + varintLen(int64(len(headers)))
	for _, h := range headers {
		size += varintLen(int64(len(h.Key))) + len(h.Key) + bytesLen(h.Value)
	}
	out := slices.Grow(b.records, size+binary.MaxVarintLen32)
	out = binary.AppendVarint(out, int64(size))
	out = append(out, 0) // attributes
	out = binary.AppendVarint(out, delta)
	out = binary.AppendVarint(out, int64(offsetDelta))
	out = appendBytes(out, key)
	out = appendBytes(out, value)
	out = binary.AppendVarint(out, int64(len(headers)))
	for _, h := range headers {
		out = binary.AppendVarint(out, int64(len(h.Key)))
		out = append(out, h.Key...)
		out = appendBytes(out, h.Value)
	}
	b.records = out
}

// compressed appends the records as the codec has them.
func (b *Builder) compressed(out []byte) []byte {
	if b.codec != Zstd {
		return compress(out, b.records, b.codec)
	}
	if b.zstd == nil {
		b.zstd = newZstdWriter()
	}
	return b.zstd.EncodeAll(b.records, out)
}

func varintLen(v int64) int {
	n := 1
	for u := uint64(v<<1) ^ uint64(v>>63); u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

func bytesLen(p []byte) int {
	if p == nil {
		return 1
	}
	return varintLen(int64(len(p))) + len(p)
}

func appendBytes(out, p []byte) []byte {
	if p == nil {
		return binary.AppendVarint(out, -1)
	}
	return append(binary.AppendVarint(out, int64(len(p))), p...)
}

// Bytes returns the batch of the records so far, in memory of its own.
func (b *Builder) Bytes(baseOffset int64) Batch {
	return b.batch(baseOffset, max(b.last, 0), CreateTime, b.baseTimestamp, b.maxTimestamp)
}

func (b *Builder) batch(baseOffset int64, lastDelta int32, t TimestampType, baseTimestamp, maxTimestamp int64) Batch {
	out := make([]byte, batchOverhead, batchOverhead+len(b.records))
	codec := b.codec
	if b.count == 0 {
		codec = None
	} else {
		out = b.compressed(out)
	}
	attributes := uint16(codec)
	for _, f := range [...]struct {
		set bool
		bit uint16
	}{
		{t == LogAppendTime, logAppendTimeFlag},
		{b.Transactional, transactionalFlag},
		{b.Control, controlFlag},
		{b.horizon, deleteHorizonFlag},
	} {
		if f.set {
			attributes |= f.bit
		}
	}
	binary.BigEndian.PutUint64(out[baseOffsetAt:], uint64(baseOffset))
	binary.BigEndian.PutUint32(out[lengthAt:], uint32(len(out)-logOverhead))
	binary.BigEndian.PutUint32(out[leaderEpochAt:], uint32(b.LeaderEpoch))
	out[magicAt] = magicV2
	binary.BigEndian.PutUint16(out[attributesAt:], attributes)
	binary.BigEndian.PutUint32(out[lastOffsetDeltaAt:], uint32(lastDelta))
	binary.BigEndian.PutUint64(out[baseTimestampAt:], uint64(baseTimestamp))
	binary.BigEndian.PutUint64(out[maxTimestampAt:], uint64(maxTimestamp))
	binary.BigEndian.PutUint64(out[producerIDAt:], uint64(b.ProducerID))
	binary.BigEndian.PutUint16(out[producerEpochAt:], uint16(b.ProducerEpoch))
	binary.BigEndian.PutUint32(out[baseSequenceAt:], uint32(b.BaseSequence))
	binary.BigEndian.PutUint32(out[recordsCountAt:], uint32(b.count))
	Batch(out).setCRC()
	return out
}

// KeepHorizon leaves a rewritten batch's delete horizon as it is.
const KeepHorizon = int64(-1)

// RewriteBatch returns b with only the records that keep wants, for compaction. Base offset, last offset delta,
// leader epoch, codec, flags and producer fields stay, so that offsets and sequence checks do not notice; the
// largest timestamp is that of what is left. It returns b itself when all is kept and no horizon is to be set,
// and a batch without records when nothing is kept (the caller drops it unless a producer's last sequence is in it).
//
// deleteHorizon, unless KeepHorizon, is the time from which tombstones may go.
//
// Errors: as of Records.
// Source: Kafka, MemoryRecords.filterTo and buildRetainedRecordsInto; KIP-534.
func RewriteBatch(b Batch, deleteHorizon int64, keep func(Record) bool) (rewritten Batch, kept int, err error) {
	horizon, hasHorizon := b.DeleteHorizon()
	setHorizon := deleteHorizon != KeepHorizon && !hasHorizon
	out := NewBuilder(b.Codec())
	out.LeaderEpoch, out.ProducerID, out.ProducerEpoch, out.BaseSequence = b.LeaderEpoch(), b.ProducerID(), b.ProducerEpoch(), b.BaseSequence()
	out.Transactional, out.Control = b.IsTransactional(), b.IsControl()
	if setHorizon {
		horizon = deleteHorizon
	}
	if out.horizon = setHorizon || hasHorizon; out.horizon {
		out.baseTimestamp = horizon
	}
	err = b.Records(func(r Record) error {
		if keep(r) {
			out.Add(r.OffsetDelta, r.Timestamp, r.Key, r.Value, r.Headers)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	switch out.count {
	case b.NumRecords():
		if !setHorizon {
			return b, int(out.count), nil
		}
	case 0:
		out.horizon = false
		return out.batch(b.BaseOffset(), b.LastOffsetDelta(), b.TimestampType(), NoTimestamp, b.MaxTimestamp()), 0, nil
	}
	return out.batch(b.BaseOffset(), b.LastOffsetDelta(), b.TimestampType(), out.baseTimestamp, out.maxTimestamp), int(out.count), nil
}
