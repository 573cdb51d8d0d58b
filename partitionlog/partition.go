package partitionlog

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Why a partition is not served. Both may be true: what is offline stays so when its topic is deleted, for its note
// must not move.
const (
	offline int32 = 1 << iota // a write of its segment went wrong
	gone                      // its topic is deleted, or about to be
)

// Partition is one log of a topic.
//
// Owner: exported methods: any goroutine. mu is never held across a system call.
// Invariant: logStart <= highWatermark == nextOffset after each turn.
type Partition struct {
	store *Store
	topic string
	id    [16]byte
	index int32

	config        atomic.Pointer[TopicConfig]
	state         atomic.Int32 // bits; 0 is served
	logStart      atomic.Int64
	highWatermark atomic.Int64
	bytes         atomic.Int64
	watchers      watchers

	mu        sync.RWMutex // guards what follows, up to the loop's own part; the loop is the only writer
	segments  []*segment   // ascending; the last one is active
	epochs    epochs
	cleanedTo int64 // records below it were compacted together
	cause     error // of offline

	loop loopState
}

// loopState is what only the store's loop touches.
type loopState struct {
	nextOffset int64 // applied
	assigned   int64 // handed out in this turn
	producers  producers
	touched    bool       // in this turn
	pieces     []piece    // batches of this frame that are not yet in the segment
	applied    uint64     // LSN of the last entry that is in memory, or of the note it was read from
	dirty      []*segment // with bytes that no checkpoint has synced
	hasDir     bool       // the directory exists
	newDir     bool       // the directory itself is new since the last checkpoint
	newFiles   bool       // the directory has entries that no checkpoint has synced
	stale      bool       // note has to be encoded anew
	note       []byte     // the state as of the last snapshot, encoded
	durable    note       // the state in the table on disk
}

// note is a partition's state in a table, with the LSN up to which it speaks.
type note struct {
	lsn     uint64
	encoded []byte
}

// piece is a batch on its way to the active segment.
type piece struct {
	batch Batch
	nowMs int64
}

func newPartition(s *Store, topic string, id [16]byte, index int32, config *TopicConfig, lsn uint64) *Partition {
	p := &Partition{store: s, topic: topic, id: id, index: index}
	p.config.Store(config)
	p.loop.applied = lsn
	p.loop.stale = true
	p.loop.durable = note{lsn: lsn, encoded: p.encodeNote(nil)}
	return p
}

// Topic is the name of the partition's topic.
func (p *Partition) Topic() string { return p.topic }

// TopicID is the id of the partition's topic.
func (p *Partition) TopicID() [16]byte { return p.id }

// Index is the partition's number within its topic.
func (p *Partition) Index() int32 { return p.index }

// String is the name as Kafka prints it.
func (p *Partition) String() string { return fmt.Sprintf("%s-%d", p.topic, p.index) }

// Offsets returns the log start and the high watermark, which is the next offset: everything below it is durable
// and applied.
func (p *Partition) Offsets() (logStart, highWatermark int64) {
	// Log start first: it never passes a high watermark that is read later.
	logStart = p.logStart.Load()
	return logStart, p.highWatermark.Load()
}

// Size is the number of bytes in the partition's segments.
func (p *Partition) Size() int64 { return p.bytes.Load() }

// check says whether the partition can be read and written.
//
// Errors: ErrUnknownTopic, ErrOffline.
func (p *Partition) check() error {
	state := p.state.Load()
	if state == 0 {
		return nil
	}
	if state&gone != 0 {
		return fmt.Errorf("%w: %q", ErrUnknownTopic, p.topic)
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return fmt.Errorf("%w: %s: %w", ErrOffline, p, p.cause)
}

func (p *Partition) isOffline() bool { return p.state.Load()&offline != 0 }

// takeOffline stops serving a partition whose segment can no longer be trusted. Its note in the table stays as it
// is, and with it the journal above that note: the next start replays what is missing.
//
// Owner: the loop, or the checkpoint that found out.
func (p *Partition) takeOffline(cause error) {
	p.mu.Lock()
	first := p.cause == nil
	if first {
		p.cause = cause
	}
	p.mu.Unlock()
	if !first {
		return
	}
	p.state.Or(offline)
	p.watchers.notify()
	p.store.config.Observe(Event{Kind: EventOffline, Topic: p.topic, Partition: p.index, Err: cause})
}

// retire stops serving a partition whose topic is being deleted.
func (p *Partition) retire() {
	p.state.Or(gone)
	p.watchers.notify()
}

// active returns the segment that takes appends, nil before the first one.
func (p *Partition) active() *segment {
	if len(p.segments) == 0 {
		return nil
	}
	return p.segments[len(p.segments)-1]
}
