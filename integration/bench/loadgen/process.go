package main

import (
	"errors"
	"fmt"
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

// replay: commit many times over the keys (groups x partitions); then kill the broker, start it again and wait until it
// answers with what was committed; then end it in good order, and start and wait once more. Both times every key is read.
func replayScenario(r *result) (err error) {
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
	if err := r.settleCoordinators(n); err != nil {
		return err
	}
	empty := rssKiB(b.cmd.Process.Pid, "VmRSS")
	t0 := time.Now()
	if err := r.commitEach(n, each, parts, last, sent); err != nil {
		return err
	}
	r.Seconds = time.Since(t0).Seconds()
	keys := float64(n * *partitions)
	r.Extra["keys"] = keys
	r.Extra["partition_offsets"] = float64(r.Ops) * float64(*partitions)
	r.Extra["rss_empty_kib"] = float64(empty)
	r.Extra["rss_before_kib"] = float64(rssKiB(b.cmd.Process.Pid, "VmRSS"))
	for _, end := range []struct {
		name   string
		signal syscall.Signal
	}{{"kill", syscall.SIGKILL}, {"stop", syscall.SIGTERM}} {
		r.Extra[end.name+"_ms"] = b.stop(end.signal).Seconds() * 1000
		b = nil
		if *dataDir != "" {
			r.Extra["data_dir_bytes_after_"+end.name] = float64(dirSize(*dataDir))
		}
		if b, err = startBroker(); err != nil {
			return err
		}
		r.Extra["apiversions_after_"+end.name+"_ms"] = b.up.Seconds() * 1000
		if err := r.awaitOffsets(b, end.name, parts, last, sent); err != nil {
			return err
		}
		rss := float64(rssKiB(b.cmd.Process.Pid, "VmRSS"))
		r.Extra["rss_after_"+end.name+"_kib"] = rss
		r.Extra["bytes_per_key_after_"+end.name] = (rss - float64(empty)) * 1024 / keys
	}
	return nil
}

// settleCoordinators lets a broker with -settle load its coordinators before the first commit.
func (r *result) settleCoordinators(n int) error {
	if *settle == 0 {
		return nil
	}
	err := forAll(n, *conns, func(i int) error {
		c, err := coordinator(groupName(i))
		if err == nil {
			c.close()
		}
		return err
	})
	time.Sleep(*settle)
	return err
}

// sampled is the number of groups, spread over all, whose right answers make a broker ready. With 50 offsets partitions
// one of them is without a sampled group in one run of 500.
const sampled = 500

// awaitOffsets asks until the sampled groups have their last offsets back, which is the time that counts; then it reads every key.
func (r *result) awaitOffsets(b *broker, name string, parts []int32, last, sent []int64) error {
	var sample, all []int
	for i := range last {
		all = append(all, i)
	}
	for i := 0; i < len(last); i += max(1, len(last)/sampled) {
		sample = append(sample, i)
	}
	deadline := time.Now().Add(60 * time.Second)
	for {
		_, wrong, err := readOffsets(sample, parts, last, sent)
		if err == nil && wrong == 0 {
			break
		}
		if err != nil || time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("after %s: %d of %d sampled offsets are not back", name, wrong, len(sample)*len(parts)), err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	r.Extra["ready_after_"+name+"_ms"] = time.Since(b.since).Seconds() * 1000
	checked, wrong, err := readOffsets(all, parts, last, sent)
	r.checked(checked, wrong)
	return err
}

// readOffsets reads the offsets of groups. One that is not loaded yet counts as wrong.
func readOffsets(which []int, parts []int32, last, sent []int64) (checked, wrong int, err error) {
	var mu sync.Mutex
	err = forAll(len(which), 16, func(k int) error {
		i := which[k]
		bad, err := readGroup(groupName(i), parts, func(_ int32, off int64) bool { return off >= last[i] && off <= sent[i] })
		mu.Lock()
		wrong += bad
		checked += len(parts)
		mu.Unlock()
		if isCode(err, errCoordLoading, errCoordNotAvailable, errNotCoordinator, errGroupIDNotFound) {
			err = nil
		}
		return err
	})
	return checked, wrong, err
}

// readGroup reads a group's offsets; bad are those that ok refuses, or that there was no answer for.
func readGroup(group string, parts []int32, ok func(int32, int64) bool) (bad int, err error) {
	c, err := coordinator(group)
	if err != nil {
		return len(parts), err
	}
	defer c.close()
	resp, err := c.call(c.fetchRequest(group, *topic, parts))
	if err != nil {
		return len(parts), err
	}
	return checkOffsets(resp, len(parts), ok)
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
