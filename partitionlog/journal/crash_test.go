package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// model is what a journal's user knows, across crashes.
type model struct {
	t     *testing.T
	what  string // how to repeat it
	c     Config
	d     *vfs.CrashFS
	rng   *rand.Rand
	acked [][]byte // payload of LSN i+1
	after uint64   // the checkpoint, which this test keeps on a disk of its own
	maybe []byte   // a frame that failed: it may come back at the next Open, and then stays; nil = none
	tries uint64
}

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s: %s", m.what, fmt.Sprintf(format, args...))
}

// injected reports whether an error is one that the test itself made.
func injected(err error) bool {
	var damage *DamageError
	return !errors.As(err, &damage) && (errors.Is(err, syscall.EIO) || errors.Is(err, vfs.ErrHalted))
}

// start opens or creates; nil when an injected error was in the way.
func (m *model) start() *Journal {
	next := m.after
	j, report, err := Open(m.c, m.after, func(lsn uint64, p []byte) error {
		if next++; lsn != next {
			m.fatalf("frame %d after frame %d", lsn, next-1)
		}
		switch {
		case lsn <= uint64(len(m.acked)):
			if !bytes.Equal(p, m.acked[lsn-1]) {
				m.fatalf("frame %d has another payload than what was acknowledged", lsn)
			}
		case lsn == uint64(len(m.acked))+1 && m.maybe != nil && bytes.Equal(p, m.maybe):
			m.acked, m.maybe = append(m.acked, m.maybe), nil
		default:
			m.fatalf("frame %d was never appended, or abandoned; %d are acknowledged", lsn, len(m.acked))
		}
		return nil
	})
	if errors.Is(err, ErrMissing) && len(m.acked) == 0 {
		j, err = Create(m.c)
		if err == nil {
			return j
		}
	}
	if err != nil {
		if !injected(err) {
			m.fatalf("open after %d, %d acknowledged: %v", m.after, len(m.acked), err)
		}
		return nil
	}
	m.maybe = nil
	if next != max(m.after, uint64(len(m.acked))) || report.LastLSN != next || j.LastLSN() != next {
		m.fatalf("replayed up to %d, report %+v, %d acknowledged, checkpoint %d", next, report, len(m.acked), m.after)
	}
	return j
}

// append appends one frame of random length, and reports whether the journal may go on.
func (m *model) append(j *Journal) bool {
	m.tries++
	p := payload(m.tries, []int{0, 100, pageBytes, 2*pageBytes - 10, 3 * pageBytes, j.MaxPayload()}[m.rng.IntN(6)])
	lsn, err := j.Append(p)
	switch {
	case err == nil:
		if m.acked = append(m.acked, p); lsn != uint64(len(m.acked)) {
			m.fatalf("frame %d got LSN %d", len(m.acked), lsn)
		}
	case errors.Is(err, ErrFull):
		m.checkpoint(j)
	case errors.Is(err, ErrNoSpare):
		return injected(err)
	case injected(err):
		m.maybe = p
		return m.restart(j)
	default:
		m.fatalf("append: %v", err)
	}
	return true
}

func (m *model) restart(j *Journal) bool {
	if _, err := j.Append(nil); !errors.Is(err, ErrFailed) {
		m.fatalf("append to a failed journal: %v", err)
	}
	for range 2 {
		err := j.Restart()
		if err == nil {
			m.maybe = nil
			return true
		}
		if errors.Is(err, ErrFull) {
			return false
		}
		if !injected(err) {
			m.fatalf("restart: %v", err)
		}
	}
	return false
}

func (m *model) checkpoint(j *Journal) {
	if n := uint64(len(m.acked)); n > m.after {
		m.after += 1 + m.rng.Uint64N(n-m.after)
	}
	j.Release(m.after)
	used, capacity := j.Used()
	if used < pageBytes || used > capacity+m.c.FileBytes {
		m.fatalf("%d bytes used of %d", used, capacity)
	}
}

// live runs one life of a process: n steps at most.
func (m *model) live(j *Journal, n int) {
	defer func() {
		if err := j.Close(); err != nil {
			m.fatalf("close: %v", err)
		}
	}()
	for range n {
		if m.rng.IntN(8) == 0 {
			m.checkpoint(j)
		}
		if !m.append(j) {
			return
		}
	}
}

