package offsetslog

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// The kinds of keys that are written, and the versions of their values.
//
// Source: CoordinatorRecordType.java; GroupCoordinatorRecordHelpers.java.
const (
	keyLegacyOffset = 0
	keyOffset       = 1
	keyGroup        = 2

	offsetValueVersion       = 3
	offsetValueWithExpiry    = 1
	groupMetadataValueLatest = 3
)

// MaxString is the longest string that a key or value can hold.
//
// Units: bytes of UTF-8.
const MaxString = 1<<15 - 1

// Encoder turns records into batches. It keeps its buffers between batches.
//
// Owner: one goroutine.
type Encoder struct {
	builder *partitionlog.Builder
	scratch []byte
}

// NewEncoder returns an encoder that writes batches with the given codec (offsets.topic.compression.codec).
func NewEncoder(codec partitionlog.Codec) *Encoder {
	return &Encoder{builder: partitionlog.NewBuilder(codec)}
}

// Add puts a record behind those of the present batch.
//
// Units: timestampMs is the time of the record, in milliseconds since the epoch.
func (e *Encoder) Add(r coordinator.Record, timestampMs int64) {
	key, value := e.appendRecord(r)
	e.builder.Add(int32(e.builder.Len()), timestampMs, key, value, nil)
}

// Size is how long the present batch is, in bytes and before compression.
func (e *Encoder) Size() int { return e.builder.Size() }

// Len is how many records the present batch has.
func (e *Encoder) Len() int { return e.builder.Len() }

// Take returns the present batch, in memory of its own, and begins another. Its base offset is 0; the store assigns the
// real one.
func (e *Encoder) Take() []byte {
	b := e.builder.Bytes(0)
	e.builder.Reset()
	return b
}

// appendRecord encodes key and value into the scratch buffer; both are valid until the next call.
func (e *Encoder) appendRecord(r coordinator.Record) (key, value []byte) {
	b := e.scratch[:0]
	tombstone := false
	switch r := r.(type) {
	case *coordinator.OffsetRecord:
		b = AppendOffsetKey(b, r.Group, r.Topic, r.Partition)
		tombstone = r.Tombstone
	case *coordinator.GroupRecord:
		b = AppendGroupKey(b, r.Group)
		tombstone = r.Tombstone
	default:
		panic(fmt.Sprintf("offsetslog: a record of type %T has no encoding", r))
	}
	n := len(b)
	if !tombstone {
		switch r := r.(type) {
		case *coordinator.OffsetRecord:
			b = appendOffsetValue(b, r)
		case *coordinator.GroupRecord:
			b = appendGroupValue(b, r)
		}
	}
	e.scratch = b
	if tombstone {
		return b[:n], nil
	}
	return b[:n:n], b[n:]
}

// AppendOffsetKey appends the key of a committed offset.
func AppendOffsetKey(dst []byte, group, topic string, partition int32) []byte {
	k := kmsg.OffsetCommitKey{Version: keyOffset, Group: group, Topic: topic, Partition: partition}
	return k.AppendTo(dst)
}

// AppendGroupKey appends the key of a classic group.
func AppendGroupKey(dst []byte, group string) []byte {
	k := kmsg.GroupMetadataKey{Version: keyGroup, Group: group}
	return k.AppendTo(dst)
}

func appendOffsetValue(dst []byte, r *coordinator.OffsetRecord) []byte {
	v := kmsg.OffsetCommitValue{
		Version: offsetValueVersion, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch, Metadata: r.Metadata,
		CommitTimestamp: r.CommitTimestamp, ExpireTimestamp: r.ExpireTimestamp,
	}
	if r.ExpireTimestamp >= 0 {
		v.Version = offsetValueWithExpiry // the only version that can say so; it cannot say the leader epoch
	}
	return v.AppendTo(dst)
}

func appendGroupValue(dst []byte, r *coordinator.GroupRecord) []byte {
	v := kmsg.GroupMetadataValue{
		Version: groupMetadataValueLatest, ProtocolType: r.ProtocolType, Generation: r.Generation, Protocol: r.Protocol,
		Leader: r.Leader, CurrentStateTimestamp: r.StateTimestamp,
		Members: make([]kmsg.GroupMetadataValueMember, 0, len(r.Members)),
	}
	for _, m := range r.Members {
		v.Members = append(v.Members, kmsg.GroupMetadataValueMember{
			MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost,
			RebalanceTimeoutMillis: m.RebalanceTimeout, SessionTimeoutMillis: m.SessionTimeout,
			Subscription: m.Subscription, Assignment: m.Assignment,
		})
	}
	return v.AppendTo(dst)
}
