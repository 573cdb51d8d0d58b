package coordinator

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	simSeeds  = flag.Int("sim.seeds", 150, "how many seeds TestSim runs")
	simSeed   = flag.Uint64("sim.seed", 0, "run this seed only, and print its history")
	simBudget = flag.Duration("sim.budget", 0, "run seeds for this long instead of counting them")
)

// TestSim runs scripted clients against cores that crash, over a network that loses, delays, doubles and reorders, and
// checks after every step what must always hold: see simChecks. A failure is a seed that anyone can run again.
func TestSim(t *testing.T) {
	if *simSeed != 0 {
		w := newWorld(*simSeed, true)
		err := w.run()
		for _, line := range w.history {
			t.Log(line)
		}
		if err != "" {
			t.Fatalf("seed %d: %s", *simSeed, err)
		}
		return
	}
	first := rand.Uint64()>>1 | 1
	t.Logf("seeds from %d", first)
	start, events, seeds := time.Now(), 0, 0
	stats := simStats{}
	for ; seeds < *simSeeds || *simBudget > 0; seeds++ {
		if *simBudget > 0 && time.Since(start) > *simBudget {
			break
		}
		seed := first + uint64(seeds)
		w := newWorld(seed, false)
		if err := w.run(); err != "" {
			t.Fatalf("seed %d: %s\nrepeat with: go test ./coordinator -run 'TestSim$' -sim.seed=%d\n%s",
				seed, err, seed, lastLines(seed, 50))
		}
		events += w.events
		stats.add(w.stats)
	}
	took := time.Since(start)
	rate := float64(events) / took.Seconds()
	t.Logf("%d seeds, %d events in %v: %.0f events/s", seeds, events, took.Round(time.Millisecond), rate)
	t.Logf("%+v", stats)
	// The aim is 200,000 on an idle core. A tenth of it is asserted, for tests also run on busy machines and with -race.
	if rate < 20_000 {
		t.Errorf("%.0f events/s is too slow to find anything", rate)
	}
	if seeds >= 50 {
		stats.mustHaveTriedEverything(t)
	}
}

// TestSimIsDeterministic runs seeds twice: the same seed must have the same history, or no failure could be repeated.
func TestSimIsDeterministic(t *testing.T) {
	first := rand.Uint64()>>1 | 1
	t.Logf("seeds from %d", first)
	for seed := first; seed < first+10; seed++ {
		a, b := newWorld(seed, true), newWorld(seed, true)
		if err := a.run(); err != "" {
			t.Fatalf("seed %d: %s", seed, err)
		}
		b.run()
		if a.core.Digest() != b.core.Digest() || len(a.history) != len(b.history) {
			t.Fatalf("seed %d ends in %x after %d lines, then in %x after %d", seed, a.core.Digest(), len(a.history), b.core.Digest(), len(b.history))
		}
		for i := range a.history {
			if a.history[i] != b.history[i] {
				t.Fatalf("seed %d: line %d is\n%s\nthen\n%s", seed, i, a.history[i], b.history[i])
			}
		}
	}
}

// lastLines runs a failing seed again, with its history.
func lastLines(seed uint64, n int) string {
	w := newWorld(seed, true)
	w.run()
	return strings.Join(w.history[max(0, len(w.history)-n):], "\n")
}

// simStats counts what a run has tried.
type simStats struct {
	Crashes, LostTurns, Jumps, Generations, Commits, Fenced, Fetches, Replaced, Expired, Deleted, Twins int
}

func (s *simStats) add(o simStats) {
	s.Crashes += o.Crashes
	s.LostTurns += o.LostTurns
	s.Jumps += o.Jumps
	s.Generations += o.Generations
	s.Commits += o.Commits
	s.Fenced += o.Fenced
	s.Fetches += o.Fetches
	s.Replaced += o.Replaced
	s.Expired += o.Expired
	s.Deleted += o.Deleted
	s.Twins += o.Twins
}

// mustHaveTriedEverything fails if a kind of trouble never came up: a simulation that tests nothing finds nothing.
func (s *simStats) mustHaveTriedEverything(t *testing.T) {
	for _, n := range []int{s.Crashes, s.LostTurns, s.Jumps, s.Generations, s.Commits, s.Fenced, s.Fetches, s.Replaced, s.Expired, s.Deleted, s.Twins} {
		if n == 0 {
			t.Errorf("something was never tried: %+v", *s)
			return
		}
	}
}

