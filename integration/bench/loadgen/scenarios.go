package main

import (
	"fmt"
	"hash/crc32"
	"math/rand"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func groupName(i int) string { return fmt.Sprintf("lg-%s-%d", runID, i) }

// readBack fetches a group's offsets once and counts those that ok refuses.
func (r *result) readBack(group string, parts []int32, ok func(p int32, off int64) bool) error {
	c, err := coordinator(group)
	if err != nil {
		return err
	}
	defer c.close()
	resp, err := c.call(c.fetchRequest(group, *topic, parts))
	if err != nil {
		return err
	}
	bad, err := checkOffsets(resp, len(parts), ok)
	if err == nil {
		r.checked(len(parts), bad)
	}
	return err
}

// commit: every connection commits P partitions for a group of its own, as a
// consumer that assigns itself partitions does (generation -1, no member).
func commitScenario(r *result) error {
	if err := createTopic(*topic, *partitions); err != nil {
		return err
	}
	n := *conns
	cs := make([]*conn, n)
	last := make([]int64, n) // highest offset acknowledged
	sent := make([]int64, n)
	if err := forAll(n, 64, func(i int) (err error) {
		cs[i], err = coordinator(groupName(i))
		return err
	}); err != nil {
		return err
	}
	time.Sleep(*settle)
	parts := span(0, *partitions)
	r.measure(n, func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		req := commitRequest(groupName(i), "", -1, *topic, parts)
		base := sent[i]
		return cs[i].drive(stop, *depth, gap(n), 0, h, func(k int64) kmsg.Request {
			sent[i] = base + k + 1
			setOffset(req, sent[i])
			return req
		}, func(k int64, resp kmsg.Response) error {
			if err := checkCommit(resp, len(parts)); err != nil {
				return err
			}
			last[i] = base + k + 1
			return nil
		})
	})
	r.Extra["partition_offsets_per_s"] = float64(r.Ops) / r.Seconds * float64(*partitions)
	return forAll(n, 64, func(i int) error {
		cs[i].close()
		if sent[i] == 0 { // its turn never came
			return nil
		}
		return r.readBack(groupName(i), parts, func(_ int32, off int64) bool { return off >= last[i] && off <= sent[i] && off > 0 })
	})
}

// joinAll makes groups x members members and waits until each group is stable.
func joinAll(r *result, groups, members int) ([]*member, error) {
	ms := make([]*member, groups*members)
	if err := forAll(len(ms), 64, func(i int) (err error) {
		ms[i], err = newMember(groupName(i/members), *topic, members**partitions)
		return err
	}); err != nil {
		return ms, err
	}
	ts := make([]*tracker, groups)
	for g := range ts {
		ts[g] = newTracker(members, members**partitions)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i, m := range ms {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m.stay(ts[i/members], i, stop, 200*time.Millisecond)
		}()
	}
	err := forAll(groups, groups, func(g int) error {
		_, _, err := ts[g].stable(members, -1, *rebalanceTimeout+30*time.Second)
		return err
	})
	close(stop)
	wg.Wait()
	return ms, err
}

// stay joins and then heartbeats, joining again whenever the group rebalances.
func (m *member) stay(t *tracker, i int, stop <-chan struct{}, every time.Duration) {
	joined := false
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if !joined {
			if err := m.join(*rebalanceTimeout + 30*time.Second); err != nil {
				t.fail(err)
				return
			}
			joined = true
			t.reached(i, m)
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		err := m.heartbeat()
		switch {
		case err == nil:
		case isCode(err, errRebalance, errIllegalGeneration, errUnknownMember):
			if isCode(err, errUnknownMember) {
				m.id = ""
			}
			joined = false
		default:
			t.fail(err)
			return
		}
	}
}

func leaveAll(ms []*member) {
	for _, m := range ms {
		if m != nil && m.c != nil {
			m.leave()
			m.c.close()
		}
	}
}

// commit-members: members of classic groups commit under their generation as
// fast as they can, with heartbeats on the same connection.
func commitMembers(r *result) error {
	total := *members * *partitions
	if err := createTopic(*topic, total); err != nil {
		return err
	}
	ms, err := joinAll(r, *groups, *members)
	if err != nil {
		return err
	}
	last, sent := make([]int64, len(ms)), make([]int64, len(ms))
	hb := make([]time.Time, len(ms))
	r.measure(len(ms), func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		m := ms[i]
		req := commitRequest(m.group, m.id, m.gen, *topic, m.assigned)
		hreq := m.heartbeatRequest()
		base := sent[i]
		isHB := map[int64]bool{}
		var mu sync.Mutex
		var beats int64
		n, err := m.c.drive(stop, *depth, gap(len(ms)), 0, h, func(k int64) kmsg.Request {
			if time.Since(hb[i]) >= *heartbeatEvery {
				hb[i] = time.Now()
				mu.Lock()
				isHB[k] = true
				beats++
				mu.Unlock()
				return hreq
			}
			sent[i] = base + k + 1
			setOffset(req, sent[i])
			return req
		}, func(k int64, resp kmsg.Response) error {
			mu.Lock()
			beat := isHB[k]
			delete(isHB, k)
			mu.Unlock()
			if beat {
				return checkCode("Heartbeat", resp.(*kmsg.HeartbeatResponse).ErrorCode)
			}
			if err := checkCommit(resp, len(m.assigned)); err != nil {
				return err
			}
			last[i] = base + k + 1
			return nil
		})
		return n - beats, err
	})
	r.Extra["members"] = float64(len(ms))
	r.Extra["partition_offsets_per_s"] = float64(r.Ops) / r.Seconds * float64(*partitions)
	err = forAll(len(ms), 64, func(i int) error {
		if sent[i] == 0 { // its turn never came
			return nil
		}
		return r.readBack(ms[i].group, ms[i].assigned, func(_ int32, off int64) bool { return off >= last[i] && off <= sent[i] && off > 0 })
	})
	leaveAll(ms)
	return err
}

