package settings

// networkRows are the broker's identity, its addresses and the limits of its connections.
func networkRows(s *Settings) []row {
	return []row{
		{
			name: "node.id", aliases: []string{"broker.id"}, typ: Int, def: "1", check: atLeast(0), field: &s.NodeID,
			doc: "Id of this broker, which is also the controller.", source: "KRaftConfigs; Deviation: Kafka has no default",
		},
		{
			name: "listeners", typ: List, def: "PLAINTEXT://127.0.0.1:9092",
			doc:    "Addresses to listen on, as NAME://HOST:PORT; an empty host means all interfaces, port 0 a free port.",
			source: "SocketServerConfigs; Deviation: Kafka listens on all interfaces",
		},
		{
			name: "advertised.listeners", typ: List, null: true,
			doc:    "Addresses that clients are told to connect to; unset, each client is told the one that it connected to.",
			source: "SocketServerConfigs; Deviation: Kafka advertises the listeners",
		},
		{
			name: "listener.security.protocol.map", typ: String, def: "PLAINTEXT:PLAINTEXT",
			doc: "Security protocol of each listener name; only PLAINTEXT is spoken.", source: "SocketServerConfigs",
		},
		{
			name: "controller.listener.names", typ: List, null: true,
			doc: "Listeners that would be for controllers, which this broker does not open.", source: "KRaftConfigs",
		},
		{
			name: "log.dirs", aliases: []string{"log.dir"}, typ: List, null: true,
			doc:    "The data directory; exactly one, for a single journal protects everything.",
			source: "ServerLogConfigs; Deviation: Kafka takes several",
		},
		{
			name: "max.connections", typ: Int, def: "2147483647", check: atLeast(0), field: &s.MaxConnections,
			doc: "Connections that are open at once; further ones are closed.", source: "KIP-402",
		},
		{
			name: "connections.max.idle.ms", typ: Long, def: "600000", unit: "ms", field: &s.ConnectionsMaxIdle,
			doc: "Time after which a silent connection is closed; negative for never.", source: "SocketServerConfigs",
		},
		{
			name: "socket.request.max.bytes", typ: Int, def: "104857600", unit: "bytes", check: atLeast(1),
			field: &s.SocketRequestMaxBytes,
			doc:   "Largest request; requests other than Produce are held to 8 MiB besides.", source: "SocketServerConfigs",
		},
		{
			name: "queued.max.request.bytes", typ: Long, def: "268435456", unit: "bytes", check: atLeast(-1),
			field:  &s.QueuedMaxRequestBytes,
			doc:    "Request bytes held at once over all connections; reading stops until some are answered; -1 for no bound.",
			source: "KIP-72; Deviation: Kafka has no bound by default",
		},
		{
			name: "fetch.max.bytes", typ: Int, def: "57671680", unit: "bytes", check: atLeast(1024), field: &s.FetchMaxBytes,
			doc: "Largest answer to a fetch, whatever the client asks for.", source: "KIP-541",
		},
	}
}