// same opens a quiet disk twice, with a crash in between, and wants all frames both times.
func (m *model) same() {
	m.d.Inject(nil)
	m.d.HaltAt(0)
	for i := range uint64(2) {
		j := m.start()
		if j == nil {
			m.fatalf("a quiet disk could not be opened")
		}
		if err := j.Close(); err != nil {
			m.fatalf("close: %v", err)
		}
		names := must(m.d.List(m.c.Dir))
		if len(names) > m.c.Files {
			m.fatalf("%d files: %q", len(names), names)
		}
		m.d = m.d.Crash(i)
		m.c.FS = m.d
	}
}

func newModel(t *testing.T, what string, d *vfs.CrashFS, seed, round uint64) *model {
	return &model{t: t, what: what, c: config(d), d: d, rng: rand.New(rand.NewPCG(seed, round))}
}

// TestCrashAtEveryOperation stops one workload at each of its operations, and loses power in several ways.
func TestCrashAtEveryOperation(t *testing.T) {
	s := seed(t)
	run := func(haltAt int) *model {
		d := vfs.NewCrash(s)
		d.HaltAt(haltAt)
		m := newModel(t, fmt.Sprintf("seed %d, halt at %d", s, haltAt), d, s, 0)
		if j := m.start(); j != nil {
			m.live(j, 60)
		}
		return m
	}
	total := run(0).d.Ops()
	t.Logf("%d operations", total)
	if total < 200 {
		t.Fatal("the workload is too short to mean anything")
	}
	for n := 1; n <= total; n++ {
		for i := range 2 * *scaleFlag {
			m := run(n)
			m.what += fmt.Sprintf(", crash %d", i)
			m.d = m.d.Crash(i)
			m.c.FS = m.d
			if j := m.start(); j != nil { // go on a little, and lose power again
				m.live(j, 3)
			}
			m.d = m.d.Crash(i + 100)
			m.c.FS = m.d
			m.same()
		}
	}
}

