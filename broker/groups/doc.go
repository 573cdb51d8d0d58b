// Package groups runs the coordinator: one shard, with one core, for each partition of the offsets topic.
//
// It may not know the inside of a group, a socket, or the wire form of a version that the coordinator does not look at:
// it carries events in, records to the store, and replies out.
//
// A shard's turn, always in this order:
//
//  1. take everything that waits, and read the clock once;
//  2. Core.Step for each event, then Core.Tick; records and replies are collected;
//  3. one batch of all records, appended and made durable by the store, shared with every other shard's turn;
//  4. only now the replies go to those who wait, and the notes to the log.
//
// So no reply leaves before the disk holds everything that it reveals, and a read in the same turn cannot see what a
// crash would undo. If step 3 does not succeed, memory is ahead of the disk: everybody who waits gets a retriable code,
// the core is dropped, and a new one is replayed from the log, which is what a start does too.
//
// A turn is run by whoever holds the shard: the caller of Do that finds it free, on its own goroutine, or else the
// shard's goroutine, which also watches the core's deadlines. Who finds it taken leaves its task in the queue, and who
// gives it free looks there once more.
//
//	goroutine            owns                                                       ends when
//	shard (1 each)       its timer; core, encoder, tokens while it holds the shard  Close
//
// The caller's duties: Open before anything else; Do from any goroutine, with a request whose byte fields stay as they
// are until Do returns; Close last.
package groups
