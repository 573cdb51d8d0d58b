package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// result is what of a load's answer is used.
type result struct {
	OpsPerSec float64            `json:"ops_per_s"`
	Extra     map[string]float64 `json:"extra"`
	Latency   struct {
		P50 float64 `json:"p50"`
	} `json:"latency_ms"`
	BrokerRSS float64          `json:"broker_rss_kib"`
	Wrong     int64            `json:"wrong"`
	Errors    map[string]int64 `json:"errors"`
	OK        bool             `json:"ok"`
}

// in lists the servers that a measure loads in a round. What takes peers long, starting and replaying, they do once.
func (m measure) in(round int, withKafka bool) []string {
	if m.times > 0 && round >= m.times {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.servers), func(name string) bool {
		once := m.process && (name == kafka || name == kfakeDir && m.times > 0)
		return name == kafka && !withKafka || once && round > 0
	})
}

// round starts the servers, puts each load once on each of them, and stops them.
func (b *bench) round(ctx context.Context, round int, list []measure, r *results, p *progress) (err error) {
	data, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	needed := map[string]bool{}
	for _, m := range list {
		for _, name := range m.in(round, b.kafka != nil) {
			needed[name] = true
		}
	}
	running, err := b.startAll(ctx, data, func(name string) bool { return needed[name] })
	defer func() { err = joinErrors(err, stopAll(running)) }()
	if err != nil {
		return err
	}
	for _, m := range list {
		names := m.in(round, b.kafka != nil)
		if len(names) == 0 {
			continue
		}
		p.say(round, m.rows[0].name, m.weight(names))
		for _, name := range names {
			got, err := b.load(ctx, m, running[name])
			if err != nil {
				return fmt.Errorf("%s on %s: %w", m.rows[0].name, name, err)
			}
			r.add(m, name, got)
		}
	}
	return nil
}

// idle starts every server afresh, but Kafka, and lets idle members sit on all of them at the same time.
func (b *bench) idle(ctx context.Context, m measure, r *results, p *progress) (err error) {
	data, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	names := m.in(0, b.kafka != nil)
	running, err := b.startAll(ctx, data, func(name string) bool { return slices.Contains(names, name) })
	defer func() { err = joinErrors(err, stopAll(running)) }()
	if err != nil {
		return err
	}
	p.sayIdle(m.rows[0].name)
	m.flags = append(slices.Clone(m.flags), "-duration", idleTime.String(), "-warmup", "3s")
	var wg sync.WaitGroup
	results, errs := make([]result, len(names)), make([]error, len(names))
	for i, name := range names {
		wg.Go(func() { results[i], errs[i] = b.load(ctx, m, running[name]) })
	}
	wg.Wait()
	for i, name := range names {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", name, errs[i])
		}
		r.add(m, name, results[i])
	}
	return nil
}

// warmKafka puts every load on Kafka once before anything counts: a JVM is slow at first.
func (b *bench) warmKafka(ctx context.Context, list []measure) error {
	for _, m := range list {
		if b.kafka == nil || m.process || !slices.Contains(m.servers, kafka) {
			continue
		}
		fmt.Fprintf(os.Stderr, "warming Kafka: %s\n", m.rows[0].name)
		if _, err := b.load(ctx, m, b.kafka); err != nil {
			return fmt.Errorf("%s: %w", m.rows[0].name, err)
		}
	}
	return nil
}

// load puts one load on one server.
func (b *bench) load(ctx context.Context, m measure, s *server) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	program, args := "loadgen", []string{"-duration", duration.String(), "-warmup", warmup.String()}
	args = append(args, m.flags...)
	switch {
	case m.program != "":
		program, args = m.program, []string{s.addr}
	case m.process:
		addr, data := freeAddr(), filepath.Join(b.dir, "own")
		defer os.RemoveAll(data)
		command, err := s.commandOn(ctx, addr, data)
		if err != nil {
			return result{}, err
		}
		args = append(args, "-addr", addr, "-cmd", command, "-broker-log", filepath.Join(b.dir, "own.log"))
	default:
		args = append(args, "-addr", s.addr, "-pid", fmt.Sprint(s.cmd.Process.Pid))
	}
	if program == "loadgen" && s.settle > 0 {
		args = append(args, "-settle", s.settle.String())
	}
	if s.floor {
		args = append(args, "-direct")
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, b.program(program), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	// In a group of its own, so that a broker that it started ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	var got result
	if jsonErr := json.Unmarshal(out.Bytes(), &got); jsonErr != nil {
		return got, fmt.Errorf("%s: %w: %s", program, errors.Join(err, jsonErr), errs.Bytes())
	}
	if !got.OK && !s.floor { // the floor's answers are learned by heart: only its rate counts
		return got, fmt.Errorf("results are wrong: %d of them, errors %v", got.Wrong, got.Errors)
	}
	return got, nil
}
