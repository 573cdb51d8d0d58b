package partitionlog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// keyed builds a batch of one record; an empty value is a tombstone.
func keyed(ts int64, key, value string) Batch {
	b := NewBuilder(None)
	v := []byte(value)
	if value == "" {
		v = nil
	}
	b.Add(0, ts, []byte(key), v, nil)
	return b.Bytes(0)
}

// contents lists "offset:key=value" of everything that can be read.
func contents(t *testing.T, p *Partition) (list []string) {
	t.Helper()
	batches, err := readLog(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		for _, r := range recordsOf(modelBatch{bytes: b}) {
			list = append(list, fmt.Sprintf("%d:%s=%s", r.offset, r.key, r.value))
		}
	}
	return list
}

func (s *Store) mustMaintain(t *testing.T, at *clock) {
	t.Helper()
	if err := s.RunMaintenance(at.now()); err != nil {
		t.Fatal(err)
	}
}

// compactedTopic makes a partition in which every batch of one record has a segment of its own.
func compactedTopic(t *testing.T, s *Store, overrides map[string]string) *Partition {
	t.Helper()
	o := map[string]string{"cleanup.policy": "compact", "segment.bytes": "14", "min.cleanable.dirty.ratio": "0"}
	maps.Copy(o, overrides)
	return mustCreate(t, s, "c", 1, o).Partitions[0]
}

func expect(t *testing.T, p *Partition, want ...string) {
	t.Helper()
	if got := contents(t, p); !slices.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
}

func TestCompactionKeepsTheNewestOfEachKey(t *testing.T) {
	s, at := memoryStore(t)
	p := compactedTopic(t, s, nil)
	for i, key := range []string{"a", "b", "a", "c", "b", "a", "d"} {
		mustAppend(t, s, p, keyed(at.ms.Load(), key, fmt.Sprint(i)))
	}
	s.mustMaintain(t, at)
	expect(t, p, "3:c=3", "4:b=4", "5:a=5", "6:d=6")
	if logStart, next := p.Offsets(); logStart != 0 || next != 7 {
		t.Errorf("offsets [%d, %d] moved", logStart, next)
	}
	if records, err := p.Read(0, 1, true); err != nil || Batch(records).BaseOffset() != 3 {
		t.Errorf("a read in the hole returns %v, %v", records, err)
	}
	// The active segment takes no part: 6 stays until it is sealed, whatever comes after.
	mustAppend(t, s, p, keyed(at.ms.Load(), "d", "7"))
	mustAppend(t, s, p, keyed(at.ms.Load(), "d", "8"))
	s.mustMaintain(t, at)
	expect(t, p, "3:c=3", "4:b=4", "5:a=5", "7:d=7", "8:d=8")
}

func TestTombstonesStayForTheirTime(t *testing.T) {
	s, at := memoryStore(t)
	p := compactedTopic(t, s, map[string]string{"delete.retention.ms": "10000"})
	next := 0
	turn := func() { // something dirty, so that there is a reason to compact
		mustAppend(t, s, p, keyed(at.ms.Load(), "x", fmt.Sprint(next)))
		next++
		s.mustMaintain(t, at)
	}
	mustAppend(t, s, p, keyed(at.ms.Load(), "a", "1"))
	mustAppend(t, s, p, keyed(at.ms.Load(), "a", ""))
	at.advance(time.Hour) // the time before the first cleaning does not count
	turn()
	expect(t, p, "1:a=", "2:x=0")
	at.advance(9 * time.Second)
	turn()
	expect(t, p, "1:a=", "2:x=0", "3:x=1")
	at.advance(time.Second)
	turn()
	expect(t, p, "3:x=1", "4:x=2")
}

