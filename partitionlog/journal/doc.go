// Package journal keeps frames of bytes durable and in order: one write and one fdatasync a frame.
//
// It never knows what is in a frame: no entries, topics, batches or clients.
//
// A journal is a directory of files of one size, numbered without holes:
//
//	00000000000000000007.journal   released frames, about to be recycled
//	00000000000000000008.journal   frames
//	00000000000000000009.journal   frames, the file that Append writes to
//	00000000000000000010.journal   a spare: header only, the rest zero or stale
//	next.tmp                       a file in the making; removed at Open
//
// A file gets its name only after its header is durable and all its bytes were written once, so that an append
// changes no metadata and its fdatasync is one disk write. A goroutine makes spares ahead of need, out of released
// files where there are any. See header.go and frame.go for the bytes.
//
// Frames have consecutive log sequence numbers (LSN). Each begins on a page of its own, hence no write ever touches
// a page that holds an acknowledged frame. A frame's checksums include the directory's id, the file's number and
// the frame's position: what a recycled file holds from its former life, or a copy of a frame inside of a payload,
// is no frame.
//
// # Failures
//
// When a write or sync fails, nobody knows what the disk holds of that frame, and a second sync may report success
// for pages that the kernel dropped. So the file is abandoned, and Restart begins a new incarnation in the next file,
// whose first frame says: incarnation i begins after LSN n. Whatever older files hold above n counts no more.
//
// # Recovery
//
// At most one frame is under way at a time. Hence:
//
//   - A bad frame at the end, with no header of a later frame behind it, is a torn tail. It is cut: the rest of the
//     file is overwritten with zeros and synced before anything is appended.
//   - A bad frame with a later one behind it, or a hole in the LSNs, was acknowledged once. That is damage, and
//     Open refuses, naming file and position.
//   - The last good frame may never have been acknowledged, and may be in the page cache only, even marked clean
//     after a failed sync. It counts, so it is written again, same bytes at the same place, and synced
//     before it is handed out. This relies on the disk not to destroy a sector that it overwrites with what it holds.
//
// Schedule: a frame of five pages is torn by a power cut, page three is missing; Open cuts; a frame of one page is
// appended in its place; power fails again. Without the zeros, pages two, four and five of the first frame would
// still be there. None of them could pass for a frame (their position is not in their bytes), but the zeros make it
// plain to see.
//
// # The caller's duties
//
//  1. Append, Restart and Close are called by one goroutine at a time; Release and Used by any.
//  2. After an error of Append other than ErrFull, ErrNoSpare and ErrTooLarge the caller drops what it built on unacknowledged
//     frames and calls Restart. An unacknowledged frame may come back at the next Open, unless Restart succeeded.
//  3. Release only what a durable checkpoint holds, and give Open that checkpoint's LSN.
//  4. One process at a time uses the directory (the caller holds a lock).
package journal
