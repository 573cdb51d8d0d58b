package groups

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// turnEvents bounds how many events share one turn, and so how large a turn's batch and how late its first answer can be.
const turnEvents = 512

// batchBytes is where a turn's records go on in another batch, so that a batch is far below what a journal frame holds.
const batchBytes = 512 << 10

// shard is one core and the goroutine that feeds it.
type shard struct {
	cfg       *Config
	partition *partitionlog.Partition

	mu    sync.Mutex
	queue []*task
	ended bool // after it, submit answers at once

	wake    chan struct{} // one slot: the queue is not empty, or the clock moved
	loaded  chan struct{}
	loadErr error // under mu; written by the goroutine only

	// What follows is the goroutine's own.
	core        *coordinator.Core
	seed        uint64
	incarnation uint64
	encoder     *offsetslog.Encoder
	waiting     map[coordinator.Token]*task // stepped, not yet answered
	nextToken   coordinator.Token
	turn        turn
	panics      []time.Time
	appends     []*partitionlog.Append
}

// turn is what one round of steps has brought about and the disk does not hold yet.
//
// Invariant: ops are ascending indexes into records, each behind the last record of one step.
type turn struct {
	records []coordinator.Record
	ops     []int
	replies []coordinator.Reply
	notes   []coordinator.Note
}

func (t *turn) add(e coordinator.Effects) {
	if len(e.Records) > 0 {
		t.records = append(t.records, e.Records...)
		t.ops = append(t.ops, len(t.records))
	}
	t.replies = append(t.replies, e.Replies...)
	t.notes = append(t.notes, e.Notes...)
}

func (t *turn) reset() {
	clear(t.records)
	clear(t.replies)
	clear(t.notes)
	t.records, t.ops, t.replies, t.notes = t.records[:0], t.ops[:0], t.replies[:0], t.notes[:0]
}

func newShard(cfg *Config, p *partitionlog.Partition) *shard {
	return &shard{
		cfg: cfg, partition: p, wake: make(chan struct{}, 1), loaded: make(chan struct{}),
		encoder: offsetslog.NewEncoder(partitionlog.None), waiting: map[coordinator.Token]*task{},
	}
}

// submit queues a task. It is answered even if the shard cannot serve it.
func (s *shard) submit(t *task) {
	if code := s.enqueue(t); code != nil {
		t.finish(nil, code)
		return
	}
	s.poke()
}

func (s *shard) enqueue(t *task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loadErr != nil {
		return kerr.NotCoordinator
	}
	if s.ended {
		return kerr.CoordinatorNotAvailable
	}
	select {
	case <-s.loaded:
		s.queue = append(s.queue, t)
		return nil
	default:
		return kerr.CoordinatorLoadInProgress
	}
}

func (s *shard) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run is the goroutine: load, then turns until the context ends.
func (s *shard) run(ctx context.Context) {
	defer s.end()
	s.setLoadErr(s.load())
	close(s.loaded)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var batch []*task
	for s.loadErr == nil {
		s.arm(timer)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		for first := true; first || len(batch) > 0; first = false {
			batch = s.take(batch)
			s.run1(batch)
			if ctx.Err() != nil || s.loadErr != nil {
				break
			}
		}
	}
	s.end()
	<-ctx.Done()
}

// setLoadErr keeps what loading ran into. With an error, this partition's groups are not served until the next start:
// to serve them without their past would be to forget acknowledged commits.
func (s *shard) setLoadErr(err error) {
	if err != nil {
		s.cfg.Log.Error().Err(err).Str("partition", s.describe()).
			Msg("the groups of this partition cannot be read and are not served until the next start")
	}
	s.mu.Lock()
	s.loadErr = err
	s.mu.Unlock()
}

