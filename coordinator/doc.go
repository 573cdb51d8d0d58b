// Package coordinator decides, for every event, what a Kafka group coordinator would do.
//
// It is a function in the shape of a struct: Step(now, event) and Tick(now) change memory and return plain data (records to
// write, replies to send, notes to log). It never knows that a disk, a socket, a goroutine, a wall clock or a logger exists,
// and it never fails: a client's mistake is a reply with a Kafka error code, a mistake of ours is a panic with a *Bug.
//
//	           Request, TopicsDeleted        now
//	                     |                    |
//	              +------v--------------------v------+
//	              |  Step            Tick            |
//	              |   |  one file per request  |     |
//	Replay ------>|   v                        v     |
//	(start-up)    |  soft half <--restore-- hard half|<-- apply, its only writer
//	              +------+--------------------^------+
//	                     |  emit -------------+
//	                     v
//	     Effects{Records, Replies, Notes}
//
// # Hard and soft
//
// Each group has two halves. The hard one (last group record, committed offsets) is what the log says; apply alone writes
// it, on the live path through emit, at start-up through Replay, so that the two cannot differ. The soft one (state, members
// that have joined, parked requests, deadlines) is lost in a crash: members repeat what of it matters. The generation of
// an unfinished rebalance is soft, and may be issued again; generations that were logged never go back.
//
// # The caller's duties
//
//  1. New, then Replay for each record of the log in order, then Loaded once; only then Step and Tick.
//  2. now never goes backwards. A step of the wall clock must not reach the core.
//  3. Call Tick when NextDeadline has come. Calling it late is safe, early is useless.
//  4. Write the records of an Effects as one atomic batch, and send its replies only when they and all earlier ones are
//     durable. Records and replies of several calls may share one write.
//  5. If that write fails, drop the core, answer Parked and all unsent replies with NOT_COORDINATOR, and start again at 1.
//  6. Give each request a token of its own. It comes back exactly once, at once or later, unless the core is dropped.
//  7. The slices of an Effects are reused by the next call. A record belongs to both sides: nobody changes it.
//
// # What the requests must look like
//
// Authorization, loading and the right coordinator are the caller's business, as is whatever needs the catalogue:
//
//	JoinGroup, SyncGroup, Heartbeat   as decoded
//	LeaveGroup                        the list form, whatever the version
//	OffsetCommit                      existing partitions only, names in place of topic ids
//	OffsetFetch                       elements of Groups only, names in place of topic ids; nil Topics mean all
//	OffsetDelete                      existing partitions only
//	DescribeGroups, DeleteGroups      groups of this shard only
//	ListGroups                        as decoded; the answer knows this shard's groups only
//
// # Time
//
// There is one heap of deadlines (deadline.go): sessions, ids that must come back, join and sync phases, the search for
// expired offsets. Most deadlines only ever move later, which costs a store and no heap operation.
//
// # Order
//
// No iteration over a map influences effects: members, groups and topics are walked along slices. The same records, events
// and seed give the same effects, which the simulation proves by running seeds twice.
//
// Differences from Kafka are marked "Deviation:".
package coordinator
