package settings

// forever is the largest number of milliseconds, which means that there is no limit.
const forever = "9223372036854775807"

// logRows are defaults of topic configs only: they reach the store through TopicDefaults. Where several rows name one
// topic config, the first that is given wins, which is Kafka's order (ms, minutes, hours).
func logRows() []row {
	return append(segmentRows(), recordRows()...)
}

// segmentRows are about segments, and how long they are kept.
func segmentRows() []row {
	return []row{
		{
			name: "log.cleanup.policy", typ: List, def: "delete", check: oneOf("compact", "delete"), topic: "cleanup.policy",
			doc: "What happens to old records: deleted, compacted, or both.", source: "ServerLogConfigs",
		},
		{
			name: "log.retention.ms", typ: Long, null: true, unit: "ms", check: atLeast(-1), topic: "retention.ms",
			doc: "Time that records are kept; -1 for ever.", source: "ServerLogConfigs",
		},
		{
			name: "log.retention.minutes", typ: Int, null: true, unit: "minutes", check: atLeast(-1), topic: "retention.ms",
			doc: "The same in minutes, if log.retention.ms is not given; -1 for ever.", source: "ServerLogConfigs",
		},
		{
			name: "log.retention.hours", typ: Int, def: "168", unit: "hours", check: atLeast(-1), topic: "retention.ms",
			doc: "The same in hours, if neither is given.", source: "ServerLogConfigs",
		},
		{
			name: "log.retention.bytes", typ: Long, def: "-1", unit: "bytes", check: atLeast(-1), topic: "retention.bytes",
			doc: "Size above which a partition loses its oldest segments; -1 for none.", source: "ServerLogConfigs",
		},
		{
			name: "log.segment.bytes", typ: Int, def: "1073741824", unit: "bytes", check: atLeast(14), topic: "segment.bytes",
			doc: "Size at which a segment is closed and a new one begun.", source: "ServerLogConfigs",
		},
		{
			name: "log.roll.ms", typ: Long, null: true, unit: "ms", check: atLeast(1), topic: "segment.ms",
			doc: "Age at which a segment is closed, though it is not full.", source: "ServerLogConfigs",
		},
		{
			name: "log.roll.hours", typ: Int, def: "168", unit: "hours", check: atLeast(1), topic: "segment.ms",
			doc: "The same in hours, if log.roll.ms is not given.", source: "ServerLogConfigs",
		},
		{
			name: "log.roll.jitter.ms", typ: Long, null: true, unit: "ms", check: atLeast(0), topic: "segment.jitter.ms", fixed: true,
			doc: "Segments roll at their age, for no other broker rolls at the same time.", source: "ServerLogConfigs",
		},
		{
			name: "log.roll.jitter.hours", typ: Int, def: "0", unit: "hours", check: atLeast(0), topic: "segment.jitter.ms", fixed: true,
			doc: "As log.roll.jitter.ms.", source: "ServerLogConfigs",
		},
		{
			name: "log.index.interval.bytes", typ: Int, def: "4096", unit: "bytes", check: atLeast(0), topic: "index.interval.bytes",
			doc: "Bytes of a segment between two index entries.", source: "ServerLogConfigs",
		},
		{
			name: "log.index.size.max.bytes", typ: Int, def: "10485760", unit: "bytes", check: atLeast(4), topic: "segment.index.bytes", fixed: true,
			doc: "Indexes are as large as their segment needs.", source: "ServerLogConfigs",
		},
		{
			name: "log.segment.delete.delay.ms", typ: Long, def: "60000", unit: "ms", check: atLeast(0), topic: "file.delete.delay.ms", fixed: true,
			doc: "The file of a removed segment goes with the next checkpoint.", source: "ServerLogConfigs",
		},
	}
}

// recordRows are about compaction and timestamps.
func recordRows() []row {
	return []row{
		{
			name: "log.cleaner.delete.retention.ms", typ: Long, def: "86400000", unit: "ms", check: atLeast(0), topic: "delete.retention.ms",
			doc: "Time that compaction keeps tombstones.", source: "CleanerConfig",
		},
		{
			name: "log.cleaner.min.cleanable.ratio", typ: Double, def: "0.5", check: between(0, 1), topic: "min.cleanable.dirty.ratio",
			doc: "Share of a log that must be uncompacted before compaction begins.", source: "CleanerConfig",
		},
		{
			name: "log.cleaner.min.compaction.lag.ms", typ: Long, def: "0", unit: "ms", check: atLeast(0), topic: "min.compaction.lag.ms",
			doc: "Age before which a record is never compacted away.", source: "KIP-58",
		},
		{
			name: "log.cleaner.max.compaction.lag.ms", typ: Long, def: forever, unit: "ms", check: atLeast(1), topic: "max.compaction.lag.ms",
			doc: "Age after which compaction begins whatever the ratio.", source: "KIP-354",
		},
		{
			name: "log.message.timestamp.type", typ: String, def: "CreateTime", check: oneOf("CreateTime", "LogAppendTime"),
			topic: "message.timestamp.type",
			doc:   "Whether records keep the producer's time or get the broker's.", source: "KIP-32",
		},
		{
			name: "log.message.timestamp.before.max.ms", typ: Long, def: forever, unit: "ms", check: atLeast(0),
			topic: "message.timestamp.before.max.ms",
			doc:   "How far a record's time may lie in the past.", source: "KIP-937",
		},
		{
			name: "log.message.timestamp.after.max.ms", typ: Long, def: "3600000", unit: "ms", check: atLeast(0),
			topic: "message.timestamp.after.max.ms",
			doc:   "How far a record's time may lie in the future.", source: "KIP-937, KIP-1030",
		},
	}
}