// take moves what waits, up to a turn's bound, into batch.
func (s *shard) take(batch []*task) []*task {
	clear(batch)
	s.mu.Lock()
	n := min(len(s.queue), turnEvents)
	batch = append(batch[:0], s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	s.mu.Unlock()
	return batch
}

// arm sets the timer to the core's next deadline.
func (s *shard) arm(timer *time.Timer) {
	wait := time.Hour
	if at, ok := s.core.NextDeadline(); ok {
		wait = max(at.Sub(s.cfg.Now()), 0)
	}
	timer.Reset(wait)
}

// run1 is one turn: events first, so that a heartbeat that is already here saves its member, then what is due.
func (s *shard) run1(batch []*task) {
	now := s.cfg.Now()
	full := s.cfg.Store.DiskFull()
	for i, t := range batch {
		if full && refusedWhenFull(t.body) {
			t.finish(nil, kerr.CoordinatorNotAvailable)
			continue
		}
		if !s.step(now, t) {
			for _, rest := range batch[i+1:] {
				rest.finish(nil, kerr.NotCoordinator)
			}
			return
		}
	}
	if at, ok := s.core.NextDeadline(); ok && !at.After(now) {
		if !s.guard(func() { s.turn.add(s.core.Tick(now)) }, nil) {
			return
		}
	}
	s.flush(now)
}

// refusedWhenFull says which requests need disk space that is kept back for those that free some.
func refusedWhenFull(body kmsg.Request) bool {
	_, commit := body.(*kmsg.OffsetCommitRequest)
	return commit
}

func (s *shard) step(now time.Time, t *task) (ok bool) {
	s.nextToken++
	token := s.nextToken
	s.waiting[token] = t
	return s.guard(func() {
		if t.body == nil {
			s.turn.add(s.core.Step(now, &coordinator.TopicsDeleted{Token: token, Topics: t.deleted}))
			return
		}
		t.event = coordinator.Request{Token: token, Client: t.client, Body: t.body}
		s.turn.add(s.core.Step(now, &t.event))
	}, t)
}

// flush makes the turn's records durable, then releases its replies and notes.
func (s *shard) flush(now time.Time) {
	if len(s.turn.records) > 0 {
		if err := s.append(now); err != nil {
			s.failed(err)
			return
		}
	}
	for _, r := range s.turn.replies {
		t := s.waiting[r.Token]
		delete(s.waiting, r.Token)
		t.finish(r.Response, nil)
	}
	for _, n := range s.turn.notes {
		s.log(n)
	}
	s.turn.reset()
}

// append writes the turn's records, nearly always as one batch. The records of one step never part: they are one
// atomic fact.
func (s *shard) append(now time.Time) error {
	appends := s.appends[:0]
	next := 0
	for i, end := range s.turn.ops {
		for ; next < end; next++ {
			s.encoder.Add(s.turn.records[next], now.UnixMilli())
		}
		if s.encoder.Size() < batchBytes && i < len(s.turn.ops)-1 {
			continue
		}
		appends = append(appends, &partitionlog.Append{
			Partition: s.partition, Records: s.encoder.Take(), Origin: partitionlog.OriginCoordinator, Urgent: true,
			Incarnation: s.incarnation,
		})
	}
	s.appends = appends
	s.cfg.Store.Append(appends...)
	for _, a := range appends {
		if a.Err != nil {
			return a.Err
		}
	}
	return nil
}

// failed answers everybody who waits and replaces the core: memory is ahead of the disk.
func (s *shard) failed(cause error) {
	if errors.Is(cause, partitionlog.ErrClosed) {
		s.drop(kerr.CoordinatorNotAvailable)
		return
	}
	s.cfg.Log.Warn().Err(cause).Str("partition", s.describe()).Int("waiting", len(s.waiting)).
		Msg("records of groups could not be made durable; the coordinator is read again from the log")
	code := kerr.NotCoordinator
	if errors.Is(cause, partitionlog.ErrMessageTooLarge) {
		code = kerr.UnknownServerError // a group that no batch can hold: to try again would not help
	}
	s.reload(code)
}

// reload drops the core and replays another one.
func (s *shard) reload(code *kerr.Error) {
	s.drop(code)
	if err := s.load(); err != nil {
		s.setLoadErr(err)
	}
}

// drop answers all that was stepped and not answered, and forgets the turn.
func (s *shard) drop(code *kerr.Error) {
	s.turn.reset()
	for token, t := range s.waiting {
		delete(s.waiting, token)
		t.finish(nil, code)
	}
}

// load replays the partition into a new core.
func (s *shard) load() error {
	began := s.cfg.Now()
	s.incarnation = s.cfg.Store.Incarnation()
	s.seed = s.cfg.Seed()
	s.core = coordinator.New(s.cfg.Coordinator, s.seed)
	l, err := offsetslog.Load(s.partition, s.core.Replay)
	if err != nil {
		return err
	}
	now := s.cfg.Now()
	for _, n := range s.core.Loaded(now).Notes {
		s.log(n)
	}
	if l.Records > 0 {
		s.cfg.Log.Debug().Str("partition", s.describe()).Int("records", l.Records).Int("skipped", l.Skipped).
			Int64("bytes", l.Bytes).Dur("took", now.Sub(began)).Msg("groups loaded")
	}
	return nil
}

// end answers whatever is left, and lets nothing more in.
func (s *shard) end() {
	s.mu.Lock()
	s.ended = true
	queue, code := s.queue, kerr.CoordinatorNotAvailable
	s.queue = nil
	if s.loadErr != nil {
		code = kerr.NotCoordinator
	}
	s.mu.Unlock()
	for _, t := range queue {
		t.finish(nil, code)
	}
	s.drop(code)
}
