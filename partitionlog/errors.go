package partitionlog

import (
	"errors"
	"fmt"
)

// Sentinels of the catalogue and of the store's life. The broker maps each to one Kafka code.
var (
	// ErrTopicExists says that the name is taken, also by a topic whose deletion is under way.
	ErrTopicExists = errors.New("partitionlog: topic already exists")
	// ErrUnknownTopic says that the topic was deleted, is being deleted or never existed.
	ErrUnknownTopic = errors.New("partitionlog: unknown topic")
	// ErrInvalidTopic is Kafka's INVALID_TOPIC_EXCEPTION: a name that Kafka does not permit.
	ErrInvalidTopic = errors.New("partitionlog: invalid topic name")
	// ErrInvalidPartitions says that a partition count is below one, above the bound, or not larger than before.
	ErrInvalidPartitions = errors.New("partitionlog: invalid number of partitions")
	// ErrOffsetOutOfRange says that an offset lies outside [log start, high watermark].
	ErrOffsetOutOfRange = errors.New("partitionlog: offset out of range")
	// ErrOffline says that a write of this partition's segment went wrong; it heals at the next start.
	ErrOffline = errors.New("partitionlog: partition is offline until restart")
	// ErrStorage says that the journal could not make the entry durable; nobody knows whether it survives a crash.
	ErrStorage = errors.New("partitionlog: journal write went wrong")
	// ErrDiskFull says that free space is below the floor; the entry was refused before the journal.
	ErrDiskFull = errors.New("partitionlog: free disk space is below the floor")
	// ErrFenced says that the append names an incarnation that has ended; its author must reload.
	ErrFenced = errors.New("partitionlog: append of an ended incarnation")
	// ErrClosed says that the store is closed or has given up.
	ErrClosed = errors.New("partitionlog: store is closed")
)

// Sentinels of a batch that is refused.
var (
	// ErrCorruptBatch is Kafka's CORRUPT_MESSAGE: wrong CRC, wrong length, undecodable records.
	ErrCorruptBatch = errors.New("partitionlog: corrupt record batch")
	// ErrInvalidRecord is Kafka's INVALID_RECORD: well-formed, but against the rules.
	ErrInvalidRecord = errors.New("partitionlog: invalid record")
	// ErrUnsupportedMagic is Kafka's UNSUPPORTED_FOR_MESSAGE_FORMAT: not a v2 batch.
	ErrUnsupportedMagic = errors.New("partitionlog: unsupported record format")
	// ErrMessageTooLarge is Kafka's MESSAGE_TOO_LARGE: above max.message.bytes, or above what a journal frame holds.
	ErrMessageTooLarge = errors.New("partitionlog: record batch too large")
	// ErrInvalidTimestamp is Kafka's INVALID_TIMESTAMP: too far from the broker's clock.
	ErrInvalidTimestamp = errors.New("partitionlog: timestamp out of range")
	// ErrUnsupportedCodec is Kafka's UNSUPPORTED_COMPRESSION_TYPE.
	ErrUnsupportedCodec = errors.New("partitionlog: unsupported compression codec")
	// ErrOutOfOrderSequence is Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER.
	ErrOutOfOrderSequence = errors.New("partitionlog: out of order sequence number")
	// ErrInvalidProducerEpoch is Kafka's INVALID_PRODUCER_EPOCH: older than the last seen epoch of that producer.
	ErrInvalidProducerEpoch = errors.New("partitionlog: invalid producer epoch")
	// ErrUnknownProducerID is Kafka's UNKNOWN_PRODUCER_ID. Kafka 4 accepts any sequence of a producer that it does
	// not know, and so do we; the sentinel exists so that the broker's mapping is complete.
	ErrUnknownProducerID = errors.New("partitionlog: unknown producer id")
	// ErrDuplicateSequence is Kafka's DUPLICATE_SEQUENCE_NUMBER. Recent duplicates are answered with their original
	// offset instead, and older ones are out of order, as in Kafka 4.
	ErrDuplicateSequence = errors.New("partitionlog: duplicate sequence number")
	// ErrPolicyViolation says that a client's batch has a form that only the coordinator may write.
	ErrPolicyViolation = errors.New("partitionlog: batch is reserved to the coordinator")
)

// Sentinels of a data directory that Open refuses.
var (
	// ErrDamaged says that files of the data directory contradict each other or their checksums.
	ErrDamaged = errors.New("partitionlog: data directory is damaged")
	// ErrNewerFormat says that a newer version of this program wrote the data directory.
	ErrNewerFormat = errors.New("partitionlog: data directory has a newer format")
)

// ConfigError says which topic property has which unusable value, and why.
type ConfigError struct {
	Name, Value, Reason string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("invalid value %s for configuration %s: %s", e.Value, e.Name, e.Reason)
}