// world is one simulated shard with its clients. Owner: one goroutine; all chance comes from random.
type world struct {
	seed    uint64
	random  *rand.Rand
	config  Config
	core    *Core
	queue   simQueue
	now     int64 // nanoseconds since the epoch
	events  int
	stats   simStats
	tracing bool
	history []string

	chaos   bool  // faults may happen
	endsAt  int64 // of the phase with faults
	tickAt  int64 // of the Tick that is on its way, 0 for none
	clients []*simClient
	groups  []string
	token   Token
	pending map[Token]*simRequest // given to the core or on the way to it

	log    []Record    // survived
	turn   simTurn     // not yet released
	step   *simRequest // that the core is given right now
	checks simChecks
	fail   string
}

// simTurn is what the shell collects before it writes: all of it becomes true at once, or none of it does.
type simTurn struct {
	records []Record
	replies []simReply
	flushAt int64
}

const simStart = int64(1_700_000_000) * int64(time.Second)

func newWorld(seed uint64, tracing bool) *world {
	w := &world{
		seed: seed, random: rand.New(rand.NewPCG(seed, 1)), now: simStart, tracing: tracing, chaos: true,
		pending: map[Token]*simRequest{},
	}
	c := DefaultConfig()
	c.MinSessionTimeout = 100 * time.Millisecond
	c.NewMemberJoinTimeout = 20 * time.Second
	c.RetentionCheckInterval = 7 * time.Second
	c.OffsetsRetention = time.Duration(w.between(2, 30)) * time.Second
	c.InitialRebalanceDelay = []time.Duration{0, 0, time.Second, 3 * time.Second}[w.random.IntN(4)]
	c.FirstBarrier = []time.Duration{0, 3 * time.Millisecond}[w.random.IntN(2)]
	if w.chance(0.2) {
		c.MaxGroupSize = w.between(2, 5)
	}
	c.Check = w.chance(0.25)
	w.config = c
	w.endsAt = w.now + int64(w.between(30, 90))*int64(time.Second)
	for i := range w.between(1, 3) {
		w.groups = append(w.groups, fmt.Sprintf("group-%d", i))
	}
	w.checks.init()
	w.core = New(w.config, w.random.Uint64())
	w.take(w.core.Loaded(time.Unix(0, w.now)))
	for range w.between(4, 20) {
		w.addClient()
	}
	w.scheduleTick()
	w.at(w.soon(time.Second), simEvent{kind: simAdmin})
	w.at(w.soon(20*time.Second), simEvent{kind: simCrash})
	w.at(w.soon(60*time.Second), simEvent{kind: simJump})
	w.at(w.endsAt, simEvent{kind: simCalm})
	return w
}

// between is a number from low to high, both included.
func (w *world) between(low, high int) int { return low + w.random.IntN(high-low+1) }

func (w *world) chance(p float64) bool { return w.random.Float64() < p }

// soon is a moment within d from now.
func (w *world) soon(d time.Duration) int64 { return w.now + 1 + w.random.Int64N(int64(d)) }

func (w *world) trace(format string, args ...any) {
	if w.tracing {
		w.history = append(w.history, fmt.Sprintf("%12.6f ", float64(w.now-simStart)/1e9)+fmt.Sprintf(format, args...))
	}
}

// run lets the seed happen, and returns what went wrong, or "".
func (w *world) run() (result string) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(*Bug); !ours && !w.tracing {
				panic(r)
			}
			w.trace("panic: %v", r)
			result = fmt.Sprintf("panic: %v", r)
		}
	}()
	for w.fail == "" && len(w.queue) > 0 {
		e := w.queue.pop()
		w.now = e.at
		w.events++
		if done := w.happen(e); done {
			break
		}
	}
	if w.fail != "" {
		w.trace("FAILED: %s", w.fail)
	}
	return w.fail
}

// happen does one event, and says whether it was the last.
func (w *world) happen(e simEvent) bool {
	switch e.kind {
	case simWake:
		e.client.wake(e.epoch)
	case simArrive:
		w.arrive(e.request)
	case simAnswer:
		e.client.answered(e.epoch, e.reply.Response)
	case simFlush:
		if w.turn.flushAt == w.now {
			w.flush()
		}
	case simTick:
		w.tick()
	case simAdmin:
		w.admin()
	case simCrash:
		w.crash()
	case simJump:
		w.jump()
	case simCalm:
		w.calm()
	case simEnd:
		w.end()
		return true
	}
	return false
}

// tick calls the core when it wanted to be called, or later if something made us late.
func (w *world) tick() {
	if w.tickAt > w.now {
		return // it was moved
	}
	w.tickAt = 0
	if next, ok := w.core.NextDeadline(); ok && next.UnixNano() <= w.now {
		w.take(w.core.Tick(time.Unix(0, w.now)))
		if after, ok := w.core.NextDeadline(); ok && after.UnixNano() <= w.now {
			w.fail = fmt.Sprintf("timely: after Tick(%v) the next deadline is %v", w.now, after)
		}
	}
	w.scheduleTick()
}

