package coordinator

// Record is one durable fact about a group. The set is closed: *OffsetRecord and *GroupRecord, each with a
// tombstone form. A record is immutable once it is emitted.
type Record interface {
	// GroupID is the group that the fact is about.
	GroupID() string
	isRecord()
}

// OffsetRecord says which offset a group has committed for a partition, or, as a tombstone, that it has none.
//
// Units: timestamps are milliseconds since the epoch; -1 means none. A leader epoch of -1 is an unknown one.
// Source: Kafka OffsetCommitKey and OffsetCommitValue.
type OffsetRecord struct {
	Group     string
	Topic     string
	Partition int32
	Tombstone bool

	Offset          int64
	LeaderEpoch     int32
	Metadata        string
	CommitTimestamp int64
	ExpireTimestamp int64
}

// GroupRecord is a classic group as of its last stable or empty generation, or, as a tombstone, its end.
//
// Units: StateTimestamp is in milliseconds since the epoch; -1 means unknown.
// Source: Kafka GroupMetadataKey and GroupMetadataValue.
type GroupRecord struct {
	Group     string
	Tombstone bool

	ProtocolType   string // "" until a first member joined
	Generation     int32
	Protocol       *string // nil without members
	Leader         *string // nil without members
	StateTimestamp int64
	Members        []MemberRecord
}

// MemberRecord is one member of a GroupRecord: what it needs to go on after a restart without a rebalance.
//
// Units: timeouts are milliseconds. Subscription is the metadata of the selected protocol only.
type MemberRecord struct {
	MemberID         string
	InstanceID       *string // nil for a dynamic member
	ClientID         string
	ClientHost       string
	RebalanceTimeout int32
	SessionTimeout   int32
	Subscription     []byte
	Assignment       []byte
}

// GroupID implements Record.
func (r *OffsetRecord) GroupID() string { return r.Group }

// GroupID implements Record.
func (r *GroupRecord) GroupID() string { return r.Group }

func (*OffsetRecord) isRecord() {}
func (*GroupRecord) isRecord()  {}
