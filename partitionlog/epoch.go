package partitionlog

import "sort"

// epochStart says at which offset the first batch of a leader epoch lies, or would lie.
type epochStart struct {
	epoch int32
	start int64
}

// epochs is a partition's table of leader epochs. An epoch enters with its first batch; the current epoch of a
// partition that has no batch in it yet starts, by definition, at the next offset.
//
// Invariant: epoch and start both increase strictly.
// Source: Kafka, LeaderEpochFileCache; KIP-101, KIP-279.
type epochs []epochStart

// assign notes the epoch of a batch at an offset. Epochs that have no batch left before it make room.
func (e epochs) assign(epoch int32, offset int64) epochs {
	if n := len(e); n > 0 && e[n-1].epoch >= epoch {
		return e
	}
	n := sort.Search(len(e), func(i int) bool { return e[i].start >= offset })
	return append(e[:n:n], epochStart{epoch, offset})
}

// trim drops what lies below a new log start; the epoch that covers it begins there from now on.
func (e epochs) trim(logStart int64) epochs {
	n := sort.Search(len(e), func(i int) bool { return e[i].start > logStart })
	if n == 0 {
		return e
	}
	kept := append(epochs(nil), e[n-1:]...)
	kept[0].start = logStart
	return kept
}

// at returns the epoch of the batch at an offset, -1 when none is known.
func (e epochs) at(offset int64) int32 {
	n := sort.Search(len(e), func(i int) bool { return e[i].start > offset })
	if n == 0 {
		return -1
	}
	return e[n-1].epoch
}

// end returns the largest known epoch up to the wanted one, and the offset at which the next one starts.
// The caller has added the current epoch.
func (e epochs) end(wanted int32, next int64) (epoch int32, endOffset int64) {
	if wanted < 0 || len(e) == 0 || wanted > e[len(e)-1].epoch {
		return -1, -1
	}
	n := sort.Search(len(e), func(i int) bool { return e[i].epoch > wanted })
	if n == len(e) {
		return e[n-1].epoch, next
	}
	if n == 0 {
		return wanted, e[0].start
	}
	return e[n-1].epoch, e[n].start
}

// EpochAt returns the leader epoch of the batch that holds an offset, -1 when it is not known. For the next offset
// that is the epoch in which it would be written.
func (p *Partition) EpochAt(offset int64) int32 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if offset >= p.highWatermark.Load() {
		return p.store.LeaderEpoch()
	}
	return p.epochs.at(offset)
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the largest known epoch that is not above the wanted one, and where
// it ends; -1, -1 when the wanted epoch is negative or in the future.
func (p *Partition) EndOffsetForEpoch(epoch int32) (leaderEpoch int32, endOffset int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	next := p.highWatermark.Load()
	known := p.epochs[:len(p.epochs):len(p.epochs)].assign(p.store.LeaderEpoch(), next)
	return known.end(epoch, next)
}
