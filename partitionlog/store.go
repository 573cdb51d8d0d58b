package partitionlog

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kohort/kohort/partitionlog/journal"
)

// Store is one data directory, or one memory.
//
// Owner: exported methods: any goroutine. Fields below the line: the loop.
type Store struct {
	config Config
	files  *files
	lock   io.Closer
	dirID  [16]byte
	id     string // of the cluster

	catalog     catalog
	queue       queue
	leaderEpoch atomic.Int32
	incarnation atomic.Uint64
	durableLSN  atomic.Uint64 // of the table on disk
	maxBatch    int           // bytes of the largest batch that a frame holds
	maxFrame    int           // bytes at which a frame is closed

	failed    chan struct{}
	failure   atomic.Pointer[error]
	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	workers   sync.WaitGroup // loop, maintenance

	maintenance sync.Mutex // one round at a time
	ids         struct {
		sync.Mutex
		next, end int64
	}

	// ---- the loop's ----
	journal     *journal.Journal // nil in memory mode
	lsn         uint64           // of the last applied frame
	applying    uint64           // LSN of the frame that is being applied
	catalogLSN  uint64           // catalogue entries up to it are in memory already; moves only in recovery
	replaying   bool
	frame       encoder
	staged      []*Append // in the frame
	assigned    []*Partition
	waiting     []*call // to be released with the frame
	touched     []*Partition
	scratch     []byte
	producerIDs int64       // first id that no block has reserved
	held        int         // files that wait for a checkpoint
	diskFull    atomic.Bool // written by the loop only
	freeChecked time.Time
	freeBytes   int64
	removed     []removal // segments whose files go when a table without them is durable
	garbage     []string  // directories likewise
	checkpoint  checkpointState
}

// Failed is closed when the store cannot go on: stop the process, with Err as the reason.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err is the reason of Failed, nil before.
func (s *Store) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Incarnation begins at 1 and moves when a journal write went wrong: nobody knows which of the appends under way
// survive, so every state that runs ahead of the log must be rebuilt from it.
func (s *Store) Incarnation() uint64 { return s.incarnation.Load() }

// LeaderEpoch is the leader epoch of every partition: 0 at the first start, one more at each later one.
func (s *Store) LeaderEpoch() int32 { return s.leaderEpoch.Load() }

// ClusterID is 22 characters, drawn when the data directory was made.
func (s *Store) ClusterID() string { return s.id }

func (s *Store) nowMs() int64 { return s.config.Now().UnixMilli() }

// Close serves what waits, writes a last checkpoint and releases the directory. Appends from then on are answered
// with ErrClosed; reads end.
//
// Errors: of the checkpoint and of closing the journal; nothing acknowledged is lost by them.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.queue.close() // first: what is in the queue when the loop ends is served
		close(s.closing)
		s.workers.Wait()
		s.closeErr = s.shut()
	})
	return s.closeErr
}

// shut is Close's second half, when no goroutine of the store is left.
func (s *Store) shut() error {
	var err error
	if s.journal != nil && s.Err() == nil {
		err = s.checkpointNow()
	}
	if s.journal != nil {
		if closeErr := s.journal.Close(); err == nil {
			err = closeErr
		}
	}
	s.files.closeAll()
	if s.lock != nil {
		if lockErr := s.lock.Close(); err == nil {
			err = lockErr
		}
	}
	return err
}

// fail gives up: everybody who waits and whoever comes is answered ErrClosed.
func (s *Store) fail(err error) {
	err = fmt.Errorf("store of %q cannot go on: %w", s.config.Dir, err)
	if s.failure.CompareAndSwap(nil, &err) {
		s.config.Observe(Event{Kind: EventFailed, Err: err})
		close(s.failed)
	}
}