// TestCrashDuringRecovery stops recovery at each of its operations.
func TestCrashDuringRecovery(t *testing.T) {
	s := seed(t)
	for round := range 20 * *scaleFlag {
		for n := 1; ; n++ {
			d := vfs.NewCrash(s)
			m := newModel(t, fmt.Sprintf("seed %d, round %d, halt %d", s, round, n), d, s, round)
			d.HaltAt(60 + int(round))
			if j := m.start(); j != nil {
				m.live(j, 60)
			}
			m.d = m.d.Crash(round)
			m.c.FS = m.d
			m.d.HaltAt(n)
			j := m.start()
			if j != nil {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
			m.d = m.d.Crash(uint64(n))
			m.c.FS = m.d
			m.same()
			if j != nil {
				break
			}
		}
	}
}

// TestFaultAtEveryOperation makes one operation fail, in several ways, restarts, goes on, and loses power.
func TestFaultAtEveryOperation(t *testing.T) {
	s := seed(t)
	run := func(what string, fault func(op vfs.Op) vfs.Fault) *model {
		d := vfs.NewCrash(s)
		d.Inject(fault)
		m := newModel(t, fmt.Sprintf("seed %d, %s", s, what), d, s, 0)
		for range 5 {
			if j := m.start(); j != nil {
				m.live(j, 12)
			}
		}
		return m
	}
	total := run("quiet", nil).d.Ops()
	for n := 1; n <= total; n++ {
		for i, fault := range []vfs.Fault{
			{Err: syscall.EIO},
			{Err: syscall.EIO, Drop: true},
			{Err: syscall.EIO, Keep: pageBytes},
			{Err: syscall.EIO, Keep: pageBytes / 2, Drop: true},
			{Err: syscall.EIO, Keep: 1 << 30},
		} {
			if uint64(n+i)%5 >= 2**scaleFlag {
				continue // the next operations get it
			}
			m := run(fmt.Sprintf("fault %d at %d", i, n), func(op vfs.Op) vfs.Fault {
				if op.N == n && op.Kind != "read" && op.Kind != "open" && op.Kind != "size" && op.Kind != "list" {
					return fault
				}
				return vfs.Fault{}
			})
			m.d = m.d.Crash(uint64(i))
			m.c.FS = m.d
			m.same()
		}
	}
}

// TestRandomLives mixes everything: faults, restarts of journal and process, and power cuts.
func TestRandomLives(t *testing.T) {
	s := seed(t)
	for round := range 500 * *scaleFlag {
		d := vfs.NewCrash(s)
		m := newModel(t, fmt.Sprintf("-journal.seed=%d, round %d", s, round), d, s, round)
		if round%8 == 0 {
			m.c.inline = false
		}
		for range 6 {
			if m.rng.IntN(2) == 0 {
				m.d.HaltAt(m.d.Ops() + 1 + m.rng.IntN(80))
			} else {
				m.d.HaltAt(0)
			}
			odds := []int{0, 10, 60}[m.rng.IntN(3)]
			faults := rand.New(rand.NewPCG(s, round))
			m.d.Inject(func(vfs.Op) vfs.Fault {
				if odds == 0 || faults.IntN(odds) != 0 {
					return vfs.Fault{}
				}
				return vfs.Fault{Err: syscall.EIO, Keep: faults.IntN(4) * 1500, Drop: faults.IntN(2) == 0}
			})
			if j := m.start(); j != nil {
				m.live(j, m.rng.IntN(40))
			}
			if m.rng.IntN(3) > 0 {
				m.d = m.d.Crash(m.rng.Uint64())
				m.c.FS = m.d
			} // else the process died, the kernel's cache did not
			if m.rng.IntN(4) == 0 && len(m.acked) > 0 && m.d.Ops() >= 0 {
				m.after = max(m.after, uint64(len(m.acked))-m.rng.Uint64N(uint64(len(m.acked))))
			}
		}
		m.d.HaltAt(0)
		m.same()
	}
}

// TestAbandonedFrameStaysAway: the schedule that a failed fsync makes. The frame is in the cache and even on the disk,
// but Restart has begun a new incarnation, so neither the next process nor one after a power cut may see it.
func TestAbandonedFrameStaysAway(t *testing.T) {
	for i := range uint64(200) {
		d := vfs.NewCrash(i)
		c := config(d)
		j := must(Create(c))
		must(j.Append([]byte("one")))
		fail := true
		d.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == "sync" && fail {
				fail = false
				return vfs.Fault{Err: syscall.EIO, Drop: i%2 == 0}
			}
			return vfs.Fault{}
		})
		if _, err := j.Append([]byte("lost")); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if err := j.Restart(); err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 {
			if lsn := must(j.Append([]byte("two"))); lsn != 2 {
				t.Fatalf("LSN %d", lsn)
			}
		}
		want := "[one two]"
		if i%3 == 0 {
			want = "[one]"
		}
		for k := range uint64(3) {
			j, _, got, err := open(c, 0)
			if err != nil || fmt.Sprintf("%s", got.payloads) != want {
				t.Fatalf("seed %d, open %d: %s, want %s, %v", i, k, got.payloads, want, err)
			}
			_ = j.Close()
			c.FS = c.FS.(*vfs.CrashFS).Crash(k)
		}
	}
}

// TestLastNumberIsKept: all frames are released, and the file after them could not take its first one. The number of
// the last frame must still be written somewhere.
func TestLastNumberIsKept(t *testing.T) {
	d := vfs.NewCrash(1)
	c := config(d)
	c.Files = 3
	j := must(Create(c))
	last := must(j.Append(payload(1, j.MaxPayload())))
	d.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == "write" && op.Pos >= pageBytes && op.Len == pageBytes {
			return vfs.Fault{Err: syscall.EIO}
		}
		return vfs.Fault{}
	})
	if _, err := j.Append(nil); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	for range 4 {
		j.Release(last)
		if err := j.Restart(); err == nil {
			t.Fatal("restart on a disk that takes no frame")
		}
	}
	_ = j.Close()
	d.Inject(nil)
	k, _, _, err := open(c, last)
	if err != nil {
		t.Fatal(err)
	}
	if lsn := must(k.Append(nil)); lsn != last+1 {
		t.Errorf("LSN %d after %d", lsn, last)
	}
	_ = k.Close()
}
