package partitionlog

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

var (
	crashSeed  = flag.Uint64("crash.seed", 0, "run this seed of the crash simulation only, and print its trace if it fails")
	crashSeeds = flag.Int("crash.seeds", 10000, "number of fresh seeds of the crash simulation")
)

// TestCrash runs random operations against a disk that loses power, dies with the process or refuses operations, and
// compares every store that is opened after it with the model. A failing seed is printed; -crash.seed repeats it.
func TestCrash(t *testing.T) {
	if *crashSeed != 0 {
		repeatSeed(t, *crashSeed)
		return
	}
	base := rand.Uint64() >> 1
	t.Logf("seeds %d to %d; repeat one with -crash.seed", base, base+uint64(*crashSeeds)-1)
	const shards = 4
	var failures, ran atomic.Int64
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for i := shard; i < *crashSeeds && failures.Load() < 3; i += shards {
				seed := base + uint64(i)
				ran.Add(1)
				if err := simulate(seed, nil); err != nil {
					failures.Add(1)
					t.Errorf("-crash.seed=%d (run %d): %v", seed, ran.Load(), err)
				}
			}
		})
	}
}

// repeatSeed runs a seed several times: the journal makes its spare files in the background, and every fourth seed its
// checkpoints too, so that a machine that stops between two of their operations stops elsewhere now and then.
func repeatSeed(t *testing.T, seed uint64) {
	for range 50 {
		var trace []string
		err := simulate(seed, func(format string, args ...any) {
			trace = append(trace, fmt.Sprintf(format, args...))
		})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, strings.Join(trace, "\n"))
		}
	}
}

// sim is one run: a disk, a store on it, and the model beside it.
type sim struct {
	rng    *rand.Rand
	disk   *vfs.CrashFS
	store  *Store
	model  *model
	config Config
	now    atomic.Int64
	faults bool
	logf   func(string, ...any)
	names  int
}

func simulate(seed uint64, logf func(string, ...any)) (err error) {
	m := &sim{rng: rand.New(rand.NewPCG(seed, 1)), model: newModel(), logf: logf}
	if logf == nil {
		m.logf = func(string, ...any) {}
	} else { // events come from several goroutines
		var mu sync.Mutex
		m.logf = func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			logf(format, args...)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	m.disk = vfs.NewCrash(seed)
	m.now.Store(1_700_000_000_000)
	m.faults = m.rng.IntN(4) == 0
	m.config = Config{
		Dir: "data", FS: m.disk, Rand: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}),
		Now:          func() time.Time { return time.UnixMilli(m.now.Load()) },
		JournalBytes: int64(8*8192) << m.rng.IntN(3), MinFreeBytes: 1, MaxOpenFiles: 2 + m.rng.IntN(20),
		firstJournalFile:    int64(8192 << m.rng.IntN(2)),
		MaintenanceInterval: -1, inline: m.rng.IntN(4) != 0,
		Observe: func(e Event) { m.logf("event: %v", e) },
	}
	for range 1 + m.rng.IntN(3) {
		if err := m.life(); err != nil {
			return err
		}
	}
	return m.reopenTwice()
}

// life is one process: open, work, die.
func (m *sim) life() error {
	if err := m.open(); err != nil || m.store == nil {
		return err
	}
	if err := m.compare(); err != nil {
		m.store.Close()
		return err
	}
	m.arm()
	for n := m.rng.IntN(40); n >= 0 && m.store.Err() == nil; n-- {
		if err := m.step(); err != nil {
			m.store.Close()
			return err
		}
	}
	return m.die()
}

// arm chooses what will go wrong in this life.
func (m *sim) arm() {
	if m.rng.IntN(3) > 0 {
		m.disk.HaltAt(m.disk.Ops() + 1 + m.rng.IntN(150))
	}
	if !m.faults {
		return
	}
	rng := rand.New(rand.NewPCG(m.rng.Uint64(), 2))
	budget := 1 + rng.IntN(3)
	errs := []error{errors.New("input/output error"), errors.New("no space left on device")}
	m.disk.Inject(func(op vfs.Op) vfs.Fault {
		if budget == 0 || rng.IntN(40) > 0 || op.Kind == "read" || op.Kind == "list" || op.Kind == "open" {
			return vfs.Fault{}
		}
		budget--
		f := vfs.Fault{Err: errs[rng.IntN(2)], Drop: true}
		if op.Len > 0 {
			f.Keep = rng.IntN(op.Len)
		}
		m.logf("fault: %s %s %d: %v", op.Kind, op.Path, op.Pos, f.Err)
		return f
	})
}

