package settings

import "math"

// topicRows are about the creation of topics and what the broker itself reads of their configs.
func topicRows(s *Settings) []row {
	return []row{
		{
			name: "num.partitions", typ: Int, def: "1", check: atLeast(1), field: &s.NumPartitions,
			doc: "Partitions of a topic that is created without a number.", source: "ServerLogConfigs",
		},
		{
			name: "default.replication.factor", typ: Int, def: "1", check: between(1, math.MaxInt16), fixed: true,
			doc:    "A topic that is created without a number of replicas gets one, for there is one broker.",
			source: "ReplicationConfigs",
		},
		{
			name: "auto.create.topics.enable", typ: Boolean, def: "true", field: &s.AutoCreateTopicsEnable,
			doc: "Whether Metadata may create the topics that it names.", source: "ServerLogConfigs",
		},
		{
			name: "delete.topic.enable", typ: Boolean, def: "true", field: &s.DeleteTopicEnable,
			doc: "Whether clients may delete topics.", source: "ServerConfigs",
		},
		{
			name: "message.max.bytes", typ: Int, def: "1048588", unit: "bytes", check: atLeast(0),
			topic: "max.message.bytes",
			doc:   "Largest record batch, after compression.", source: "ServerConfigs",
		},
		{
			name: "min.insync.replicas", typ: Int, def: "1", check: atLeast(1), fixed: true,
			topic: "min.insync.replicas",
			doc:   "One replica is always enough, for there is one broker.", source: "ServerLogConfigs",
		},
		{
			name: "compression.type", typ: String, def: "producer", topic: "compression.type", fixed: true,
			check: oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
			doc:   "Batches are always kept as the producer compressed them.", source: "ServerConfigs",
		},
		{
			name: "producer.id.expiration.ms", typ: Int, def: "86400000", unit: "ms", check: atLeast(1),
			field: &s.ProducerIDExpiration,
			doc:   "Time that an idle idempotent producer is remembered.", source: "KIP-854",
		},
		{
			name: "log.retention.check.interval.ms", typ: Long, def: "300000", unit: "ms", check: atLeast(1),
			field: &s.LogRetentionCheckInterval,
			doc:   "Time between two searches for segments that retention removes.", source: "ServerLogConfigs",
		},
	}
}
