package partitionlog

// Origin says who wrote a batch.
type Origin int8

const (
	// OriginClient batches are validated wholly.
	OriginClient Origin = iota
	// OriginCoordinator batches come from this process; their records are not decoded again.
	OriginCoordinator
)

// Append is one batch for one partition, and what became of it.
//
// Owner: the store from the call until the results are there.
type Append struct {
	Partition *Partition
	// Records is one v2 batch. Base offset, leader epoch and, for LogAppendTime, the maximum timestamp are
	// written to it.
	Records []byte
	Origin  Origin
	// KeepOffset leaves base offset and timestamps as they are: the batch comes from another broker's log. Its base
	// offset is at or above the partition's next; what lies between stays empty. Transactions are accepted. Only with
	// OriginCoordinator.
	KeepOffset bool
	// Urgent appends pass when the disk is nearly full: tombstones and group metadata.
	Urgent bool
	// Incarnation fences: 0 accepts any, otherwise it must be the store's.
	Incarnation uint64

	// BaseOffset is the offset of the first record; of the original batch for a duplicate; -1 on errors.
	BaseOffset int64
	// LogAppendTime is the time that was written into the batch, -1 with CreateTime.
	//
	// Units: milliseconds.
	LogAppendTime int64
	// LogStartOffset is the partition's log start at that moment.
	LogStartOffset int64
	// Duplicate says that the batch was there already and nothing was written.
	Duplicate bool
	// Err is nil, or one of the sentinels.
	Err error
}