func TestWhenCompactionRuns(t *testing.T) {
	for _, test := range []struct {
		name      string
		overrides map[string]string
		wait      time.Duration
		runs      bool
	}{
		{"dirty enough", map[string]string{"min.cleanable.dirty.ratio": "0.5"}, 0, true},
		{"not dirty enough", map[string]string{"min.cleanable.dirty.ratio": "0.8"}, 0, false},
		{"too young", map[string]string{"min.compaction.lag.ms": "60000"}, 59 * time.Second, false},
		{"old enough", map[string]string{"min.compaction.lag.ms": "60000"}, 60 * time.Second, true},
		{"overdue", map[string]string{"min.cleanable.dirty.ratio": "0.8", "max.compaction.lag.ms": "60000"}, 61 * time.Second, true},
		{"not yet overdue", map[string]string{"min.cleanable.dirty.ratio": "0.8", "max.compaction.lag.ms": "60000"}, 60 * time.Second, false},
	} {
		s, at := memoryStore(t)
		p := compactedTopic(t, s, nil)
		for i := range 3 { // three keys, cleaned: 0, 1, 2
			mustAppend(t, s, p, keyed(at.ms.Load(), fmt.Sprint("k", i), "old"))
		}
		mustAppend(t, s, p, keyed(at.ms.Load(), "active", "1"))
		s.mustMaintain(t, at)
		o := map[string]string{"cleanup.policy": "compact", "segment.bytes": "14", "min.cleanable.dirty.ratio": "0"}
		maps.Copy(o, test.overrides)
		if err := s.AlterTopicConfig(p.TopicID(), o); err != nil {
			t.Fatal(err)
		}
		for i := range 3 { // and dirty: 3 "active", 4, 5, 6; 7 is active
			mustAppend(t, s, p, keyed(at.ms.Load(), fmt.Sprint("k", i), "new"))
		}
		mustAppend(t, s, p, keyed(at.ms.Load(), "active", "2"))
		at.advance(test.wait)
		s.mustMaintain(t, at)
		if ran := len(contents(t, p)) < 8; ran != test.runs {
			t.Errorf("%s: ran %v, want %v; log %q", test.name, ran, test.runs, contents(t, p))
		}
	}
}

func TestCompactionMergesSmallSegments(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	at := newClock()
	c.Now, c.JournalBytes = at.now, 1<<20 // no checkpoint but those below
	s := mustOpen(t, c)
	p := compactedTopic(t, s, nil)
	for i := range 20 {
		mustAppend(t, s, p, keyed(at.ms.Load(), fmt.Sprint("k", i%10), fmt.Sprint(i)))
	}
	o := map[string]string{"cleanup.policy": "compact", "segment.bytes": "100000", "min.cleanable.dirty.ratio": "0"}
	if err := s.AlterTopicConfig(p.TopicID(), o); err != nil {
		t.Fatal(err)
	}
	s.mustMaintain(t, at)
	if len(p.segments) != 20 {
		t.Errorf("%d segments: what no table holds was compacted", len(p.segments))
	}
	// That round began the checkpoint that it missed.
	want := contents(t, p)[9:] // 19 is active, so 9 is still the newest sealed one of its key
	s.mustMaintain(t, at)
	if len(p.segments) != 2 || p.segments[0].generation != 1 || p.segments[0].base != 0 {
		t.Errorf("%d segments, the first %s", len(p.segments), p.segments[0].path)
	}
	expect(t, p, want...)
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if names, _ := disk.List(p.dir()); !slices.Equal(names, []string{"00000000000000000000.1.log", "00000000000000000019.log"}) {
		t.Errorf("files %q", names)
	}
	disk.HaltAt(1)
	s.Close()
	c.FS = disk.Crash(1)
	s = mustOpen(t, c)
	expect(t, s.Topic("c").Partitions[0], want...)
}

func TestProducersSurviveCompactionAndRestart(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	s := mustOpen(t, c)
	p := compactedTopic(t, s, nil)
	for i := range int32(3) {
		mustAppend(t, s, p, sequenced(7, 0, i, 1))
	}
	for range 2 {
		mustAppend(t, s, p, keyed(1_700_000_000_000, "k", "other"))
	}
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	s.mustMaintain(t, newClock())
	expect(t, p, "3:k=other", "4:k=other")
	for range 2 {
		retry := &Append{Partition: p, Records: sequenced(7, 0, 2, 1)}
		if s.Append(retry); !retry.Duplicate || retry.BaseOffset != 2 {
			t.Errorf("retry: duplicate %v at %d, %v", retry.Duplicate, retry.BaseOffset, retry.Err)
		}
		s.Close()
		s = mustOpen(t, c)
		p = s.Topic("c").Partitions[0]
	}
}