// die ends the process: power cut, kill, or a clean end.
func (m *sim) die() error {
	m.disk.Inject(nil)
	how := m.rng.IntN(4)
	if how == 3 {
		m.logf("close")
		err := m.store.Close()
		m.disk.HaltAt(0)
		if err != nil {
			m.logf("close: %v", err)
		}
		return nil
	}
	m.disk.HaltAt(1) // from here on nothing reaches the disk
	m.store.Close()
	if how == 0 {
		m.logf("kill -9")
		m.disk.HaltAt(0)
		return nil
	}
	m.logf("power cut")
	m.disk = m.disk.Crash(m.rng.Uint64())
	m.config.FS = m.disk
	return nil
}

// open starts a process, which sometimes loses power while it recovers.
func (m *sim) open() error {
	for range m.rng.IntN(3) {
		m.disk.HaltAt(m.disk.Ops() + 1 + m.rng.IntN(40))
		s, err := Open(m.config)
		if err == nil {
			m.model.epoch = max(m.model.epoch, s.LeaderEpoch())
			m.disk.HaltAt(1)
			s.Close()
		} else if !errors.Is(err, vfs.ErrHalted) {
			return fmt.Errorf("open: %w", err)
		}
		m.logf("power cut in recovery: %v", err)
		m.disk = m.disk.Crash(m.rng.Uint64())
		m.config.FS = m.disk
	}
	s, err := Open(m.config)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	m.store = s
	m.logf("open: epoch %d", s.LeaderEpoch())
	return nil
}

func (m *sim) compare() error {
	if err := m.model.settle(m.store, m.now.Load()); err != nil {
		return err
	}
	if err := m.model.verify(m.store, m.now.Load(), false); err != nil {
		return err
	}
	if err := m.checkFiles(); err != nil {
		return err
	}
	return m.probe()
}

// checkFiles looks below the surface of a store that was just opened: every segment has its file with exactly its
// bytes, and what else is there waits to be unlinked.
func (m *sim) checkFiles() error {
	return m.store.run(func() error {
		going := map[string]bool{}
		for _, r := range m.store.removed {
			going[r.g.path] = true
		}
		for _, mt := range m.liveTopics() {
			for _, p := range m.store.Topic(mt.name).Partitions {
				if err := m.checkPartitionFiles(p, going); err != nil {
					return fmt.Errorf("%s: %w", p, err)
				}
			}
		}
		return nil
	})
}

func (m *sim) checkPartitionFiles(p *Partition, going map[string]bool) error {
	names, err := m.store.list(p.dir())
	if err != nil {
		return err
	}
	segments := p.segments
	for _, name := range names {
		file := path.Join(p.dir(), name)
		if going[file] {
			continue
		}
		b, err := readFile(m.disk, file)
		if err != nil {
			return err
		}
		if len(segments) == 0 || file != segments[0].path || int64(len(b)) != segments[0].size {
			return fmt.Errorf("file %q with %d bytes, of %q", name, len(b), names)
		}
		segments = segments[1:]
	}
	if len(segments) > 0 {
		return fmt.Errorf("no file %q", segments[0].path)
	}
	return nil
}

// reopenTwice opens the last disk, loses power at once, and opens again: recovery has no memory.
func (m *sim) reopenTwice() error {
	for range 2 {
		if err := m.open(); err != nil {
			return err
		}
		if err := m.compare(); err != nil {
			m.store.Close()
			return err
		}
		m.disk.HaltAt(1)
		m.store.Close()
		m.disk = m.disk.Crash(m.rng.Uint64())
		m.config.FS = m.disk
	}
	return nil
}

// probe sends acknowledged batches of producers again: they are duplicates with their first offset.
func (m *sim) probe() error {
	for _, mt := range m.liveTopics() {
		t := m.store.Topic(mt.name)
		for i, mp := range mt.partitions {
			for id, producer := range mp.producers {
				for _, sent := range producer.recent {
					a := &Append{Partition: t.Partitions[i], Records: slices.Clone(sent.bytes)}
					Batch(a.Records).SetBaseOffset(0)
					m.store.Append(a)
					if m.store.Err() != nil || mp.offline {
						return nil
					}
					if a.Err != nil || !a.Duplicate || a.BaseOffset != sent.bytes.BaseOffset() {
						return fmt.Errorf("%s-%d: retry of producer %d, sequence %d: offset %d, duplicate %v, %v; want a duplicate at %d",
							mt.name, i, id, sent.bytes.BaseSequence(), a.BaseOffset, a.Duplicate, a.Err, sent.bytes.BaseOffset())
					}
				}
			}
		}
	}
	return nil
}

func (m *sim) liveTopics() (live []*modelTopic) {
	for _, name := range sortedKeys(m.model.topics) {
		if t := m.model.topics[name]; !t.deleting {
			live = append(live, t)
		}
	}
	return live
}
