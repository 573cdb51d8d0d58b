package groups

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// A core that panics this often within panicWindow stops the broker: to go on would be to fail every client in turn.
const (
	maxPanics   = 3
	panicWindow = time.Minute
)

// guard runs a step of the core. If it panics, the request that caused it is answered UNKNOWN_SERVER_ERROR, everybody
// else who waits NOT_COORDINATOR, the turn is forgotten, and a new core is replayed from what the disk holds.
func (s *shard) guard(step func(), cause *task) (ok bool) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		ok = false
		trace := fmt.Sprintf("%v\nseed %d, partition %s\n%s", p, s.seed, s.describe(), debug.Stack())
		s.cfg.Log.Error().Str("partition", s.describe()).Uint64("seed", s.seed).Str("trace", trace).
			Msg("the coordinator broke one of its own rules; it is read again from the log")
		if s.cfg.Panicked != nil {
			s.cfg.Panicked(trace)
		}
		s.afterPanic(cause)
	}()
	step()
	return true
}

func (s *shard) afterPanic(cause *task) {
	for token, t := range s.waiting {
		if t == cause {
			delete(s.waiting, token)
			t.finish(nil, kerr.UnknownServerError)
		}
	}
	now := s.cfg.Now()
	recent := s.panics[:0]
	for _, at := range s.panics {
		if now.Sub(at) < panicWindow {
			recent = append(recent, at)
		}
	}
	s.panics = append(recent, now)
	if len(s.panics) >= maxPanics {
		s.cfg.Fatal(fmt.Errorf("the coordinator of %s broke its rules %d times within %v", s.describe(), len(s.panics), panicWindow))
	}
	s.reload(kerr.NotCoordinator)
}
