package partitionlog

import (
	"fmt"
	"sync"
)

// call is what waits for a turn of the loop: batches, or one operation.
type call struct {
	appends []*Append
	operate func() error // runs in the loop, may add entries to the frame
	err     error        // of the operation
	done    func()       // AppendAsync; nil for a caller that waits on wake
	wake    chan struct{}
}

// queue is the store's intake. The loop takes everything at once; while it writes, more gathers.
type queue struct {
	mu      sync.Mutex
	waiting []*call
	closed  bool
	wake    chan struct{} // capacity 1: there is something to take
	// calls are pooled with their channels, so that a wake-up costs no allocation. Each store has its own pool: a
	// channel of one testing/synctest bubble cannot be used in another.
	calls sync.Pool
}

// call returns an empty call; it goes back to the pool.
func (q *queue) call() *call {
	if c, ok := q.calls.Get().(*call); ok {
		return c
	}
	return &call{wake: make(chan struct{}, 1)}
}

// put reports false when the store takes no more calls.
func (q *queue) put(c *call) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	first := len(q.waiting) == 0
	q.waiting = append(q.waiting, c)
	q.mu.Unlock()
	if first {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// take hands out everything that waits; empty becomes the next buffer.
func (q *queue) take(empty []*call) []*call {
	q.mu.Lock()
	taken := q.waiting
	q.waiting = empty[:0]
	q.mu.Unlock()
	return taken
}

// close refuses further calls; what waits is still served.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Append makes batches durable and returns when all results are in place. Batches of one call keep their order per
// partition; some may be accepted and others refused.
//
// Errors: in each Append's Err.
// Owner: any goroutine.
func (s *Store) Append(appends ...*Append) {
	s.admit(appends)
	c := s.queue.call()
	c.appends = appends
	if s.queue.put(c) {
		<-c.wake
	} else {
		refuse(appends, ErrClosed)
	}
	c.appends = nil
	s.queue.calls.Put(c)
}

// AppendAsync is Append for callers that go on; done runs in the store's loop and must be cheap.
func (s *Store) AppendAsync(done func(), appends ...*Append) {
	s.admit(appends)
	c := &call{appends: appends, done: done}
	if !s.queue.put(c) {
		refuse(appends, ErrClosed)
		done()
	}
}

// run executes an operation in the loop and waits until what it staged is durable and applied.
func (s *Store) run(operate func() error) error {
	c := s.queue.call()
	c.operate, c.err = operate, nil
	err := ErrClosed
	if s.queue.put(c) {
		<-c.wake
		err = c.err
	}
	c.operate = nil
	s.queue.calls.Put(c)
	return err
}

// release hands a call back to its author.
func (c *call) release() {
	if c.done != nil {
		c.done()
		return
	}
	c.wake <- struct{}{}
}

func refuse(appends []*Append, err error) {
	for _, a := range appends {
		if a.Err == nil {
			a.fail(err)
		}
	}
}

// fail records a refusal.
func (a *Append) fail(err error) {
	a.Err, a.BaseOffset, a.Duplicate = err, -1, false
}

// admit validates batches in the caller's goroutine, so that many connections share the processors: checksum and
// decoding are the costly part. What is left for the loop is counting.
func (s *Store) admit(appends []*Append) {
	now := s.nowMs()
	for _, a := range appends {
		a.Err, a.Duplicate, a.BaseOffset, a.LogAppendTime, a.LogStartOffset = nil, false, -1, -1, -1
		if err := s.admitOne(a, now); err != nil {
			a.fail(err)
		}
	}
}

func (s *Store) admitOne(a *Append, now int64) error {
	if len(a.Records) > s.maxBatch {
		return fmt.Errorf("%w: %d bytes, a journal frame holds %d; raise the journal's size", ErrMessageTooLarge, len(a.Records), s.maxBatch)
	}
	if a.KeepOffset && a.Origin == OriginCoordinator {
		return admitKept(a.Records)
	}
	c := a.Partition.config.Load()
	rules := BatchRules{
		MaxBytes: int(c.MaxMessageBytes), Compacted: c.Compact, Timestamp: c.TimestampType,
		Now: now, BeforeMax: c.TimestampBeforeMaxMs, AfterMax: c.TimestampAfterMaxMs, RefuseTransactional: true,
	}
	if a.Origin == OriginCoordinator {
		// Deviation: Kafka holds them to max.message.bytes too, and a group whose members' metadata outgrow it fails.
		rules.Coordinator, rules.MaxBytes = true, 0
		if err := checkFraming(a.Records, &rules); err != nil {
			return err
		}
		return checkHeader(a.Records, &rules)
	}
	maxTimestamp, err := ValidateBatch(a.Records, rules)
	if err != nil {
		return err
	}
	if c.TimestampType == LogAppendTime {
		maxTimestamp, a.LogAppendTime = now, now
	}
	Batch(a.Records).SetMaxTimestamp(c.TimestampType, maxTimestamp)
	return nil
}
