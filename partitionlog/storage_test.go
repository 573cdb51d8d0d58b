package partitionlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/journal"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// clock is a settable clock.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(1_700_000_000_000)
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// events collects what a store reports.
type events struct {
	mu   sync.Mutex
	list []Event
}

func (e *events) observe(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

func (e *events) count(kind EventKind) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.list {
		if event.Kind == kind {
			n++
		}
	}
	return n
}

func mustOpen(t *testing.T, c Config) *Store {
	t.Helper()
	if c.MaintenanceInterval == 0 {
		c.MaintenanceInterval = -1
	}
	if c.MinFreeBytes == 0 {
		c.MinFreeBytes = 1
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// crashConfig is a store on a crash disk with a small journal.
func crashConfig(disk *vfs.CrashFS, e *events) Config {
	c := Config{Dir: "data", FS: disk, JournalBytes: 8 * 16384, Now: newClock().now, inline: true, MinFreeBytes: 1}
	if e != nil {
		c.Observe = e.observe
	}
	return c
}

func TestReopenOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := mustOpen(t, Config{Dir: dir, JournalBytes: 1 << 20})
	if s.LeaderEpoch() != 0 || len(s.ClusterID()) != 22 {
		t.Fatalf("epoch %d, cluster %q", s.LeaderEpoch(), s.ClusterID())
	}
	topic := mustCreate(t, s, "t", 2, map[string]string{"segment.bytes": "300"})
	for i := range 20 {
		mustAppend(t, s, topic.Partitions[0], batchOf(time.Now().UnixMilli(), fmt.Sprint(i)))
	}
	before, err := readLog(topic.Partitions[0])
	if err != nil || len(before) != 20 {
		t.Fatalf("%d batches, %v", len(before), err)
	}
	cluster := s.ClusterID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "topics", "t-*", "0", "*.log"))
	if len(files) < 5 {
		t.Errorf("segments %q, want several", files)
	}
	if other, _ := filepath.Glob(filepath.Join(dir, "topics", "t-*", "1")); len(other) > 0 {
		t.Errorf("an empty partition has %q", other)
	}
	s = mustOpen(t, Config{Dir: dir, JournalBytes: 1 << 20})
	if s.LeaderEpoch() != 1 || s.ClusterID() != cluster {
		t.Errorf("epoch %d, cluster %q; want 1, %q", s.LeaderEpoch(), s.ClusterID(), cluster)
	}
	after, err := readLog(s.Topic("t").Partitions[0])
	if err != nil || len(after) != 20 {
		t.Fatalf("%d batches, %v", len(after), err)
	}
	if offset := mustAppend(t, s, s.Topic("t").Partitions[0], batchOf(time.Now().UnixMilli(), "x")); offset != 20 {
		t.Errorf("next batch at %d, want 20", offset)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, Config{Dir: dir, JournalBytes: 1 << 20})
	var locked *vfs.LockedError
	if _, err := Open(Config{Dir: dir}); !errors.As(err, &locked) || locked.Pid != os.Getpid() {
		t.Fatalf("second open: %v", err)
	}
}

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	fill := func(t *testing.T) string {
		dir := t.TempDir()
		s := mustOpen(t, Config{Dir: dir, JournalBytes: 1 << 20})
		topic := mustCreate(t, s, "t", 1, nil)
		mustAppend(t, s, topic.Partitions[0], batchOf(time.Now().UnixMilli(), "a"))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	rewrite := func(t *testing.T, name string, change func(string) string) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(change(string(b))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	segment := func(dir string) string {
		files, _ := filepath.Glob(filepath.Join(dir, "topics", "t-*", "0", "*.log"))
		return files[0]
	}
	for name, test := range map[string]struct {
		harm func(t *testing.T, dir string)
		want error
	}{
		"newer meta": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, metaFile), func(s string) string { return strings.Replace(s, "version=1", "version=2", 1) })
		}, ErrNewerFormat},
		"newer table": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, tableFile), func(s string) string { return s[:11] + "\x02" + s[12:] })
		}, ErrNewerFormat},
		"flipped bit in the table": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, tableFile), func(s string) string { return s[:40] + string(s[40]^1) + s[41:] })
		}, ErrDamaged},
		"not a table": {func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, tableFile), func(string) string { return "hello" })
		}, ErrDamaged},
		"another directory's table": {func(t *testing.T, dir string) {
			other, err := os.ReadFile(filepath.Join(fill(t), tableFile))
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, filepath.Join(dir, tableFile), func(string) string { return string(other) })
		}, ErrDamaged},
		"another directory's journal": {func(t *testing.T, dir string) {
			os.RemoveAll(filepath.Join(dir, journalDir))
			if err := os.Rename(filepath.Join(fill(t), journalDir), filepath.Join(dir, journalDir)); err != nil {
				t.Fatal(err)
			}
		}, journal.ErrForeign},
		"no journal": {func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, journalDir)) }, journal.ErrMissing},
		"no table":   {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, tableFile)) }, os.ErrNotExist},
		"no meta":    {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, metaFile)) }, ErrDamaged},
		"no segment": {func(t *testing.T, dir string) { os.Remove(segment(dir)) }, ErrDamaged},
		"short segment": {func(t *testing.T, dir string) {
			rewrite(t, segment(dir), func(s string) string { return s[:len(s)-1] })
		}, ErrDamaged},
		"no topic directory": {func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, topicsDir)) }, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fill(t)
			test.harm(t, dir)
			s, err := Open(Config{Dir: dir, JournalBytes: 1 << 20, MaintenanceInterval: -1})
			if !errors.Is(err, test.want) {
				t.Errorf("open: %v, want %v", err, test.want)
			}
			if err == nil {
				s.Close()
			}
		})
	}
}

