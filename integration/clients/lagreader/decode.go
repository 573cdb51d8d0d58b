package lagreader

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrVersion is the error for an encoding that such tools do not know.
var ErrVersion = errors.New("unknown version")

// Entry is one record of the topic; of Offset and Group at most one is set. Tombstones, and records of other kinds (keys
// of version 3 and above are of other group protocols), have neither.
type Entry struct {
	Offset *Offset
	Group  *Group
}

// Offset is a committed offset.
type Offset struct {
	Group, Topic string
	Partition    int32
	At           int64
	LeaderEpoch  int32 // -1 before version 3
	Metadata     string
	Committed    int64 // milliseconds
	Expires      int64 // milliseconds, of version 1; else -1
}

// Group is a group with its members.
type Group struct {
	Name, ProtocolType, Protocol, Leader string
	Generation                           int32
	Since                                int64 // milliseconds; -1 before version 2
	Members                              []Member
}

// Member is a member of a group.
type Member struct {
	ID, Instance, ClientID, Host     string
	RebalanceTimeout, SessionTimeout int32 // milliseconds; the former is that of the session before version 1
	Subscription, Assignment         []byte
}

// Decode decodes one record.
func Decode(key, value []byte) (Entry, error) {
	if len(key) < 2 {
		return Entry{}, fmt.Errorf("a key of %d bytes", len(key))
	}
	switch version := binary.BigEndian.Uint16(key); {
	case version <= 1:
		return decodeOffset(key, value)
	case version == 2:
		return decodeGroup(key, value)
	default:
		return Entry{}, nil
	}
}

// checkVersion refuses values that are newer than version 3.
func checkVersion(value []byte) (int16, error) {
	if len(value) < 2 {
		return 0, fmt.Errorf("a value of %d bytes", len(value))
	}
	version := int16(binary.BigEndian.Uint16(value))
	if version < 0 || version > 3 {
		return 0, fmt.Errorf("%w %d of a value", ErrVersion, version)
	}
	return version, nil
}

func decodeOffset(key, value []byte) (Entry, error) {
	var k kmsg.OffsetCommitKey
	if err := k.ReadFrom(key); err != nil {
		return Entry{}, fmt.Errorf("offset key: %w", err)
	}
	if value == nil {
		return Entry{}, nil
	}
	version, err := checkVersion(value)
	if err != nil {
		return Entry{}, fmt.Errorf("offset of %s: %w", k.Group, err)
	}
	v := kmsg.NewOffsetCommitValue()
	if err := v.ReadFrom(value); err != nil {
		return Entry{}, fmt.Errorf("offset of %s: %w", k.Group, err)
	}
	o := &Offset{
		Group: k.Group, Topic: k.Topic, Partition: k.Partition,
		At: v.Offset, LeaderEpoch: -1, Metadata: v.Metadata, Committed: v.CommitTimestamp, Expires: -1,
	}
	if version == 1 {
		o.Expires = v.ExpireTimestamp
	}
	if version >= 3 {
		o.LeaderEpoch = v.LeaderEpoch
	}
	return Entry{Offset: o}, nil
}

func decodeGroup(key, value []byte) (Entry, error) {
	var k kmsg.GroupMetadataKey
	if err := k.ReadFrom(key); err != nil {
		return Entry{}, fmt.Errorf("group key: %w", err)
	}
	if value == nil {
		return Entry{}, nil
	}
	version, err := checkVersion(value)
	if err != nil {
		return Entry{}, fmt.Errorf("group %s: %w", k.Group, err)
	}
	v := kmsg.NewGroupMetadataValue()
	if err := v.ReadFrom(value); err != nil {
		return Entry{}, fmt.Errorf("group %s: %w", k.Group, err)
	}
	g := &Group{
		Name: k.Group, ProtocolType: v.ProtocolType, Protocol: text(v.Protocol), Leader: text(v.Leader),
		Generation: v.Generation, Since: v.CurrentStateTimestamp,
	}
	for _, m := range v.Members {
		member := Member{
			ID: m.MemberID, Instance: text(m.InstanceID), ClientID: m.ClientID, Host: m.ClientHost,
			RebalanceTimeout: m.RebalanceTimeoutMillis, SessionTimeout: m.SessionTimeoutMillis,
			Subscription: m.Subscription, Assignment: m.Assignment,
		}
		if version == 0 {
			member.RebalanceTimeout = m.SessionTimeoutMillis
		}
		g.Members = append(g.Members, member)
	}
	return Entry{Group: g}, nil
}

// text is a nullable string, with null as "".
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
