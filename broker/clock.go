package broker

import (
	"sync/atomic"
	"time"
)

// clock is the broker's time: the wall clock at the start plus what has passed since by the monotonic clock, plus an
// offset that may be moved forward. A step of the wall clock moves nothing, and so expires nobody.
//
// Invariant: now never goes back.
type clock struct {
	start  time.Time
	offset atomic.Int64 // nanoseconds
}

func newClock() *clock { return &clock{start: time.Now()} }

func (c *clock) now() time.Time {
	return c.start.Add(time.Since(c.start) + time.Duration(c.offset.Load()))
}

// advance moves the clock; d must not be negative.
func (c *clock) advance(d time.Duration) { c.offset.Add(int64(max(d, 0))) }
