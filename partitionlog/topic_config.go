package partitionlog

import (
	"math"
	"strconv"
	"strings"
)

// TopicConfig holds the topic properties that the store obeys, with defaults filled in.
//
// Units: ...Ms are milliseconds, ...Bytes are bytes; -1 means no limit where Kafka says so.
// Source: Kafka's LogConfig and TopicConfig.
type TopicConfig struct {
	Compact, Delete       bool // cleanup.policy
	SegmentBytes          int64
	SegmentMs             int64
	RetentionBytes        int64
	RetentionMs           int64
	MaxMessageBytes       int32
	IndexIntervalBytes    int32
	DeleteRetentionMs     int64
	MinCompactionLagMs    int64
	MaxCompactionLagMs    int64
	MinCleanableRatio     float64
	TimestampType         TimestampType
	TimestampBeforeMaxMs  int64
	TimestampAfterMaxMs   int64
	FileDeleteDelayMs     int64 // accepted; files go with the next checkpoint
	SegmentJitterMs       int64 // accepted, without effect
	SegmentIndexBytes     int32 // accepted, without effect
	FlushMessages         int64 // accepted, without effect: every acknowledged batch is durable
	FlushMs               int64 // accepted, without effect
	MinInsyncReplicas     int32 // accepted, without effect: there is one replica
	CompressionType       CompressionType
	Preallocate           bool // accepted, without effect
	UncleanLeaderElection bool // accepted, without effect
}

// CompressionType is Kafka's compression.type as an index into its legal words.
//
// Deviation: batches stay as the producer compressed them whatever this says, since Kafka's bytes are the storage
// format here; the property is kept and described.
type CompressionType int8

// String is the form that Kafka prints and parses.
func (t CompressionType) String() string { return compressionTypes[t] }

// compressionTypes starts with Kafka's default.
var compressionTypes = []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"}

// ValueType is the type of a topic property, as DescribeConfigs names it.
type ValueType int8

// Types of topic properties.
const (
	BoolValue ValueType = iota
	IntValue
	LongValue
	DoubleValue
	StringValue
	ListValue
)

// TopicProperty describes one topic property: the only list of them.
type TopicProperty struct {
	Name string
	// Synonym is the broker property that holds the broker-wide default.
	Synonym string
	Type    ValueType
	// Honoured is false for a property that is kept and described, but changes nothing here.
	Honoured bool
	get      func(*TopicConfig) string
	set      func(*TopicConfig, string) string // returns the reason of a refusal
}

// TopicProperties lists every topic property in alphabetical order.
func TopicProperties() []TopicProperty { return topicProperties }

// DefaultTopicConfig is what Kafka 4 uses when nothing is set.
func DefaultTopicConfig() TopicConfig {
	return TopicConfig{
		Delete: true, SegmentBytes: 1 << 30, SegmentMs: 7 * 24 * 3600 * 1000,
		RetentionBytes: -1, RetentionMs: 7 * 24 * 3600 * 1000,
		MaxMessageBytes: 1<<20 + 12, IndexIntervalBytes: 4096,
		DeleteRetentionMs: 24 * 3600 * 1000, MaxCompactionLagMs: math.MaxInt64, MinCleanableRatio: 0.5,
		TimestampBeforeMaxMs: math.MaxInt64, TimestampAfterMaxMs: 3600 * 1000,
		FileDeleteDelayMs: 60000, SegmentIndexBytes: 10 << 20,
		FlushMessages: math.MaxInt64, FlushMs: math.MaxInt64, MinInsyncReplicas: 1,
	}
}

// ParseTopicConfig applies overrides to base.
//
// Errors: *ConfigError for an unknown name, an unparsable value or one outside its bounds.
func ParseTopicConfig(base TopicConfig, overrides map[string]string) (TopicConfig, error) {
	known := 0
	for i := range topicProperties {
		p := &topicProperties[i]
		value, ok := overrides[p.Name]
		if !ok {
			continue
		}
		known++
		if reason := p.set(&base, strings.TrimSpace(value)); reason != "" {
			return TopicConfig{}, &ConfigError{Name: p.Name, Value: value, Reason: reason}
		}
	}
	if known < len(overrides) {
		return TopicConfig{}, unknownProperty(overrides)
	}
	if base.MinCompactionLagMs > base.MaxCompactionLagMs {
		return TopicConfig{}, &ConfigError{
			Name: "min.compaction.lag.ms", Value: strconv.FormatInt(base.MinCompactionLagMs, 10),
			Reason: "above max.compaction.lag.ms (" + strconv.FormatInt(base.MaxCompactionLagMs, 10) + ")",
		}
	}
	return base, nil
}

// Value prints one property the way Kafka does; false for an unknown name.
func (c TopicConfig) Value(name string) (string, bool) {
	for i := range topicProperties {
		if topicProperties[i].Name == name {
			return topicProperties[i].get(&c), true
		}
	}
	return "", false
}

// unknownProperty names the alphabetically first unknown name, so that the answer does not depend on map order.
func unknownProperty(overrides map[string]string) error {
	first := ""
	for name := range overrides {
		if _, ok := (TopicConfig{}).Value(name); !ok && (first == "" || name < first) {
			first = name
		}
	}
	return &ConfigError{Name: first, Value: overrides[first], Reason: "unknown topic config name"}
}

// segmentAgeMs is the age at which an active segment rolls: compaction must reach every record in time.
// Source: Kafka's LogConfig.maxSegmentMs.
func (c *TopicConfig) segmentAgeMs() int64 {
	if c.Compact && c.MaxCompactionLagMs > 0 {
		return min(c.MaxCompactionLagMs, c.SegmentMs)
	}
	return c.SegmentMs
}
