package api

import (
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kohort/kohort/partitionlog"
)

// storeErrors maps the store's errors to Kafka's, for apis about topics and records.
var storeErrors = []struct {
	err  error
	code *kerr.Error
}{
	{partitionlog.ErrTopicExists, kerr.TopicAlreadyExists},
	{partitionlog.ErrUnknownTopic, kerr.UnknownTopicOrPartition},
	{partitionlog.ErrInvalidPartitions, kerr.InvalidPartitions},
	{partitionlog.ErrOffsetOutOfRange, kerr.OffsetOutOfRange},
	{partitionlog.ErrOffline, kerr.KafkaStorageError},
	{partitionlog.ErrStorage, kerr.KafkaStorageError},
	{partitionlog.ErrDiskFull, kerr.KafkaStorageError},
	{partitionlog.ErrFenced, kerr.NotLeaderForPartition},
	{partitionlog.ErrClosed, kerr.NotLeaderForPartition},
	{partitionlog.ErrCorruptBatch, kerr.CorruptMessage},
	{partitionlog.ErrInvalidRecord, kerr.InvalidRecord},
	{partitionlog.ErrPolicyViolation, kerr.InvalidRecord},
	{partitionlog.ErrUnsupportedMagic, kerr.InvalidRecord},
	{partitionlog.ErrMessageTooLarge, kerr.MessageTooLarge},
	{partitionlog.ErrInvalidTimestamp, kerr.InvalidTimestamp},
	{partitionlog.ErrUnsupportedCodec, kerr.UnsupportedCompressionType},
	{partitionlog.ErrOutOfOrderSequence, kerr.OutOfOrderSequenceNumber},
	{partitionlog.ErrInvalidProducerEpoch, kerr.InvalidProducerEpoch},
	{partitionlog.ErrUnknownProducerID, kerr.UnknownProducerID},
	{partitionlog.ErrDuplicateSequence, kerr.DuplicateSequenceNumber},
}

// kafkaError is the one mapping of Go errors to Kafka's: a Kafka error is itself, the store's are in the table, a bad
// topic configuration is INVALID_CONFIG, and what nobody expected UNKNOWN_SERVER_ERROR.
func kafkaError(err error) *kerr.Error {
	if err == nil {
		return nil
	}
	var k *kerr.Error
	if errors.As(err, &k) {
		return k
	}
	var c *partitionlog.ConfigError
	if errors.As(err, &c) {
		return kerr.InvalidConfig
	}
	for _, row := range storeErrors {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return kerr.UnknownServerError
}

// errorCode is kafkaError's code; 0 for nil.
func errorCode(err error) int16 {
	if err == nil {
		return 0
	}
	return kafkaError(err).Code
}

// sentence is an error's text for a client that shows it: without our package's name.
func sentence(err error) string {
	return strings.TrimPrefix(err.Error(), "partitionlog: ")
}