func TestCompactionOfWhatIsTrimmedMeanwhile(t *testing.T) {
	s, at := memoryStore(t)
	p := compactedTopic(t, s, nil)
	for i, key := range []string{"a", "a", "b", "a", "c"} {
		mustAppend(t, s, p, keyed(at.ms.Load(), key, fmt.Sprint(i)))
	}
	c := p.plan(at.ms.Load())
	if err := c.readKeys(); err != nil {
		t.Fatal(err)
	}
	groups := c.groups()
	out, err := c.rewrite(groups[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteRecords(p, 1); err != nil {
		t.Fatal(err)
	}
	if done, err := c.install(groups[0], out); done || err != nil {
		t.Errorf("a trimmed segment was replaced: %v, %v", done, err)
	}
	if done, err := c.replace(groups[0]); done || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a segment without a file was replaced: %v, %v", done, err)
	}
	if done, err := c.replace(groups[1]); !done || err != nil {
		t.Errorf("the next one was not: %v, %v", done, err)
	}
	expect(t, p, "2:b=2", "3:a=3", "4:c=4")
	if p.Size() != int64(3*len(keyed(at.ms.Load(), "a", "0"))) {
		t.Errorf("%d bytes", p.Size())
	}
	if names, _ := s.config.FS.List(p.dir()); len(names) != 3 {
		t.Errorf("files %q", names)
	}
}

// TestCompactionAgainstModel plays random histories against the model's promise, and demands after each that what
// could be cleaned holds no key twice.
func TestCompactionAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 150 {
		s, at := memoryStore(t)
		overrides := map[string]string{
			"cleanup.policy": "compact", "segment.bytes": fmt.Sprint(100 + rng.IntN(900)), "delete.retention.ms": "5000",
			"min.cleanable.dirty.ratio": fmt.Sprint(rng.Float64() / 2), "index.interval.bytes": fmt.Sprint(rng.IntN(300)),
		}
		p := mustCreate(t, s, "c", 1, overrides).Partitions[0]
		mp := newModelTopic("c", 1, overrides).partitions[0]
		config := *p.config.Load()
		for range rng.IntN(80) {
			switch n := rng.IntN(10); {
			case n < 7:
				b := NewBuilder([]Codec{None, None, Snappy, LZ4}[rng.IntN(4)])
				for i := range 1 + rng.IntN(5) {
					value := fmt.Appendf(nil, "%d", rng.IntN(1e9))
					if rng.IntN(4) == 0 {
						value = nil
					}
					b.Add(int32(i), at.ms.Load(), fmt.Appendf(nil, "k%d", rng.IntN(6)), value, nil)
				}
				batch := b.Bytes(0)
				mustAppend(t, s, p, batch)
				mp.accept(modelBatch{batch, at.ms.Load()})
			case n == 7:
				low, err := s.DeleteRecords(p, mp.logStart+rng.Int64N(min(mp.next-mp.logStart, 5)+1))
				if err != nil {
					t.Fatal(err)
				}
				mp.logStart = low
			default:
				at.advance(time.Duration(rng.IntN(4000)) * time.Millisecond)
				s.mustMaintain(t, at)
			}
			if err := mp.verify(p, &config, at.ms.Load()); err != nil {
				t.Fatal(err)
			}
		}
		overrides["min.cleanable.dirty.ratio"] = "0"
		if err := s.AlterTopicConfig(p.TopicID(), overrides); err != nil {
			t.Fatal(err)
		}
		s.mustMaintain(t, at)
		if err := mp.verify(p, &config, at.ms.Load()); err != nil {
			t.Fatal(err)
		}
		checkClean(t, p)
		s.Close()
	}
}

// checkClean wants each key once in the sealed segments.
func checkClean(t *testing.T, p *Partition) {
	t.Helper()
	logStart, _ := p.Offsets()
	batches, err := readLog(p)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int64{}
	for _, b := range batches {
		if b.BaseOffset() >= p.active().base {
			break
		}
		for _, r := range recordsOf(modelBatch{bytes: b}) {
			if before, twice := seen[r.key]; twice && r.offset >= logStart {
				t.Fatalf("key %q at %d and %d after a compaction", r.key, before, r.offset)
			}
			seen[r.key] = r.offset
		}
	}
}
