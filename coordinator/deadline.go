package coordinator

import (
	"container/heap"
	"time"
)

// timer is one deadline: of a member, of a group, or of the core.
//
// A session is prolonged with every heartbeat, and almost never ends. So prolonging only writes at; the heap keeps the
// older, earlier time, and looks again when that has come.
//
// Units: nanoseconds since the epoch.
// Invariant: in the heap, queued <= at.
type timer struct {
	kind   timerKind
	index  int32 // in the heap, or unqueued
	at     int64 // when it is due
	queued int64 // where the heap holds it
	seq    uint64

	group   *group
	member  *member        // of a sessionTimer
	pending *pendingMember // of a pendingTimer
}

// timerKind says what happens when a timer is due.
type timerKind int8

const (
	sessionTimer timerKind = iota
	pendingTimer
	joinTimer
	initialJoinTimer
	syncTimer
	expiryTimer
)

// unqueued is the index of a timer that is not armed.
const unqueued = -1

// deadlines is the one heap of a core. Timers that are due together fire in the order in which they were queued.
type deadlines struct {
	heap timerHeap
	seq  uint64
}

// arm sets a timer, or moves it.
func (c *Core) arm(t *timer, delay time.Duration) {
	c.deadlines.arm(t, c.now+max(int64(delay), 0))
}

// armMs sets a timer to a delay from the wire. At least a millisecond passes, so that a timeout of 0 or less cannot fire
// again and again within one Tick.
func (c *Core) armMs(t *timer, delayMs int64) {
	c.arm(t, time.Duration(max(delayMs, 1))*time.Millisecond)
}

// armSession gives a member its session timeout from now.
func (c *Core) armSession(m *member) { c.armMs(&m.timer, int64(m.sessionTimeout)) }

func (d *deadlines) arm(t *timer, at int64) {
	t.at = at
	if t.index != unqueued && at >= t.queued {
		return
	}
	d.seq++
	t.queued, t.seq = at, d.seq
	if t.index == unqueued {
		heap.Push(&d.heap, t)
		return
	}
	heap.Fix(&d.heap, int(t.index))
}

// disarm takes a timer out, armed or not.
func (d *deadlines) disarm(t *timer) {
	if t.index != unqueued {
		heap.Remove(&d.heap, int(t.index))
	}
}

// due removes and returns the next timer that is due at now, or nil. Those that were prolonged meanwhile are put back.
func (d *deadlines) due(now int64) *timer {
	for len(d.heap) > 0 && d.heap[0].queued <= now {
		t := d.heap[0]
		if t.at == t.queued {
			heap.Pop(&d.heap)
			return t
		}
		d.seq++
		t.queued, t.seq = t.at, d.seq
		heap.Fix(&d.heap, 0)
	}
	return nil
}

// fire does what a due timer stands for.
func (c *Core) fire(t *timer) {
	if c.config.Check && t.group != nil {
		c.touched = append(c.touched, t.group)
	}
	switch t.kind {
	case sessionTimer:
		c.sessionExpired(t.group, t.member)
	case pendingTimer:
		c.pendingExpired(t.group, t.pending)
	case joinTimer:
		c.completeJoin(t.group)
	case initialJoinTimer:
		c.initialDelayPassed(t.group)
	case syncTimer:
		c.syncExpired(t.group)
	case expiryTimer:
		c.expire()
	}
}

// timerHeap orders timers by time, then by sequence. It implements heap.Interface.
type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }

func (h timerHeap) Less(i, j int) bool {
	if h[i].queued != h[j].queued {
		return h[i].queued < h[j].queued
	}
	return h[i].seq < h[j].seq
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = int32(i), int32(j)
}

func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = int32(len(*h))
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.index = unqueued
	return t
}