// fetch-offsets: OffsetFetch of P partitions, each answer checked.
func fetchOffsets(r *result) error {
	if err := createTopic(*topic, *partitions); err != nil {
		return err
	}
	n := *conns
	cs := make([]*conn, n)
	parts := span(0, *partitions)
	want := func(i int, p int32) int64 { return int64(i)*1000003 + int64(p) + 1 }
	if err := forAll(n, 64, func(i int) (err error) {
		if cs[i], err = coordinator(groupName(i)); err != nil {
			return err
		}
		req := commitRequest(groupName(i), "", -1, *topic, parts)
		for k := range req.Topics[0].Partitions {
			req.Topics[0].Partitions[k].Offset = want(i, int32(k))
		}
		resp, err := cs[i].call(req)
		if err != nil {
			return err
		}
		return checkCommit(resp, len(parts))
	}); err != nil {
		return err
	}
	r.measure(n, func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		req := cs[i].fetchRequest(groupName(i), *topic, parts)
		checked, wrong := 0, 0
		ops, err := cs[i].drive(stop, *depth, gap(n), 0, h, func(int64) kmsg.Request { return req }, func(_ int64, resp kmsg.Response) error {
			bad, err := checkOffsets(resp, len(parts), func(p int32, off int64) bool { return off == want(i, p) })
			checked += len(parts)
			wrong += bad
			return err
		})
		r.checked(checked, wrong)
		return ops, err
	})
	for _, c := range cs {
		c.close()
	}
	return nil
}

// heartbeat: members of stable groups send heartbeats as fast as they can.
func heartbeatScenario(r *result) error {
	if err := createTopic(*topic, *members**partitions); err != nil {
		return err
	}
	ms, err := joinAll(r, *groups, *members)
	if err != nil {
		return err
	}
	r.measure(len(ms), func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		req := ms[i].heartbeatRequest()
		n := 0
		ops, err := ms[i].c.drive(stop, *depth, gap(len(ms)), 0, h, func(int64) kmsg.Request { return req }, func(_ int64, resp kmsg.Response) error {
			n++
			return checkCode("Heartbeat", resp.(*kmsg.HeartbeatResponse).ErrorCode)
		})
		r.checked(n, 0)
		return ops, err
	})
	r.Extra["members"] = float64(len(ms))
	leaveAll(ms)
	return nil
}

// rebalance: N members join one group at once; then, in each round, one more
// joins and leaves again. Times run from the first JoinGroup (or LeaveGroup)
// sent until the last member's SyncGroup answer of the new generation.
func rebalanceScenario(r *result) error {
	n := *members
	total := (n + 1) * *partitions
	if err := createTopic(*topic, total); err != nil {
		return err
	}
	g := groupName(0)
	ms := make([]*member, n)
	if err := forAll(n, 64, func(i int) (err error) {
		ms[i], err = newMember(g, *topic, total)
		return err
	}); err != nil {
		return err
	}
	t := newTracker(n, total)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	limit := *rebalanceTimeout + 30*time.Second
	r.begin()
	t0 := time.Now()
	for i, m := range ms {
		wg.Add(1)
		go func() { defer wg.Done(); m.stay(t, i, stop, *heartbeatEvery) }()
	}
	at, gen, err := t.stable(n, -1, limit)
	if err != nil {
		return err
	}
	r.Extra["first_stable_ms"] = at.Sub(t0).Seconds() * 1000
	r.checked(total, 0)
	var up, down hist
	for range *rounds {
		m, err := newMember(g, *topic, total)
		if err != nil {
			return err
		}
		one := make(chan struct{})
		wg.Add(1)
		from := time.Now()
		go func() { defer wg.Done(); m.stay(t, n, one, *heartbeatEvery) }()
		if at, gen, err = t.stable(n+1, gen, limit); err != nil {
			return err
		}
		up.add(at.Sub(from))
		r.checked(total, 0)
		time.Sleep(200 * time.Millisecond)
		close(one)
		// the extra member's loop may be inside a heartbeat; leaving needs its connection
		time.Sleep(20 * time.Millisecond)
		lv, err := coordinator(g)
		if err != nil {
			return err
		}
		t.remove(n)
		from = time.Now()
		err = (&member{group: g, id: m.id, c: lv}).leave()
		lv.close()
		if err != nil {
			return err
		}
		if at, gen, err = t.stable(n, gen, limit); err != nil {
			return err
		}
		down.add(at.Sub(from))
		m.c.close()
		r.checked(total, 0)
		time.Sleep(200 * time.Millisecond)
	}
	r.end(time.Since(t0))
	close(stop)
	wg.Wait()
	leaveAll(ms)
	u, d := up.summary(), down.summary()
	r.Extra["join_one_p50_ms"], r.Extra["join_one_max_ms"] = u.P50, u.Max
	r.Extra["leave_one_p50_ms"], r.Extra["leave_one_max_ms"] = d.P50, d.Max
	return nil
}

