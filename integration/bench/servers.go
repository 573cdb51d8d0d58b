package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// bench holds the programs, a directory for their data, and a running Kafka where one is asked for.
type bench struct {
	dir   string
	kafka *server
}

// newBench builds every program from its source, and starts Kafka, which serves all rounds.
func newBench(ctx context.Context) (*bench, error) {
	dir, err := os.MkdirTemp("", "kohort-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir}
	fmt.Fprintln(os.Stderr, "building kohort, loadgen, firstrecord, floor and kfake")
	for name, source := range map[string][2]string{
		"kohort": {"../..", "./cmd/kohort"}, "loadgen": {".", "./loadgen"}, "firstrecord": {".", "./firstrecord"},
		"floor": {".", "./floor"}, "kfake": {".", "./kfake"},
	} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.program(name), source[1])
		cmd.Dir = source[0]
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("building %s (run this in integration/bench): %w\n%s", name, err, text), b.close())
		}
	}
	if os.Getenv("KAFKA") == "1" {
		if b.kafka, err = b.startKafka(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("Apache Kafka: %w", err), b.close())
		}
	}
	return b, nil
}

func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) close() error {
	var err error
	if b.kafka != nil {
		err = b.kafka.stop()
	}
	return joinErrors(err, os.RemoveAll(b.dir))
}

// joinErrors is nil if both are.
func joinErrors(a, b error) error {
	if a == nil {
		return b
	}
	return errors.Join(a, b)
}

// server is a running program.
type server struct {
	cmd    *exec.Cmd
	addr   string
	floor  bool
	settle time.Duration
	// commandOn is the command line that starts the same on another address and directory, for loadgen to run.
	commandOn func(ctx context.Context, addr, data string) (string, error)
}

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // the loopback interface has no port left
	}
	defer l.Close()
	return l.Addr().String()
}

// startAll starts the servers that are needed, and kfake where a floor is: it stands before one. Kafka runs already.
func (b *bench) startAll(ctx context.Context, data string, needed func(name string) bool) (map[string]*server, error) {
	running := map[string]*server{}
	for _, name := range serverNames {
		switch {
		case name == kafka && b.kafka != nil:
			running[name] = b.kafka
		case name != kafka && (needed(name) || name == kfakeMem && (needed(floorMem) || needed(floorDisk))):
			s, err := b.start(ctx, name, data, running)
			if err != nil {
				return running, fmt.Errorf("%s: %w", name, err)
			}
			running[name] = s
		}
	}
	return running, nil
}

// stopAll stops all but Kafka.
func stopAll(running map[string]*server) (err error) {
	for name, s := range running {
		if name != kafka {
			err = joinErrors(err, s.stop())
		}
	}
	return err
}

// start starts one of the servers.
func (b *bench) start(ctx context.Context, name, data string, running map[string]*server) (*server, error) {
	s := &server{addr: freeAddr()}
	line := func(addr, dir string) []string { return b.commandLine(name, addr, dir, running) }
	s.commandOn = func(_ context.Context, addr, data string) (string, error) {
		return strings.Join(line(addr, data), " "), nil
	}
	s.floor = name == floorDisk || name == floorMem
	args := line(s.addr, filepath.Join(data, fmt.Sprintf("server%d", len(running))))
	s.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	s.cmd.Stderr = os.Stderr
	return s, s.launch(10 * time.Second)
}

// commandLine starts a server on an address and a data directory.
func (b *bench) commandLine(name, addr, dir string, running map[string]*server) []string {
	kohort := func(args ...string) []string {
		return append(append([]string{b.program("kohort")}, args...), "--addr", addr, "--log-level", "error",
			"--set", "group.initial.rebalance.delay.ms=0")
	}
	switch name {
	case serve:
		return kohort("serve", "--data", dir)
	case serveOne:
		return kohort("serve", "--data", dir, "--set", "offsets.topic.num.partitions=1")
	case dev:
		return kohort("dev")
	case kfakeMem:
		return []string{b.program("kfake"), "-addr", addr}
	case kfakeDir:
		return []string{b.program("kfake"), "-addr", addr, "-data-dir", dir}
	case kfakeSync:
		return []string{b.program("kfake"), "-addr", addr, "-data-dir", dir, "-sync"}
	case floorDisk:
		return []string{
			b.program("floor"), "-listen", addr, "-behind", running[kfakeMem].addr, "-file", dir, "-zeroed", "67108864", "-segments", "50",
		}
	case floorMem:
		return []string{b.program("floor"), "-listen", addr, "-behind", running[kfakeMem].addr}
	}
	panic("no server " + name)
}

// launch starts the program and waits for its port.
func (s *server) launch(atMost time.Duration) error {
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
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait() // how it ended does not matter: its results were checked
	return nil
}
