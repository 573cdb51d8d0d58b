package settings

import "strings"

// ignoredPrefixes begin the names of settings that Kafka's images, KRaft or a JVM need and that mean nothing here. They
// are passed by the dozen in containers, so a warning for each would hide the one that matters.
var ignoredPrefixes = []string{
	"process.roles", "controller.", "metadata.", "initial.broker.registration.", "broker.heartbeat.",
	"broker.session.", "broker.rack", "broker.id.generation.", "reserved.broker.max.id", "zookeeper.", "sasl.", "ssl.", "security.",
	"inter.broker.listener.name", "security.inter.broker.protocol", "early.start.listeners", "control.plane.",
	"num.network.threads", "num.io.threads", "num.recovery.threads.", "num.replica.", "background.threads",
	"socket.send.", "socket.receive.", "socket.listen.", "socket.connection.", "request.timeout.ms", "queued.max.requests",
	"max.connections.per.ip", "max.connection.creation.", "connection.failed.", "connections.max.reauth", "replica.", "remote.log.", "leader.imbalance.",
	"auto.leader.", "unclean.leader.", "fetch.purgatory.", "producer.purgatory.", "delete.records.purgatory.", "transaction.",
	"transactions.", "share.", "group.share.", "group.streams.", "group.coordinator.", "group.consumer.assign", "group.consumer.migration.", "group.consumer.regex.", "offsets.load.",
	"log.flush.offset.", "log.flush.start.", "log.flush.scheduler.", "log.cleaner.threads", "log.cleaner.io.",
	"log.cleaner.dedupe.", "log.cleaner.backoff.", "log.dir.failure", "log.message.downconversion", "log.message.format", "log.local.",
	"metric.", "metrics.", "kafka.metrics.", "auto.include.jmx", "telemetry.", "client.quota.", "quota.", "password.encoder.",
	"delegation.token.", "authorizer.", "super.users", "allow.everyone", "principal.builder", "controlled.shutdown.",
	"max.incremental.fetch.", "max.request.partition.", "producer.id.expiration.check", "unstable.", "confluent.",
	"config.providers", "create.topic.policy", "alter.config.policy", "create.cluster", "cluster.id",
	// of a JVM and the images' scripts, as Environment maps them
	"heap.opts", "opts", "jmx.", "jvm.", "gc.log.", "log4j", "tools.log4j", "version", "home", "scala.version", "cfg.",
	"advertised.host", "advertised.port", "rest.", "container.", "kraft.",
	// a Kubernetes service called kafka
	"service.", "port",
}

// ignored tells whether a name is known to mean nothing to this broker.
func ignored(name string) bool {
	name = strings.TrimPrefix(name, "kafka.")
	if strings.HasPrefix(name, "listener.name.") {
		return true
	}
	for _, prefix := range ignoredPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