// many-groups: G groups of M members start at once.
func manyGroups(r *result) error {
	total := *members * *partitions
	if err := createTopic(*topic, total); err != nil {
		return err
	}
	ms := make([]*member, *groups**members)
	t0 := time.Now()
	if err := forAll(len(ms), 256, func(i int) (err error) {
		ms[i], err = newMember(groupName(i / *members), *topic, total)
		return err
	}); err != nil {
		return err
	}
	r.Extra["connect_ms"] = time.Since(t0).Seconds() * 1000
	ts := make([]*tracker, *groups)
	for g := range ts {
		ts[g] = newTracker(*members, total)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	r.begin()
	start := time.Now()
	for i, m := range ms {
		wg.Add(1)
		go func() { defer wg.Done(); m.stay(ts[i / *members], i, stop, *heartbeatEvery) }()
	}
	var mu sync.Mutex
	var last time.Time
	err := forAll(*groups, *groups, func(g int) error {
		at, gen, err := ts[g].stable(*members, -1, *rebalanceTimeout+30*time.Second)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		r.h.add(at.Sub(start))
		r.Extra["max_generation"] = max(r.Extra["max_generation"], float64(gen))
		if at.After(last) {
			last = at
		}
		return nil
	})
	r.end(time.Since(start))
	r.Seconds = last.Sub(start).Seconds()
	r.Ops = int64(*groups)
	r.Extra["all_stable_ms"] = r.Seconds * 1000
	r.checked(*groups*total, 0)
	close(stop)
	wg.Wait()
	return err
}

// idle heartbeats and commits at intervals until stop closes.
func (m *member) idle(r *result, seed int64, last *int64, stop <-chan struct{}, count func(took time.Duration)) {
	rnd := rand.New(rand.NewSource(seed))
	nextHB := time.Now().Add(time.Duration(rnd.Int63n(int64(*heartbeatEvery))))
	nextCommit := time.Now().Add(time.Duration(rnd.Int63n(int64(*commitEvery))))
	req := commitRequest(m.group, m.id, m.gen, *topic, m.assigned)
	for {
		at := nextHB
		if nextCommit.Before(at) {
			at = nextCommit
		}
		select {
		case <-stop:
			return
		case <-time.After(time.Until(at)):
		}
		from := time.Now()
		var err error
		if at == nextHB {
			nextHB = nextHB.Add(*heartbeatEvery)
			err = m.heartbeat()
		} else {
			nextCommit = nextCommit.Add(*commitEvery)
			setOffset(req, *last+1)
			var resp kmsg.Response
			if resp, err = m.c.call(req); err == nil {
				err = checkCommit(resp, len(m.assigned))
			}
			if err == nil {
				*last++
			}
		}
		if err != nil {
			r.err(err)
			return
		}
		count(time.Since(from))
	}
}

// idle-members: what members that only heartbeat and commit cost the broker.
func idleMembers(r *result) error {
	total := *members * *partitions
	if err := createTopic(*topic, total); err != nil {
		return err
	}
	ms, err := joinAll(r, *groups, *members)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	last := make([]int64, len(ms))
	var mu sync.Mutex
	counting := false
	for i, m := range ms {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m.idle(r, int64(i), &last[i], stop, func(took time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				if counting {
					r.h.add(took)
					r.Ops++
				}
			})
		}()
	}
	time.Sleep(*warmup)
	mu.Lock()
	counting = true
	mu.Unlock()
	r.begin()
	t0 := time.Now()
	time.Sleep(*duration)
	mu.Lock()
	counting = false
	mu.Unlock()
	r.end(time.Since(t0))
	close(stop)
	wg.Wait()
	r.Extra["members"] = float64(len(ms))
	if *pid > 0 {
		r.Extra["broker_cpu_percent_of_one_core"] = r.BrokerCPU / r.Seconds * 100
	}
	err = forAll(len(ms), 64, func(i int) error {
		if last[i] == 0 {
			return nil
		}
		return r.readBack(ms[i].group, ms[i].assigned, func(_ int32, off int64) bool { return off == last[i] })
	})
	leaveAll(ms)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
