package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// result is what of loadgen's answer is used.
type result struct {
	OpsPerSec float64            `json:"ops_per_s"`
	Extra     map[string]float64 `json:"extra"`
	Latency   struct {
		P50 float64 `json:"p50"`
	} `json:"latency_ms"`
	Wrong  int64            `json:"wrong"`
	Errors map[string]int64 `json:"errors"`
	OK     bool             `json:"ok"`
}

// build holds the programs, and a directory for their data.
type build struct {
	dir string
}

// newBuild builds every program from its source.
func newBuild(ctx context.Context) (*build, error) {
	dir, err := os.MkdirTemp("", "kohort-bench-")
	if err != nil {
		return nil, err
	}
	b := &build{dir: dir}
	fmt.Fprintln(os.Stderr, "building kohort, loadgen, floor and kfake")
	for name, source := range map[string][2]string{
		"kohort": {"../..", "./cmd/kohort"}, "loadgen": {".", "./loadgen"}, "floor": {".", "./floor"}, "kfake": {".", "./kfake"},
	} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.program(name), source[1])
		cmd.Dir = source[0]
		if text, err := cmd.CombinedOutput(); err != nil {
			b.close()
			return nil, fmt.Errorf("building %s (run this in integration/bench): %w\n%s", name, err, text)
		}
	}
	return b, nil
}

func (b *build) program(name string) string { return filepath.Join(b.dir, name) }

func (b *build) close() { _ = os.RemoveAll(b.dir) } // temporary

// round starts the servers, runs each scenario once on each of them, and stops them.
func (b *build) round(ctx context.Context, list []scenario, r *results) (err error) {
	data, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	running := map[string]*server{}
	defer func() {
		for _, s := range running {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range serverNames {
		s, startErr := b.start(ctx, name, data, running)
		if startErr != nil {
			return fmt.Errorf("%s: %w", name, startErr)
		}
		if s != nil {
			running[name] = s
		}
	}
	for _, sc := range list {
		for _, name := range sc.servers {
			s := running[name]
			if s == nil {
				continue
			}
			got, err := b.load(ctx, sc, s)
			if err != nil {
				return fmt.Errorf("%s on %s: %w", sc.name, name, err)
			}
			r.add(sc.name, name, sc.value(got))
		}
	}
	return nil
}

// load runs loadgen once.
func (b *build) load(ctx context.Context, sc scenario, s *server) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	args := append([]string{"-duration", duration.String(), "-warmup", "300ms"}, sc.flags...)
	if sc.process {
		addr, data := freeAddr(), filepath.Join(b.dir, "own")
		defer os.RemoveAll(data)
		args = append(args, "-addr", addr, "-cmd", s.commandOn(addr, data), "-broker-log", filepath.Join(b.dir, "own.log"))
	} else {
		args = append(args, "-addr", s.addr)
	}
	if s.floor {
		args = append(args, "-direct")
	}
	if s.settle > 0 {
		args = append(args, "-settle", s.settle.String())
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, b.program("loadgen"), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var got result
	if jsonErr := json.Unmarshal(out.Bytes(), &got); jsonErr != nil {
		return got, fmt.Errorf("loadgen: %w: %s", errors.Join(err, jsonErr), errs.Bytes())
	}
	if !got.OK && !s.floor { // the floor's answers are learned by heart: only its rate counts
		return got, fmt.Errorf("results are wrong: %d of them, errors %v", got.Wrong, got.Errors)
	}
	return got, nil
}

// server is a running program.
type server struct {
	cmd    *exec.Cmd
	addr   string
	floor  bool
	settle time.Duration
	// commandOn is the command line that starts the same on another address and directory, for loadgen to run.
	commandOn func(addr, data string) string
	cleanUp   func() error
}

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // the loopback interface has no port left
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts one of the servers; nil for one that is not asked for.
func (b *build) start(ctx context.Context, name, data string, running map[string]*server) (*server, error) {
	s := &server{addr: freeAddr()}
	kohort := func(addr string, args ...string) []string {
		return append(append([]string{b.program("kohort")}, args...), "--addr", addr, "--log-level", "error",
			"--set", "group.initial.rebalance.delay.ms=0")
	}
	var args []string
	switch name {
	case serve:
		args = kohort(s.addr, "serve", "--data", filepath.Join(data, "serve"))
		s.commandOn = func(addr, data string) string { return join(kohort(addr, "serve", "--data", data)) }
	case serveOne:
		args = append(kohort(s.addr, "serve", "--data", filepath.Join(data, "one")), "--set", "offsets.topic.num.partitions=1")
	case dev:
		args = kohort(s.addr, "dev")
		s.commandOn = func(addr, _ string) string { return join(kohort(addr, "dev")) }
	case kfakeMem:
		args = []string{b.program("kfake"), "-addr", s.addr}
	case kfakeDir:
		args = []string{b.program("kfake"), "-addr", s.addr, "-data-dir", filepath.Join(data, "kfake")}
	case kfakeSync:
		args = []string{b.program("kfake"), "-addr", s.addr, "-data-dir", filepath.Join(data, "kfake-sync"), "-sync"}
	case floorDisk:
		args = []string{
			b.program("floor"), "-listen", s.addr, "-behind", running[kfakeMem].addr, "-file", filepath.Join(data, "floor"),
			"-zeroed", "67108864", "-segments", "50",
		}
		s.floor = true
	case floorMem:
		args = []string{b.program("floor"), "-listen", s.addr, "-behind", running[kfakeMem].addr}
		s.floor = true
	case kafka:
		if os.Getenv("KAFKA") != "1" {
			return nil, nil
		}
		return b.startKafka(ctx, data)
	}
	s.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	return s, s.launch(10 * time.Second)
}

// launch starts the program and waits for its port.
func (s *server) launch(atMost time.Duration) error {
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for over := time.Now().Add(atMost); ; {
		c, err := net.DialTimeout("tcp", s.addr, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(over) {
			return errors.Join(fmt.Errorf("no port within %v: %w", atMost, err), s.stop())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait() // how it ended does not matter: its results were checked
	if s.cleanUp != nil {
		return s.cleanUp()
	}
	return nil
}

func join(args []string) string {
	out := args[0]
	for _, a := range args[1:] {
		out += " " + a
	}
	return out
}
