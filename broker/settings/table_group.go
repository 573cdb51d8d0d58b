package settings

// groupRows are the bounds and delays of groups.
func groupRows(s *Settings) []row {
	return []row{
		{
			name: "group.initial.rebalance.delay.ms", typ: Int, def: "3000", dev: "0", unit: "ms", check: atLeast(0),
			field: &s.GroupInitialRebalanceDelay,
			doc:   "Time that the first rebalance of an empty group waits for more members.", source: "KIP-134",
		},
		{
			name: "group.min.session.timeout.ms", typ: Int, def: "6000", dev: "100", unit: "ms", check: atLeast(1),
			field: &s.GroupMinSessionTimeout,
			doc:   "Smallest session timeout that a member of a classic group may ask for.", source: "GroupCoordinatorConfig",
		},
		{
			name: "group.max.session.timeout.ms", typ: Int, def: "1800000", unit: "ms", check: atLeast(1),
			field: &s.GroupMaxSessionTimeout,
			doc:   "Largest session timeout that a member of a classic group may ask for.", source: "GroupCoordinatorConfig",
		},
		{
			name: "group.max.size", typ: Int, def: "2147483647", check: atLeast(1), field: &s.GroupMaxSize,
			doc: "Members that a classic group may have.", source: "KIP-389",
		},
		{
			name: "group.consumer.session.timeout.ms", typ: Int, def: "45000", unit: "ms", check: atLeast(1),
			doc: "Default of the group config consumer.session.timeout.ms.", source: "KIP-848",
		},
		{
			name: "group.consumer.min.session.timeout.ms", typ: Int, def: "45000", unit: "ms", check: atLeast(1),
			doc: "Smallest consumer.session.timeout.ms that a group may be given.", source: "KIP-848",
		},
		{
			name: "group.consumer.max.session.timeout.ms", typ: Int, def: "60000", unit: "ms", check: atLeast(1),
			doc: "Largest consumer.session.timeout.ms that a group may be given.", source: "KIP-848",
		},
		{
			name: "group.consumer.heartbeat.interval.ms", typ: Int, def: "5000", unit: "ms", check: atLeast(1),
			doc: "Default of the group config consumer.heartbeat.interval.ms.", source: "KIP-848",
		},
		{
			name: "group.consumer.min.heartbeat.interval.ms", typ: Int, def: "5000", unit: "ms", check: atLeast(1),
			doc: "Smallest consumer.heartbeat.interval.ms that a group may be given.", source: "KIP-848",
		},
		{
			name: "group.consumer.max.heartbeat.interval.ms", typ: Int, def: "15000", unit: "ms", check: atLeast(1),
			doc: "Largest consumer.heartbeat.interval.ms that a group may be given.", source: "KIP-848",
		},
		{
			name: "group.consumer.max.size", typ: Int, def: "2147483647", check: atLeast(1), fixed: true,
			doc: "Groups of the consumer protocol are not served.", source: "KIP-848",
		},
	}
}

// offsetsRows are about committed offsets and their topic.
func offsetsRows(s *Settings) []row {
	return []row{
		{
			name: "offsets.topic.num.partitions", typ: Int, def: "50", check: atLeast(1), field: &s.OffsetsTopicNumPartitions,
			doc: "Partitions of __consumer_offsets; fixed once the topic exists.", source: "GroupCoordinatorConfig",
		},
		{
			name: "offsets.topic.replication.factor", typ: Short, def: "1", check: atLeast(1), fixed: true,
			doc:    "There is one broker, and so one replica.",
			source: "GroupCoordinatorConfig; Deviation: Kafka's default is 3",
		},
		{
			name: "offsets.topic.segment.bytes", typ: Int, def: "4194304", unit: "bytes", check: atLeast(14),
			field:  &s.OffsetsTopicSegmentBytes,
			doc:    "Segment size of __consumer_offsets; the active segment is never compacted and read at start, so it is small.",
			source: "GroupCoordinatorConfig; Deviation: Kafka's default is 104857600",
		},
		{
			name: "offset.metadata.max.bytes", typ: Int, def: "4096", check: atLeast(0), field: &s.OffsetMetadataMaxBytes,
			doc: "Longest metadata of a committed offset, in UTF-16 code units.", source: "GroupCoordinatorConfig",
		},
		{
			name: "offsets.retention.minutes", typ: Int, def: "10080", unit: "minutes", check: atLeast(1),
			field: &s.OffsetsRetention,
			doc:   "Time that the offsets of a group without members are kept.", source: "KIP-211",
		},
		{
			name: "offsets.retention.check.interval.ms", typ: Long, def: "600000", unit: "ms", check: atLeast(1),
			field: &s.OffsetsRetentionCheckInterval,
			doc:   "Time between two searches for expired offsets.", source: "GroupCoordinatorConfig",
		},
		{
			name: "offsets.commit.timeout.ms", typ: Int, def: "5000", unit: "ms", check: atLeast(1), fixed: true,
			doc: "A commit waits for the disk and for no other broker.", source: "GroupCoordinatorConfig",
		},
	}
}
