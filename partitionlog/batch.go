package partitionlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Where the fields of a v2 record batch lie. Everything is big-endian.
//
//	Shape:
//	       0        4        8       12       16 17       21    23
//	       | base offset     | length | leader | m| crc32c | attr |
//	                                    epoch    \ covers from attr to the end
//	      23       27                35                43                51    53       57       61
//	       | last   | base timestamp  | max timestamp   | producer id     |epoch| base   | records|
//	         offset                                                              sequence  count
//	         delta
//
// Source: Kafka, DefaultRecordBatch.
const (
	baseOffsetAt      = 0
	lengthAt          = 8
	leaderEpochAt     = 12
	magicAt           = 16
	crcAt             = 17
	attributesAt      = 21
	lastOffsetDeltaAt = 23
	baseTimestampAt   = 27
	maxTimestampAt    = 35
	producerIDAt      = 43
	producerEpochAt   = 51
	baseSequenceAt    = 53
	recordsCountAt    = 57
	recordsAt         = 61

	batchOverhead = recordsAt     // the header, all of it
	logOverhead   = leaderEpochAt // what the length field does not count
)

// The bits of a batch's attributes.
const (
	codecMask         = 0x07
	logAppendTimeFlag = 0x08
	transactionalFlag = 0x10
	controlFlag       = 0x20
	deleteHorizonFlag = 0x40
)

// magicV2 is the only batch format that is stored.
const magicV2 = 2

// What the fields hold when there is nothing to say.
const (
	NoTimestamp     = int64(-1)
	NoProducerID    = int64(-1)
	NoProducerEpoch = int16(-1)
	NoSequence      = int32(-1)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// TimestampType says who set a batch's timestamps: Kafka's message.timestamp.type.
type TimestampType int8

// The timestamp types, numbered as Kafka does.
const (
	CreateTime    TimestampType = 0
	LogAppendTime TimestampType = 1
)

// String is the value of message.timestamp.type.
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Batch is one v2 record batch, exactly: no byte before or behind it. The getters trust that the
// header is there, which NextBatch and ValidateBatch check.
//
// Owner: whoever owns the bytes; setters write through.
type Batch []byte

// NextBatch cuts the first batch off b. It looks at length and magic only.
//
// Errors: ErrCorruptBatch when b is shorter than the length says, or length or magic is impossible;
// ErrUnsupportedMagic for the formats before v2.
func NextBatch(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) <= magicAt {
		return nil, b, fmt.Errorf("%w: %d bytes are too few for a batch", ErrCorruptBatch, len(b))
	}
	magic := int8(b[magicAt])
	if magic == 0 || magic == 1 {
		return nil, b, fmt.Errorf("%w: magic %d; produce with a client of Kafka 0.11 or newer", ErrUnsupportedMagic, magic)
	}
	if magic != magicV2 {
		return nil, b, fmt.Errorf("%w: magic %d", ErrCorruptBatch, magic)
	}
	size := int64(int32(binary.BigEndian.Uint32(b[lengthAt:]))) + logOverhead
	if size < batchOverhead {
		return nil, b, fmt.Errorf("%w: size %d is less than the header's %d", ErrCorruptBatch, size, batchOverhead)
	}
	if size > int64(len(b)) {
		return nil, b, fmt.Errorf("%w: size %d, but only %d bytes are left", ErrCorruptBatch, size, len(b))
	}
	return b[:size:size], b[size:], nil
}

// BaseOffset is the offset that the record with delta 0 has or had.
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b[baseOffsetAt:])) }

// SetBaseOffset is outside the CRC.
func (b Batch) SetBaseOffset(offset int64) {
	binary.BigEndian.PutUint64(b[baseOffsetAt:], uint64(offset))
}

// LastOffset is the offset of the last record that the batch was produced with.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// NextOffset is where the next batch may begin.
func (b Batch) NextOffset() int64 { return b.LastOffset() + 1 }

// Length is the length field: the size without base offset and length.
func (b Batch) Length() int32 { return int32(binary.BigEndian.Uint32(b[lengthAt:])) }