func TestJournalIsBounded(t *testing.T) {
	disk := vfs.NewCrash(1)
	s := mustOpen(t, crashConfig(disk, nil))
	topic := mustCreate(t, s, "t", 3, nil)
	for i := range 400 { // many times the journal
		mustAppend(t, s, topic.Partitions[i%3], batchOf(1_700_000_000_000, strings.Repeat("k", 500)))
		if used, capacity := s.journal.Used(); used > capacity {
			t.Fatalf("%d bytes of %d are used", used, capacity)
		}
	}
	if s.durableLSN.Load() == 0 {
		t.Error("no checkpoint was written")
	}
}

func TestFailedJournalWriteBeginsNewIncarnation(t *testing.T) {
	for _, kind := range []string{"write", "sync"} {
		var e events
		disk := vfs.NewCrash(1)
		c := crashConfig(disk, &e)
		s := mustOpen(t, c)
		p := mustCreate(t, s, "t", 1, nil).Partitions[0]
		mustAppend(t, s, p, sequenced(7, 0, 0, 1))
		failing := true
		disk.Inject(func(op vfs.Op) vfs.Fault {
			if failing && op.Kind == kind && strings.HasSuffix(op.Path, ".journal") { // not the next file in the making
				failing = false
				return vfs.Fault{Err: errors.New("input/output error"), Drop: true}
			}
			return vfs.Fault{}
		})
		lost := &Append{Partition: p, Records: sequenced(7, 0, 1, 1), Incarnation: s.Incarnation()}
		s.Append(lost)
		if !errors.Is(lost.Err, ErrStorage) || lost.BaseOffset != -1 {
			t.Fatalf("%s: append: %v at %d", kind, lost.Err, lost.BaseOffset)
		}
		if s.Incarnation() != 2 || e.count(EventReload) != 1 || s.Err() != nil {
			t.Fatalf("%s: incarnation %d, %d reloads, %v", kind, s.Incarnation(), e.count(EventReload), s.Err())
		}
		fenced := &Append{Partition: p, Records: sequenced(7, 0, 1, 1), Incarnation: 1}
		if s.Append(fenced); !errors.Is(fenced.Err, ErrFenced) {
			t.Errorf("%s: append of the old incarnation: %v", kind, fenced.Err)
		}
		// The retry is no duplicate: the first one was never written.
		again := &Append{Partition: p, Records: sequenced(7, 0, 1, 1), Incarnation: 2}
		if s.Append(again); again.Err != nil || again.Duplicate || again.BaseOffset != 1 {
			t.Errorf("%s: retry: %v, duplicate %v, offset %d", kind, again.Err, again.Duplicate, again.BaseOffset)
		}
		disk.HaltAt(1)
		s.Close()
		c.FS = disk.Crash(3)
		s = mustOpen(t, c)
		if batches, err := readLog(s.Topic("t").Partitions[0]); err != nil || len(batches) != 2 {
			t.Errorf("%s: %d batches after the crash, %v", kind, len(batches), err)
		}
	}
}

