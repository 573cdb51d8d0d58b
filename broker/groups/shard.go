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

// shard is one core, the goroutine that watches its deadlines, and the turns that feed it. A turn is run by whoever
// brings a request while no other turn runs, on his own goroutine: a lone heartbeat then costs no change of goroutines.
// What comes in the meantime waits, and shares the next turn.
type shard struct {
	cfg       *Config
	partition *partitionlog.Partition

	mu    sync.Mutex
	queue []*task
	ended bool // after it, submit answers at once

	wake    chan struct{} // one slot: the queue is not empty, the timer is set too late, or the clock moved
	loaded  chan struct{}
	loadErr error // under mu; written by who holds own

	// own is a lock with one slot, full while somebody holds it. It is no mutex, for in a bubble of testing/synctest those
	// who wait for a mutex stop the clock. What follows belongs to who holds it.
	own         chan struct{}
	armed       time.Time // what the timer is set to; zero: to nothing that matters
	batch       []*task
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
		cfg: cfg, partition: p, wake: make(chan struct{}, 1), loaded: make(chan struct{}), own: make(chan struct{}, 1),
		encoder: offsetslog.NewEncoder(partitionlog.None), waiting: map[coordinator.Token]*task{},
	}
}

// submit queues a task and, if no turn runs, runs one. The task is answered even if the shard cannot serve it.
func (s *shard) submit(t *task) {
	if code := s.enqueue(t); code != nil {
		t.finish(nil, code)
		return
	}
	select {
	case s.own <- struct{}{}:
	default:
		return // who runs the turn looks at the queue once more after it
	}
	s.round()
	late := s.late()
	s.release(late) // the rest is for the goroutine: this client's answer must not wait for that
}

// release gives the shard free, and calls the goroutine if there is something left for it: what came while somebody held
// the shard was queued by somebody who then went to wait.
func (s *shard) release(late bool) {
	<-s.own
	if late || s.pending() {
		s.poke()
	}
}

// pending tells whether there is something for the goroutine to do: tasks, or an end.
func (s *shard) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0 || s.loadErr != nil
}

// late tells whether the timer would fire after the core's next deadline.
func (s *shard) late() bool {
	at, ok := s.core.NextDeadline()
	return ok && (s.armed.IsZero() || at.Before(s.armed))
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

// run is the goroutine: load, then turns when a deadline passes or tasks were left, until the context ends.
func (s *shard) run(ctx context.Context) {
	defer s.end()
	s.own <- struct{}{}
	s.setLoadErr(s.load())
	close(s.loaded)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for s.loadErr == nil {
		s.arm(timer)
		s.release(false)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		s.own <- struct{}{}
		for more := true; more && s.loadErr == nil && ctx.Err() == nil; {
			more = s.round()
		}
	}
	<-s.own
	s.end()
	<-ctx.Done()
}

// round is one turn with what waits, and tells whether it had anything.
func (s *shard) round() bool {
	s.take()
	s.run1(s.batch)
	return len(s.batch) > 0
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
func (s *shard) take() {
	clear(s.batch)
	s.mu.Lock()
	n := min(len(s.queue), turnEvents)
	s.batch = append(s.batch[:0], s.queue[:n]...)
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	s.mu.Unlock()
}

// arm sets the timer to the core's next deadline. One that moves to later after that leaves the timer alone: it fires for
// nothing, and is set anew.
func (s *shard) arm(timer *time.Timer) {
	at, ok := s.core.NextDeadline()
	if !ok {
		s.armed = time.Time{}
		return
	}
	s.armed = at
	timer.Reset(max(at.Sub(s.cfg.Now()), 0))
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
	s.own <- struct{}{}
	s.drop(code)
	<-s.own
}
