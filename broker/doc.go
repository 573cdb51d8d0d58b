// Package broker owns every socket and goroutine above the store, and carries requests between the rooms. It can be
// embedded: Start is all that a program needs.
//
// It may not know the inside of a group, the format of a log or the fields of a message: those are coordinator's,
// partitionlog's and api's.
//
// The life of a request: conn.serve reads a frame; Server.Find looks its key and version up; the body is decoded; the
// handler answers, and may block, for a connection handles strictly one request at a time, in order; the response is
// written. An unknown key or version ends the connection, as in Kafka.
//
//	goroutine                 owns                               ends when
//	accept (1)                the listener                       Close
//	conn (1 each)             its socket and buffers             the peer goes, is idle or does not read, or Close
//	groups.shard (1 each)     a core of the coordinator          Close
//	partitionlog's loop       the journal and all partitions     Close
//	watch (1)                 nothing: waits for the store to    Close
//	                          give up
//
// Close goes from the street to the cellar: stop accepting; cancel what waits (parked JoinGroups are answered
// COORDINATOR_NOT_AVAILABLE, long polls with what there is); let connections write their last answers; end the shards;
// write a last checkpoint.
package broker