// LeaderEpoch is the partition's leader epoch at the append.
func (b Batch) LeaderEpoch() int32 { return int32(binary.BigEndian.Uint32(b[leaderEpochAt:])) }

// SetLeaderEpoch is outside the CRC.
func (b Batch) SetLeaderEpoch(epoch int32) {
	binary.BigEndian.PutUint32(b[leaderEpochAt:], uint32(epoch))
}

// Magic is the format's version.
func (b Batch) Magic() int8 { return int8(b[magicAt]) }

// CRC is the checksum that the batch carries.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[crcAt:]) }

// ComputeCRC is the checksum that it should carry.
func (b Batch) ComputeCRC() uint32 { return crc32.Checksum(b[attributesAt:], castagnoli) }

// Attributes holds codec, timestamp type and flags.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[attributesAt:])) }

// Codec is how the records are compressed.
func (b Batch) Codec() Codec { return Codec(b.Attributes() & codecMask) }

// IsTransactional reports whether the batch is part of a transaction.
func (b Batch) IsTransactional() bool { return b.Attributes()&transactionalFlag != 0 }

// IsControl reports whether the batch holds transaction markers instead of records.
func (b Batch) IsControl() bool { return b.Attributes()&controlFlag != 0 }

// TimestampType says whether MaxTimestamp stands for every record's timestamp.
func (b Batch) TimestampType() TimestampType {
	if b.Attributes()&logAppendTimeFlag != 0 {
		return LogAppendTime
	}
	return CreateTime
}

// DeleteHorizon is the time from which compaction may drop the batch's tombstones, once it has set one.
//
// Units: milliseconds.
func (b Batch) DeleteHorizon() (ms int64, ok bool) {
	if b.Attributes()&deleteHorizonFlag == 0 {
		return NoTimestamp, false
	}
	return b.BaseTimestamp(), true
}

// LastOffsetDelta is the last offset less the base offset; compaction keeps it.
func (b Batch) LastOffsetDelta() int32 { return int32(binary.BigEndian.Uint32(b[lastOffsetDeltaAt:])) }

// BaseTimestamp is what the records' timestamp deltas are added to.
//
// Units: milliseconds.
func (b Batch) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[baseTimestampAt:])) }

// MaxTimestamp is the largest timestamp in the batch.
//
// Units: milliseconds.
func (b Batch) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(b[maxTimestampAt:])) }

// SetMaxTimestamp sets timestamp type and largest timestamp, and the CRC when one of them changed.
//
// Source: Kafka, DefaultRecordBatch.setMaxTimestamp.
func (b Batch) SetMaxTimestamp(t TimestampType, ms int64) {
	if b.TimestampType() == t && b.MaxTimestamp() == ms {
		return
	}
	attributes := b.Attributes() &^ logAppendTimeFlag
	if t == LogAppendTime {
		attributes |= logAppendTimeFlag
	}
	binary.BigEndian.PutUint16(b[attributesAt:], uint16(attributes))
	binary.BigEndian.PutUint64(b[maxTimestampAt:], uint64(ms))
	b.setCRC()
}

func (b Batch) setCRC() { binary.BigEndian.PutUint32(b[crcAt:], b.ComputeCRC()) }

// ProducerID is NoProducerID unless the producer is idempotent or transactional.
func (b Batch) ProducerID() int64 { return int64(binary.BigEndian.Uint64(b[producerIDAt:])) }

// ProducerEpoch fences older producers with the same id.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[producerEpochAt:])) }

// BaseSequence is the sequence number of the record with delta 0.
func (b Batch) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(b[baseSequenceAt:])) }

// LastSequence is the sequence number of the last record; numbers wrap to 0 after the largest int32.
//
// Source: Kafka, DefaultRecordBatch.incrementSequence.
func (b Batch) LastSequence() int32 {
	base := b.BaseSequence()
	if base == NoSequence {
		return NoSequence
	}
	return int32((int64(base) + int64(b.LastOffsetDelta())) & 0x7fffffff)
}

// NumRecords is how many records the batch says it has.
func (b Batch) NumRecords() int32 { return int32(binary.BigEndian.Uint32(b[recordsCountAt:])) }