func TestJournalThatStaysBrokenFailsTheStore(t *testing.T) {
	var e events
	disk := vfs.NewCrash(1)
	s := mustOpen(t, crashConfig(disk, &e))
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	disk.Inject(func(op vfs.Op) vfs.Fault {
		if strings.Contains(op.Path, journalDir) {
			return vfs.Fault{Err: errors.New("input/output error")}
		}
		return vfs.Fault{}
	})
	a := &Append{Partition: p, Records: batchOf(1, "a"), Origin: OriginCoordinator}
	if s.Append(a); !errors.Is(a.Err, ErrStorage) {
		t.Errorf("append: %v", a.Err)
	}
	select {
	case <-s.Failed():
	default:
		t.Fatal("the store goes on")
	}
	if s.Err() == nil || e.count(EventFailed) != 1 {
		t.Errorf("reason %v, %d events", s.Err(), e.count(EventFailed))
	}
	if s.Append(a); !errors.Is(a.Err, ErrClosed) {
		t.Errorf("append after the end: %v", a.Err)
	}
	if _, err := s.CreateTopic(TopicSpec{Name: "u", Partitions: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("topic after the end: %v", err)
	}
}

func TestFailedSegmentTakesItsPartitionOffline(t *testing.T) {
	for _, kind := range []string{"write", "sync"} {
		var e events
		disk := vfs.NewCrash(1)
		c := crashConfig(disk, &e)
		s := mustOpen(t, c)
		topic := mustCreate(t, s, "t", 2, nil)
		p, q := topic.Partitions[0], topic.Partitions[1]
		mustAppend(t, s, p, batchOf(1_700_000_000_000, "a"))
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		disk.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == kind && strings.Contains(op.Path, "/0/") {
				return vfs.Fault{Err: errors.New("input/output error"), Drop: true}
			}
			return vfs.Fault{}
		})
		a := &Append{Partition: p, Records: batchOf(1_700_000_000_000, "b")}
		if s.Append(a); kind == "write" && !errors.Is(a.Err, ErrOffline) || kind == "sync" && a.Err != nil {
			t.Errorf("%s: append: %v", kind, a.Err)
		}
		if err := s.Checkpoint(); err != nil {
			t.Errorf("%s: checkpoint: %v", kind, err)
		}
		if e.count(EventOffline) != 1 || s.Err() != nil {
			t.Errorf("%s: %d offline, %v", kind, e.count(EventOffline), s.Err())
		}
		a.Records = batchOf(1_700_000_000_000, "c")
		if s.Append(a); !errors.Is(a.Err, ErrOffline) {
			t.Errorf("%s: append while offline: %v", kind, a.Err)
		}
		if _, err := p.Read(0, 100, true); !errors.Is(err, ErrOffline) {
			t.Errorf("%s: read while offline: %v", kind, err)
		}
		for range 10 {
			mustAppend(t, s, q, batchOf(1_700_000_000_000, strings.Repeat("c", 900)))
		}
		if err := s.Checkpoint(); err != nil {
			t.Errorf("%s: checkpoint: %v", kind, err)
		}
		disk.Inject(nil)
		s.Close()
		c.FS = disk.Crash(9)
		s = mustOpen(t, c)
		for i, want := range []int{2, 10} {
			if got, err := readLog(s.Topic("t").Partitions[i]); err != nil || len(got) != want {
				t.Errorf("%s: partition %d has %d batches after the restart, %v; want %d", kind, i, len(got), err, want)
			}
		}
	}
}

func TestOfflinePartitionThatHoldsTheJournalEndsTheStore(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	s := mustOpen(t, c)
	topic := mustCreate(t, s, "t", 2, nil)
	disk.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == "write" && strings.Contains(op.Path, "/0/") {
			return vfs.Fault{Err: errors.New("input/output error")}
		}
		return vfs.Fault{}
	})
	acknowledged := 0
	s.Append(&Append{Partition: topic.Partitions[0], Records: batchOf(1_700_000_000_000, "a")})
	for range 1000 {
		a := &Append{Partition: topic.Partitions[1], Records: batchOf(1_700_000_000_000, strings.Repeat("c", 900))}
		if s.Append(a); a.Err != nil {
			break
		}
		acknowledged++
	}
	if s.Err() == nil {
		t.Fatal("the store goes on without a journal")
	}
	disk.Inject(nil)
	disk.HaltAt(1)
	s.Close()
	c.FS = disk.Crash(9)
	s = mustOpen(t, c)
	for i, want := range []int{1, acknowledged} {
		if got, err := readLog(s.Topic("t").Partitions[i]); err != nil || len(got) != want {
			t.Errorf("partition %d has %d batches after the restart, %v; want %d", i, len(got), err, want)
		}
	}
}

