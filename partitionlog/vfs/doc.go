// Package vfs is the disk, seen through the few verbs that a log needs, and the disk that fails.
//
// It never knows what the bytes mean: no frames, batches, topics or offsets.
//
// Four disks live here:
//
//	OS        the operating system's files; Sync is fdatasync
//	MemFS     plain memory, for a broker that keeps nothing; no crash tracking, freed on Remove and Truncate
//	Overlay   the operating system's files, read only: changes stay in memory, so that a recovery can be tried
//	CrashFS   a test disk with a synced and an unsynced view, injected faults and power cuts
//
// The caller's duties:
//
//  1. A file's bytes are durable after Sync of that file, and only then.
//  2. A created, renamed or removed name is durable after SyncDir of its directory, and only then.
//     A new directory's own name lives in its parent, which needs its own SyncDir.
//  3. After a failed Write, Truncate or Sync nothing is known about the bytes in question. Never retry
//     a Sync and trust its success: the kernel may have dropped the pages.
//  4. One goroutine at a time writes to, truncates or syncs a file; any number may read it meanwhile.
//  5. A name is opened once at a time. Close before Remove is not needed: an open file stays readable.
package vfs
