package partitionlog

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// topicProperties is the table of topic properties: name, broker-wide synonym, bounds and field.
// Source: Kafka's LogConfig and ServerTopicConfigSynonyms.
var topicProperties = []TopicProperty{
	{Name: "cleanup.policy", Synonym: "log.cleanup.policy", Type: ListValue, Honoured: true, get: getPolicy, set: setPolicy},
	word("compression.type", "compression.type", false, compressionTypes, func(c *TopicConfig) *CompressionType { return &c.CompressionType }),
	long("delete.retention.ms", "log.cleaner.delete.retention.ms", true, 0, func(c *TopicConfig) *int64 { return &c.DeleteRetentionMs }),
	long("file.delete.delay.ms", "log.segment.delete.delay.ms", false, 0, func(c *TopicConfig) *int64 { return &c.FileDeleteDelayMs }),
	long("flush.messages", "log.flush.interval.messages", false, 1, func(c *TopicConfig) *int64 { return &c.FlushMessages }),
	long("flush.ms", "log.flush.interval.ms", false, 0, func(c *TopicConfig) *int64 { return &c.FlushMs }),
	integer("index.interval.bytes", "log.index.interval.bytes", true, 0, func(c *TopicConfig) *int32 { return &c.IndexIntervalBytes }),
	long("max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms", true, 1, func(c *TopicConfig) *int64 { return &c.MaxCompactionLagMs }),
	integer("max.message.bytes", "message.max.bytes", true, 0, func(c *TopicConfig) *int32 { return &c.MaxMessageBytes }),
	long("message.timestamp.after.max.ms", "log.message.timestamp.after.max.ms", true, 0, func(c *TopicConfig) *int64 { return &c.TimestampAfterMaxMs }),
	long("message.timestamp.before.max.ms", "log.message.timestamp.before.max.ms", true, 0, func(c *TopicConfig) *int64 { return &c.TimestampBeforeMaxMs }),
	word("message.timestamp.type", "log.message.timestamp.type", true, []string{"CreateTime", "LogAppendTime"}, func(c *TopicConfig) *TimestampType { return &c.TimestampType }),
	{Name: "min.cleanable.dirty.ratio", Synonym: "log.cleaner.min.cleanable.ratio", Type: DoubleValue, Honoured: true, get: getRatio, set: setRatio},
	long("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", true, 0, func(c *TopicConfig) *int64 { return &c.MinCompactionLagMs }),
	integer("min.insync.replicas", "min.insync.replicas", false, 1, func(c *TopicConfig) *int32 { return &c.MinInsyncReplicas }),
	boolean("preallocate", "log.preallocate", func(c *TopicConfig) *bool { return &c.Preallocate }),
	long("retention.bytes", "log.retention.bytes", true, math.MinInt64, func(c *TopicConfig) *int64 { return &c.RetentionBytes }),
	long("retention.ms", "log.retention.ms", true, -1, func(c *TopicConfig) *int64 { return &c.RetentionMs }),
	// Deviation: Kafka stores segment.bytes as an int; a larger segment makes no sense here either, so the bound holds.
	bounded(long("segment.bytes", "log.segment.bytes", true, 14, func(c *TopicConfig) *int64 { return &c.SegmentBytes }), IntValue, math.MaxInt32),
	integer("segment.index.bytes", "log.index.size.max.bytes", false, 4, func(c *TopicConfig) *int32 { return &c.SegmentIndexBytes }),
	long("segment.jitter.ms", "log.roll.jitter.ms", false, 0, func(c *TopicConfig) *int64 { return &c.SegmentJitterMs }),
	long("segment.ms", "log.roll.ms", true, 1, func(c *TopicConfig) *int64 { return &c.SegmentMs }),
	boolean("unclean.leader.election.enable", "unclean.leader.election.enable", func(c *TopicConfig) *bool { return &c.UncleanLeaderElection }),
}

func long(name, synonym string, honoured bool, least int64, field func(*TopicConfig) *int64) TopicProperty {
	return TopicProperty{
		Name: name, Synonym: synonym, Type: LongValue, Honoured: honoured,
		get: func(c *TopicConfig) string { return strconv.FormatInt(*field(c), 10) },
		set: func(c *TopicConfig, value string) string { return setNumber(field(c), value, least, math.MaxInt64) },
	}
}

func integer(name, synonym string, honoured bool, least int64, field func(*TopicConfig) *int32) TopicProperty {
	return TopicProperty{
		Name: name, Synonym: synonym, Type: IntValue, Honoured: honoured,
		get: func(c *TopicConfig) string { return strconv.Itoa(int(*field(c))) },
		set: func(c *TopicConfig, value string) string {
			var n int64
			reason := setNumber(&n, value, least, math.MaxInt32)
			*field(c) = int32(n)
			return reason
		},
	}
}

// bounded narrows a property to another type and an upper bound.
func bounded(p TopicProperty, t ValueType, most int64) TopicProperty {
	p.Type = t
	set := p.set
	p.set = func(c *TopicConfig, value string) string {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > most {
			return fmt.Sprintf("must be at most %d", most)
		}
		return set(c, value)
	}
	return p
}

func boolean(name, synonym string, field func(*TopicConfig) *bool) TopicProperty {
	return TopicProperty{
		Name: name, Synonym: synonym, Type: BoolValue,
		get: func(c *TopicConfig) string { return strconv.FormatBool(*field(c)) },
		set: func(c *TopicConfig, value string) string {
			switch strings.ToLower(value) {
			case "true":
				*field(c) = true
			case "false":
				*field(c) = false
			default:
				return "must be true or false"
			}
			return ""
		},
	}
}

func word[T ~int8](name, synonym string, honoured bool, words []string, field func(*TopicConfig) *T) TopicProperty {
	return TopicProperty{
		Name: name, Synonym: synonym, Type: StringValue, Honoured: honoured,
		get: func(c *TopicConfig) string { return words[*field(c)] },
		set: func(c *TopicConfig, value string) string {
			i := slices.Index(words, value)
			if i < 0 {
				return "must be one of " + strings.Join(words, ", ")
			}
			*field(c) = T(i)
			return ""
		},
	}
}

func setNumber(field *int64, value string, least, most int64) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "not a number"
	}
	if n < least || n > most {
		return fmt.Sprintf("must be between %d and %d", least, most)
	}
	*field = n
	return ""
}

func getPolicy(c *TopicConfig) string {
	switch {
	case c.Compact && c.Delete:
		return "compact,delete"
	case c.Compact:
		return "compact"
	case c.Delete:
		return "delete"
	}
	return ""
}

func setPolicy(c *TopicConfig, value string) string {
	compact, del := false, false
	for _, policy := range strings.Split(value, ",") {
		switch strings.TrimSpace(policy) {
		case "compact":
			compact = true
		case "delete":
			del = true
		default:
			return "must be compact, delete or both"
		}
	}
	c.Compact, c.Delete = compact, del
	return ""
}

func getRatio(c *TopicConfig) string { return strconv.FormatFloat(c.MinCleanableRatio, 'f', -1, 64) }

func setRatio(c *TopicConfig, value string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return "must be between 0 and 1"
	}
	c.MinCleanableRatio = f
	return ""
}
