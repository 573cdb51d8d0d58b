package main

import (
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// startup: start the broker's command line and wait for an ApiVersions answer.
func startupScenario(r *result) error {
	var rss, hwm int64
	for range *rounds {
		b, err := startBroker()
		if err != nil {
			return err
		}
		r.h.add(b.up)
		time.Sleep(time.Second)
		rss = max(rss, rssKiB(b.cmd.Process.Pid, "VmRSS"))
		hwm = max(hwm, rssKiB(b.cmd.Process.Pid, "VmHWM"))
		r.Extra["stop_ms"] = max(r.Extra["stop_ms"], b.stop(syscall.SIGTERM).Seconds()*1000)
		r.checked(1, 0)
	}
	r.Ops = int64(*rounds)
	r.BrokerRSS = rss
	r.Extra["idle_rss_kib"], r.Extra["peak_rss_kib"] = float64(rss), float64(hwm)
	return nil
}

// replay: commit many times over the keys (groups x partitions), end the
// broker, start it again and wait until every key has its offset back.
func replayScenario(r *result) error {
	b, err := startBroker()
	if err != nil {
		return err
	}
	defer func() {
		if b != nil {
			b.stop(syscall.SIGTERM)
		}
	}()
	if err := createTopic(*topic, *partitions); err != nil {
		return err
	}
	n := *groups
	parts := span(0, *partitions)
	each := int64(max(1, *commits / *partitions / n))
	last, sent := make([]int64, n), make([]int64, n)
	if *settle > 0 { // let the broker load its coordinators before the first commit
		if err := forAll(n, *conns, func(i int) error {
			c, err := coordinator(groupName(i))
			if err == nil {
				c.close()
			}
			return err
		}); err != nil {
			return err
		}
		time.Sleep(*settle)
	}
	t0 := time.Now()
	if err := r.commitEach(n, each, parts, last, sent); err != nil {
		return err
	}
	r.Seconds = time.Since(t0).Seconds()
	r.Extra["keys"] = float64(n * *partitions)
	r.Extra["partition_offsets"] = float64(r.Ops) * float64(*partitions)
	r.Extra["rss_before_kib"] = float64(rssKiB(b.cmd.Process.Pid, "VmRSS"))
	sig := syscall.SIGTERM
	if *killBroker {
		sig = syscall.SIGKILL
	}
	if *dataDir != "" {
		r.Extra["data_dir_bytes_running"] = float64(dirSize(*dataDir))
	}
	r.Extra["stop_ms"] = b.stop(sig).Seconds() * 1000
	b = nil
	if *dataDir != "" {
		r.Extra["data_dir_bytes"] = float64(dirSize(*dataDir))
	}
	if b, err = startBroker(); err != nil {
		return err
	}
	r.Extra["restart_to_apiversions_ms"] = b.up.Seconds() * 1000
	err = r.awaitOffsets(b, parts, last, sent)
	r.Extra["rss_after_kib"] = float64(rssKiB(b.cmd.Process.Pid, "VmRSS"))
	return err
}

// awaitOffsets asks until every group has its last offset back.
func (r *result) awaitOffsets(b *broker, parts []int32, last, sent []int64) (err error) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		var mu sync.Mutex
		wrong, checked := 0, 0
		err = forAll(len(last), 16, func(i int) error {
			c, err := coordinator(groupName(i))
			if err != nil {
				return err
			}
			defer c.close()
			resp, err := c.call(c.fetchRequest(groupName(i), *topic, parts))
			if err != nil {
				return err
			}
			bad, err := checkOffsets(resp, len(parts), func(_ int32, off int64) bool { return off >= last[i] && off <= sent[i] })
			mu.Lock()
			wrong += bad
			checked += len(parts)
			mu.Unlock()
			if isCode(err, errCoordLoading, errCoordNotAvailable, errNotCoordinator, errGroupIDNotFound) {
				err = nil
			}
			return err
		})
		if err == nil && wrong == 0 || time.Now().After(deadline) {
			r.Extra["restart_to_all_right_ms"] = time.Since(b.since).Seconds() * 1000
			r.checked(checked, wrong)
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// commitEach commits each offsets in a row for every group.
func (r *result) commitEach(n int, each int64, parts []int32, last, sent []int64) error {
	return forAll(n, *conns, func(i int) error {
		c, err := coordinator(groupName(i))
		if err != nil {
			return err
		}
		defer c.close()
		var h hist
		req := commitRequest(groupName(i), "", -1, *topic, parts)
		ops, err := c.drive(make(chan struct{}), max(1, *depth), 0, each, &h, func(k int64) kmsg.Request {
			sent[i] = k + 1
			setOffset(req, k+1)
			return req
		}, func(k int64, resp kmsg.Response) error {
			if err := checkCommit(resp, len(parts)); err != nil {
				return err
			}
			last[i] = k + 1
			return nil
		})
		r.add(&h, ops)
		return err
	})
}
