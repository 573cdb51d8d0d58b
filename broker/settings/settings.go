package settings

import (
	"time"

	"github.com/kohort/kohort/partitionlog"
)

// Profile chooses between the two sets of defaults.
type Profile int8

const (
	// Serve has Kafka's defaults.
	Serve Profile = iota
	// Dev answers tests quickly: no initial rebalance delay, and sessions from 100 ms.
	Dev
)

// String returns the name of the command that starts a broker with the profile.
func (p Profile) String() string {
	if p == Dev {
		return "dev"
	}
	return "serve"
}

// Settings holds the value of every honoured property, typed and checked.
//
// Properties that are only the default of a topic config (log.segment.bytes and its neighbours) have no field: they
// reach the store through TopicDefaults. Those that bound the configs of a group act through CheckGroupConfigs.
//
// Invariant: immutable once Load has returned.
type Settings struct {
	// Profile is the set of defaults that Load began with.
	Profile Profile

	NodeID              int32      // node.id
	Listeners           []Listener // listeners, those of controllers left out; empty when not set
	AdvertisedListeners []Listener // advertised.listeners; empty: each client is told the address that it connected to
	LogDir              string     // log.dirs; "" when not set

	MaxConnections        int32         // max.connections
	ConnectionsMaxIdle    time.Duration // connections.max.idle.ms
	SocketRequestMaxBytes int32         // socket.request.max.bytes
	QueuedMaxRequestBytes int64         // queued.max.request.bytes: frames in flight over all connections; never below 1
	FetchMaxBytes         int32         // fetch.max.bytes

	NumPartitions             int32         // num.partitions
	AutoCreateTopicsEnable    bool          // auto.create.topics.enable
	DeleteTopicEnable         bool          // delete.topic.enable
	LogRetentionCheckInterval time.Duration // log.retention.check.interval.ms
	ProducerIDExpiration      time.Duration // producer.id.expiration.ms

	OffsetsTopicNumPartitions     int32         // offsets.topic.num.partitions
	OffsetsTopicSegmentBytes      int32         // offsets.topic.segment.bytes
	OffsetMetadataMaxBytes        int32         // offset.metadata.max.bytes
	OffsetsRetention              time.Duration // offsets.retention.minutes
	OffsetsRetentionCheckInterval time.Duration // offsets.retention.check.interval.ms

	GroupMinSessionTimeout     time.Duration // group.min.session.timeout.ms
	GroupMaxSessionTimeout     time.Duration // group.max.session.timeout.ms
	GroupInitialRebalanceDelay time.Duration // group.initial.rebalance.delay.ms
	GroupMaxSize               int32         // group.max.size

	rows   []row
	values map[string]value // by row name

	topicDefaults partitionlog.TopicConfig
}

// value is the text of one setting and where it came from.
type value struct {
	text     string
	null     bool   // not set, and there is no default: Kafka reports null
	source   string // name of the Source, the profile, or "default"
	explicit bool   // somebody gave it; neither default nor profile
	whole    bool   // of a list: one element, whatever is in it
}

// Source is one place that settings were read from.
type Source struct {
	// Name is how the place is called in messages: "--set", "environment", the path of a file.
	Name string
	// Values holds the text by Kafka property name.
	Values map[string]string
	// Spelled holds, by property name, the name as it was written (KAFKA_GROUP_MAX_SIZE); optional.
	Spelled map[string]string
	// Whole says that a value of a list property is one element as it stands, the name of a file: a comma in it parts
	// nothing.
	Whole bool
}

// IsExplicit tells whether somebody gave the property, rather than the profile or Kafka's default.
func (s *Settings) IsExplicit(name string) bool {
	return s.values[name].explicit
}
