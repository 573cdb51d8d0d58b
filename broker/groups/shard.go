package groups

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

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