func TestDiskFull(t *testing.T) {
	var e events
	disk := vfs.NewCrash(1)
	at := newClock()
	c := crashConfig(disk, &e)
	c.Now, c.MinFreeBytes = at.now, 1000
	s := mustOpen(t, c)
	topic := mustCreate(t, s, "t", 1, nil)
	p := topic.Partitions[0]
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	used, _ := s.journal.Used()
	disk.SetFree(999)
	at.advance(time.Second)
	a := &Append{Partition: p, Records: batchOf(at.ms.Load(), "b")}
	if s.Append(a); !errors.Is(a.Err, ErrDiskFull) {
		t.Errorf("produce: %v", a.Err)
	}
	a = &Append{Partition: p, Records: batchOf(at.ms.Load(), "b"), Origin: OriginCoordinator}
	if s.Append(a); !errors.Is(a.Err, ErrDiskFull) {
		t.Errorf("commit: %v", a.Err)
	}
	if now, _ := s.journal.Used(); now != used {
		t.Errorf("a refused append reached the journal")
	}
	if _, err := s.CreateTopic(TopicSpec{Name: "u", Partitions: 1}); !errors.Is(err, ErrDiskFull) {
		t.Errorf("create: %v", err)
	}
	a = &Append{Partition: p, Records: batchOf(at.ms.Load(), "tombstone"), Origin: OriginCoordinator, Urgent: true}
	if s.Append(a); a.Err != nil {
		t.Errorf("tombstone: %v", a.Err)
	}
	if _, err := s.DeleteRecords(p, 1); err != nil {
		t.Errorf("trim: %v", err)
	}
	if _, err := p.Read(1, 100, true); err != nil {
		t.Errorf("read: %v", err)
	}
	disk.SetFree(1000)
	at.advance(time.Second)
	mustAppend(t, s, p, batchOf(at.ms.Load(), "c"))
	if e.count(EventDiskFull) != 1 || e.count(EventDiskHealed) != 1 {
		t.Errorf("events %v", e.list)
	}
}

func TestDeleteTopicInTwoSteps(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	s := mustOpen(t, c)
	topic := mustCreate(t, s, "t", 1, nil)
	p := topic.Partitions[0]
	mustAppend(t, s, p, batchOf(1_700_000_000_000, "a"))
	moved := make(chan struct{}, 1)
	p.Watch(moved)
	if err := s.FinishDeleteTopic(topic.ID); !errors.Is(err, ErrUnknownTopic) {
		t.Errorf("second step first: %v", err)
	}
	if err := s.BeginDeleteTopic(topic.ID); err != nil {
		t.Fatal(err)
	}
	<-moved
	check := func(s *Store) {
		t.Helper()
		if s.Topic("t") != nil || s.TopicByID(topic.ID) != nil || len(s.Topics()) != 0 {
			t.Error("a topic that is being deleted is served")
		}
		if deleting := s.DeletingTopics(); len(deleting) != 1 || deleting[0].ID != topic.ID {
			t.Errorf("being deleted: %v", deleting)
		}
		if _, err := s.CreateTopic(TopicSpec{Name: "t", Partitions: 1}); !errors.Is(err, ErrTopicExists) {
			t.Errorf("the name is free too early: %v", err)
		}
	}
	check(s)
	if _, err := p.Read(0, 1, true); !errors.Is(err, ErrUnknownTopic) {
		t.Errorf("read: %v", err)
	}
	a := &Append{Partition: p, Records: batchOf(1_700_000_000_000, "a")}
	if s.Append(a); !errors.Is(a.Err, ErrUnknownTopic) {
		t.Errorf("append: %v", a.Err)
	}
	s.Close()
	s = mustOpen(t, c)
	check(s)
	if err := s.FinishDeleteTopic(topic.ID); err != nil {
		t.Fatal(err)
	}
	again := mustCreate(t, s, "t", 1, nil)
	if _, next := again.Partitions[0].Offsets(); next != 0 || again.ID == topic.ID {
		t.Errorf("the new topic continues the old one at %d", next)
	}
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if names, _ := disk.List(s.topicDir("t", topic.ID)); len(names) != 0 {
		t.Errorf("files stay: %q", names)
	}
}

func TestOpenAndCreateAreFast(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	s := mustOpen(t, Config{Dir: dir})
	opened := time.Since(began)
	lsn := s.journal.LastLSN()
	began = time.Now()
	mustCreate(t, s, "__consumer_offsets", 50, map[string]string{"cleanup.policy": "compact"})
	created := time.Since(began)
	t.Logf("open %v, create 50 partitions %v", opened, created)
	if now := s.journal.LastLSN(); now != lsn+1 {
		t.Errorf("a topic took %d journal frames", now-lsn)
	}
	if names, err := os.ReadDir(filepath.Join(dir, topicsDir)); err != nil || len(names) > 0 {
		t.Errorf("empty partitions have files: %v, %v", names, err)
	}
}

func TestFewDescriptors(t *testing.T) {
	s := mustOpen(t, Config{Dir: t.TempDir(), JournalBytes: 4 << 20, MaxOpenFiles: 20})
	topic := mustCreate(t, s, "t", 300, nil)
	for i := range 600 {
		mustAppend(t, s, topic.Partitions[i%300], batchOf(time.Now().UnixMilli(), fmt.Sprint(i)))
	}
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	for i, p := range topic.Partitions {
		if got, err := readLog(p); err != nil || len(got) != 2 {
			t.Fatalf("partition %d: %d batches, %v", i, len(got), err)
		}
	}
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if n := len(s.files.open); n > 20 {
		t.Errorf("%d files are open, the bound is 20", n)
	}
}
