package settings

// describedRows are properties that tools ask for or configurations commonly carry, and that change nothing here.
func describedRows() []row {
	rows := []row{
		{
			name: "inter.broker.protocol.version", typ: String, def: "4.0-IV3",
			doc: "Feature level that tools read; there is no other broker to agree with.", source: "ReplicationConfigs",
		},
		{
			name: "log.cleaner.enable", typ: Boolean, def: "true",
			doc: "Compaction always runs for topics whose cleanup.policy asks for it.", source: "CleanerConfig",
		},
		{
			name: "log.flush.interval.messages", typ: Long, def: "9223372036854775807", check: atLeast(1), topic: "flush.messages",
			doc: "Every acknowledged batch is in the journal, which is synced once a turn.", source: "ServerLogConfigs",
		},
		{
			name: "log.flush.interval.ms", typ: Long, null: true, unit: "ms", check: atLeast(0), topic: "flush.ms",
			doc: "As log.flush.interval.messages.", source: "ServerLogConfigs",
		},
		{
			name: "log.preallocate", typ: Boolean, def: "false", topic: "preallocate",
			doc: "Segments are never preallocated; the journal always is.", source: "ServerLogConfigs",
		},
		{
			name: "unclean.leader.election.enable", typ: Boolean, def: "false", topic: "unclean.leader.election.enable",
			doc: "There is one replica and no election.", source: "ReplicationConfigs",
		},
		{
			name: "compression.gzip.level", typ: Int, def: "-1",
			doc: "Batches are never recompressed.", source: "KIP-390",
		},
		{
			name: "compression.lz4.level", typ: Int, def: "9",
			doc: "Batches are never recompressed.", source: "KIP-390",
		},
		{
			name: "compression.zstd.level", typ: Int, def: "3",
			doc: "Batches are never recompressed.", source: "KIP-390",
		},
		{
			name: "offsets.topic.compression.codec", typ: Int, def: "0",
			doc: "Batches of __consumer_offsets are not compressed.", source: "GroupCoordinatorConfig",
		},
		{
			name: "group.coordinator.rebalance.protocols", typ: List, def: "classic",
			doc: "Group protocols that members may speak.", source: "KIP-848",
		},
		{
			name: "transaction.state.log.num.partitions", typ: Int, def: "50", check: atLeast(1),
			doc: "There is no transaction log.", source: "TransactionLogConfig",
		},
		{
			name: "transaction.state.log.replication.factor", typ: Short, def: "1", check: atLeast(1),
			doc: "There is no transaction log.", source: "TransactionLogConfig; Deviation: Kafka's default is 3",
		},
		{
			name: "transaction.state.log.min.isr", typ: Int, def: "1", check: atLeast(1),
			doc: "There is no transaction log.", source: "TransactionLogConfig; Deviation: Kafka's default is 2",
		},
		{
			name: "transaction.max.timeout.ms", typ: Int, def: "900000", unit: "ms", check: atLeast(1),
			doc: "There are no transactions.", source: "TransactionStateManagerConfig",
		},
		{
			name: "transactional.id.expiration.ms", typ: Int, def: "604800000", unit: "ms", check: atLeast(1),
			doc: "There are no transactions.", source: "TransactionStateManagerConfig",
		},
	}
	for i := range rows {
		rows[i].fixed = true
	}
	return rows
}
