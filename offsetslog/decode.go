package offsetslog

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
)

// DecodeError tells which record could not be read. A partition that holds one is not loaded: to skip it would be to
// forget an acknowledged commit.
type DecodeError struct {
	What  string
	Bytes int
	Err   error
}

// Error says what was being read and how long it is.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("offsets record: %s of %d bytes: %v", e.What, e.Bytes, e.Err)
}

// Unwrap returns the decoder's error.
func (e *DecodeError) Unwrap() error { return e.Err }

var errVersion = fmt.Errorf("a version that this program does not know")

// Decode turns a key and a value, nil for a tombstone, into a record.
//
// A kind of key that is not of classic groups gives a nil record and no error: Kafka keeps KIP-848, share and streams
// groups in the same topic, and a broker of ours that is older than the directory skips what it does not know, as
// Kafka does.
//
// Owner: the record's strings and bytes are its own; key and value may be reused.
// Errors: *DecodeError.
// Source: GroupCoordinatorRecordSerde.java.
func Decode(key, value []byte) (coordinator.Record, error) {
	if len(key) < 2 {
		return nil, &DecodeError{"key", len(key), fmt.Errorf("too short for its kind")}
	}
	switch kind := binary.BigEndian.Uint16(key); kind {
	case keyLegacyOffset, keyOffset:
		return decodeOffset(key, value)
	case keyGroup:
		return decodeGroup(key, value)
	}
	return nil, nil
}

func decodeOffset(key, value []byte) (coordinator.Record, error) {
	var k kmsg.OffsetCommitKey
	if err := k.ReadFrom(key); err != nil {
		return nil, &DecodeError{"offset key", len(key), err}
	}
	r := &coordinator.OffsetRecord{
		Group: k.Group, Topic: k.Topic, Partition: k.Partition,
		Tombstone: value == nil, LeaderEpoch: -1, ExpireTimestamp: -1,
	}
	if value == nil {
		return r, nil
	}
	if err := knownVersion(value, 4); err != nil {
		return nil, &DecodeError{"offset value", len(value), err}
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(value); err != nil {
		return nil, &DecodeError{"offset value", len(value), err}
	}
	r.Offset, r.Metadata, r.CommitTimestamp = v.Offset, v.Metadata, v.CommitTimestamp
	if v.Version >= 3 {
		r.LeaderEpoch = v.LeaderEpoch
	}
	if v.Version == offsetValueWithExpiry {
		r.ExpireTimestamp = v.ExpireTimestamp
	}
	return r, nil
}

func decodeGroup(key, value []byte) (coordinator.Record, error) {
	var k kmsg.GroupMetadataKey
	if err := k.ReadFrom(key); err != nil {
		return nil, &DecodeError{"group key", len(key), err}
	}
	r := &coordinator.GroupRecord{Group: k.Group, Tombstone: value == nil, StateTimestamp: -1}
	if value == nil {
		return r, nil
	}
	if err := knownVersion(value, 4); err != nil {
		return nil, &DecodeError{"group value", len(value), err}
	}
	v := kmsg.NewGroupMetadataValue()
	if err := v.ReadFrom(value); err != nil {
		return nil, &DecodeError{"group value", len(value), err}
	}
	r.ProtocolType, r.Generation, r.Protocol, r.Leader = v.ProtocolType, v.Generation, v.Protocol, v.Leader
	if v.Version >= 2 {
		r.StateTimestamp = v.CurrentStateTimestamp
	}
	for i := range v.Members {
		r.Members = append(r.Members, decodeMember(v.Version, &v.Members[i]))
	}
	return r, nil
}

func decodeMember(version int16, m *kmsg.GroupMetadataValueMember) coordinator.MemberRecord {
	rebalance := m.RebalanceTimeoutMillis
	if version == 0 || rebalance < 0 {
		rebalance = m.SessionTimeoutMillis // what a member of that time gave itself
	}
	return coordinator.MemberRecord{
		MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, ClientHost: m.ClientHost,
		RebalanceTimeout: rebalance, SessionTimeout: m.SessionTimeoutMillis,
		Subscription: append([]byte{}, m.Subscription...), Assignment: append([]byte{}, m.Assignment...),
	}
}

func knownVersion(value []byte, highest int16) error {
	if len(value) < 2 {
		return fmt.Errorf("too short for its version")
	}
	if v := int16(binary.BigEndian.Uint16(value)); v < 0 || v > highest {
		return fmt.Errorf("%w: %d, the highest is %d", errVersion, v, highest)
	}
	return nil
}