func (w *world) scheduleTick() {
	next, ok := w.core.NextDeadline()
	if !ok {
		return
	}
	at := max(next.UnixNano(), w.now)
	if w.tickAt != 0 && w.tickAt <= at {
		return
	}
	w.tickAt = at
	w.at(at, simEvent{kind: simTick})
}

// arrive gives a request to the core.
func (w *world) arrive(r *simRequest) {
	w.checks.before(w, r)
	w.trace("token %d of %s arrives", r.token, r.sender())
	w.step = r
	w.take(w.core.Step(time.Unix(0, w.now), r.event()))
	w.step = nil
	w.scheduleTick()
}

// take checks effects and puts them into the turn.
func (w *world) take(e Effects) {
	for _, rec := range e.Records {
		w.checks.record(w, rec)
		if w.tracing {
			w.trace("record %s", simRecord(rec))
		}
	}
	w.turn.records = append(w.turn.records, e.Records...)
	for _, reply := range e.Replies {
		r := w.pending[reply.Token]
		if r == nil {
			w.fail = fmt.Sprintf("answered: token %d is answered twice, or was never asked", reply.Token)
			return
		}
		delete(w.pending, reply.Token)
		if w.tracing {
			w.trace("reply to %s: %s", r.sender(), simResponse(reply.Response))
		}
		w.checks.reply(w, r, reply)
		w.turn.replies = append(w.turn.replies, simReply{Reply: reply, request: r})
	}
	for _, n := range e.Notes {
		w.checks.note(w, n)
		if w.tracing {
			w.trace("note %s", n)
		}
	}
	if w.turn.flushAt == 0 && len(w.turn.records)+len(w.turn.replies) > 0 {
		w.turn.flushAt = w.soon(time.Millisecond)
		w.at(w.turn.flushAt, simEvent{kind: simFlush})
	}
}

// flush makes the turn durable and releases its replies.
func (w *world) flush() {
	w.log = append(w.log, w.turn.records...)
	for _, r := range w.turn.replies {
		w.checks.released(w, r)
		w.deliver(r)
	}
	clear(w.turn.replies)
	w.turn = simTurn{records: w.turn.records[:0], replies: w.turn.replies[:0]}
}

// crash drops the core and replays what had been written. The turn that was not released is lost, or it was written and
// only its replies are lost. Requests in the core vanish with it.
func (w *world) crash() {
	w.checks.replay(w)
	w.stats.Crashes++
	lost := w.chance(0.5)
	if lost {
		w.stats.LostTurns++
	} else {
		w.log = append(w.log, w.turn.records...)
	}
	w.trace("crash: %d records, turn of %d records lost: %t", len(w.log), len(w.turn.records), lost)
	w.turn = simTurn{}
	for _, token := range w.core.Parked() {
		delete(w.pending, token)
	}
	w.tickAt = 0
	w.core = New(w.config, w.random.Uint64())
	w.checks.rebuild(w)
	for _, rec := range w.log {
		w.core.Replay(rec)
	}
	w.take(w.core.Loaded(time.Unix(0, w.now)))
	w.scheduleTick()
	if w.chaos {
		w.at(w.soon(40*time.Second), simEvent{kind: simCrash})
	}
}

// jump moves the clock: everything that was to happen meanwhile happens late.
func (w *world) jump() {
	if !w.chaos {
		return
	}
	w.stats.Jumps++
	by := int64(w.between(1, 100)) * int64(time.Second)
	w.trace("the clock jumps by %v", time.Duration(by))
	w.now += by
	w.queue.delay(w.now)
	w.tickAt = 0
	w.scheduleTick()
	w.endsAt = max(w.endsAt, w.now)
}

// calm ends the faults. After the sum of all timeouts every group must be settled.
func (w *world) calm() {
	w.chaos = false
	w.trace("calm")
	limit := simMaxSession + 2*simMaxRebalance + w.config.NewMemberJoinTimeout + w.config.InitialRebalanceDelay + 10*time.Second
	w.at(w.now+int64(limit), simEvent{kind: simEnd})
}

// end checks that the faults have left nothing behind.
func (w *world) end() {
	w.flush()
	for _, g := range w.core.order {
		if g.state != Stable && g.state != Empty {
			w.fail = fmt.Sprintf("group %s is still %s with %d members, %d joined, %d pending", g.id, g.state, len(g.members), g.awaitingJoin, len(g.pending))
			return
		}
	}
	if parked := w.core.Parked(); len(parked) > 0 {
		w.fail = fmt.Sprintf("answered: tokens %v are still parked", parked)
		return
	}
	for token, r := range w.pending {
		if r.arrived {
			w.fail = fmt.Sprintf("answered: token %d (%T) was never answered", token, r.body)
			return
		}
	}
	w.checks.replay(w)
}
