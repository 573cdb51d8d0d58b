// Package partitionlog keeps what must survive a power cut: the catalogue of topics and every partition's batches.
//
// It never knows groups, requests or sockets. Partitions hold Kafka's v2 record batches as they were produced.
//
// # One loop, one command log
//
// Everything that changes is an entry: an append, a skip, a trim, a topic, a configuration, a leader epoch, a block of
// producer ids. One goroutine, the store's loop, takes the calls that wait, and goes through four steps:
//
//	callers            the loop                                             disk
//	Append  --\   validate   sequence, epoch, size; base offsets
//	Append  ---> queue -->   encode     entries into one frame  ---------> journal (one write, one fdatasync)
//	Create  --/              apply      (apply.go, also recovery) -------> segments (page cache only)
//	   <--- results ------   release    high watermark, waiters
//
// Decoding a batch is the costly part of validation and happens in the caller's goroutine; the loop only counts.
// Nobody reads past the high watermark, and it moves after the journal's sync, so no reply reveals what a crash
// would undo.
//
// # Checkpoints
//
// Segments are synced in the background. A checkpoint notes each partition's state in the table, and only then is
// the journal below it recycled. The table is the only truth about which segment files belong to a partition:
// compaction and retention change the list in memory, and unlink old files when a table that does not name them is
// durable. A crash at any point leaves the table before, and a longer journal.
//
//	DIR/LOCK                        held while the store is open; the holder's pid, and what that program adds
//	DIR/meta.properties             format version, directory id, cluster id; written last at creation
//	DIR/table                       the checkpoint
//	DIR/journal/                    package journal
//	DIR/topics/NAME-ID/PARTITION/   BASEOFFSET.log, after a compaction BASEOFFSET.GENERATION.log
//
// Segment files hold Kafka's bytes and nothing else, so they carry no id of their own: the topic's id is in the
// directory's name, and the table names every file with its size.
//
// # Indexes
//
// Offset and time indexes are in memory only and sparse. Those of new bytes grow with the append; those of older
// bytes are rebuilt on the first read, from the batch headers. A stored index would be one more file per segment to
// sync, to distrust after a crash and to swap in a compaction, to save a walk that costs milliseconds once.
//
// # Who touches what
//
//	goroutine         owns                                                  ends when
//	loop (1)          loopState, the store's fields below the line, files   Close, after the queue is empty
//	checkpoint (0-1)  one snapshot; syncs, writes the table, unlinks        its work is done
//	maintenance (1)   the pace of retention and compaction                  Close
//
// A caller's goroutine validates, waits, and reads; what it shares with the loop is atomic or under Partition.mu,
// which nobody holds across a system call.
//
// # Duties of the caller
//
//  1. An Append's Records belongs to the store from the call until its results are there.
//  2. When Incarnation moves, rebuild every state that was derived from appends without an answer.
//  3. When Failed is closed, stop the process with Err as the reason.
//  4. Config.Observe neither blocks nor calls back.
package partitionlog
