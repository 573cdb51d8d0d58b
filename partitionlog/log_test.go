package partitionlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/journal"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// memoryStore is a store in memory with a settable clock.
func memoryStore(t *testing.T) (*Store, *clock) {
	t.Helper()
	at := newClock()
	return mustOpen(t, Config{Now: at.now}), at
}

func TestBatchesAreValidatedByTheCaller(t *testing.T) {
	s, at := memoryStore(t)
	now := at.ms.Load()
	p := mustCreate(t, s, "t", 1, map[string]string{"max.message.bytes": "500", "message.timestamp.before.max.ms": "1000"}).Partitions[0]
	compacted := mustCreate(t, s, "c", 1, map[string]string{"cleanup.policy": "compact"}).Partitions[0]
	corrupt := batchOf(now, "a")
	corrupt[len(corrupt)-1] ^= 1
	old := batchOf(now, "a")
	old[magicAt] = 1
	unkeyed := NewBuilder(None)
	unkeyed.Add(0, now, nil, []byte("v"), nil)
	for name, test := range map[string]struct {
		p     *Partition
		batch Batch
		want  error
	}{
		"corrupt":     {p, corrupt, ErrCorruptBatch},
		"magic 1":     {p, old, ErrUnsupportedMagic},
		"too large":   {p, batchOf(now, strings.Repeat("k", 600)), ErrMessageTooLarge},
		"too old":     {p, batchOf(now-1001, "a"), ErrInvalidTimestamp},
		"too new":     {p, batchOf(now+3600_001, "a"), ErrInvalidTimestamp},
		"two batches": {p, append(batchOf(now, "a"), batchOf(now, "b")...), ErrInvalidRecord},
		"no batch":    {p, nil, ErrInvalidRecord},
		"no key":      {compacted, unkeyed.Bytes(0), ErrInvalidRecord},
		"fine":        {p, batchOf(now, "a"), nil},
	} {
		a := &Append{Partition: test.p, Records: test.batch}
		if s.Append(a); !errors.Is(a.Err, test.want) {
			t.Errorf("%s: %v, want %v", name, a.Err, test.want)
		}
	}
	if _, next := p.Offsets(); next != 1 {
		t.Errorf("next offset %d after one good batch", next)
	}
}

func TestLogAppendTime(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, map[string]string{"message.timestamp.type": "LogAppendTime"}).Partitions[0]
	a := &Append{Partition: p, Records: batchOf(5, "a", "b")}
	if s.Append(a); a.Err != nil || a.LogAppendTime != at.ms.Load() {
		t.Fatalf("time %d, %v", a.LogAppendTime, a.Err)
	}
	got, err := readLog(p)
	if err != nil || len(got) != 1 || got[0].TimestampType() != LogAppendTime || got[0].MaxTimestamp() != at.ms.Load() {
		t.Fatalf("%v, %v", got, err)
	}
	if offset, ts, _, found, err := p.OffsetForTimestamp(at.ms.Load() - 1); !found || offset != 0 || ts != at.ms.Load() || err != nil {
		t.Errorf("first record at %d, %d, %v", offset, ts, err)
	}
	other := mustCreate(t, s, "u", 1, nil).Partitions[0]
	a = &Append{Partition: other, Records: batchOf(5, "a")}
	if s.Append(a); a.LogAppendTime != -1 {
		t.Errorf("CreateTime answers %d", a.LogAppendTime)
	}
}

func TestReadBounds(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, map[string]string{"segment.bytes": "400", "index.interval.bytes": "100"}).Partitions[0]
	size := 0
	for range 20 {
		b := batchOf(at.ms.Load(), "a", "b", "c")
		size = len(b)
		mustAppend(t, s, p, b)
	}
	if _, err := s.DeleteRecords(p, 10); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		offset  int64
		max     int
		minOne  bool
		base    int64 // of the first batch
		batches int
		err     error
	}{
		{9, 1000, true, 0, 0, ErrOffsetOutOfRange},
		{10, 0, true, 9, 1, nil},
		{10, 0, false, 0, 0, nil},
		{10, size - 1, false, 0, 0, nil},
		{10, size, false, 9, 1, nil},
		{59, 1 << 20, true, 57, 1, nil},
		{60, 1 << 20, true, 0, 0, nil},
		{61, 1 << 20, true, 0, 0, ErrOffsetOutOfRange},
		{-1, 1 << 20, true, 0, 0, ErrOffsetOutOfRange},
	} {
		records, err := p.Read(test.offset, test.max, test.minOne)
		n := 0
		base := int64(0)
		for rest := records; len(rest) > 0; n++ {
			b, more, err := NextBatch(rest)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				base = b.BaseOffset()
			}
			rest = more
		}
		if !errors.Is(err, test.err) || n != test.batches || base != test.base {
			t.Errorf("read at %d, %d bytes, %v: %d batches from %d, %v; want %d from %d, %v",
				test.offset, test.max, test.minOne, n, base, err, test.batches, test.base, test.err)
		}
	}
}

func TestDeleteRecords(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, map[string]string{"segment.bytes": "200"}).Partitions[0]
	for range 10 {
		mustAppend(t, s, p, batchOf(at.ms.Load(), "a", "b"))
	}
	for _, test := range []struct {
		before, low int64
		err         error
	}{{3, 3, nil}, {2, 3, nil}, {21, -1, ErrOffsetOutOfRange}, {-2, -1, ErrOffsetOutOfRange}, {-1, 20, nil}, {20, 20, nil}} {
		low, err := s.DeleteRecords(p, test.before)
		if low != test.low || !errors.Is(err, test.err) {
			t.Errorf("before %d: %d, %v; want %d, %v", test.before, low, err, test.low, test.err)
		}
	}
	if p.Size() != 0 || len(p.segments) != 0 {
		t.Errorf("%d bytes in %d segments are left", p.Size(), len(p.segments))
	}
	if offset := mustAppend(t, s, p, batchOf(at.ms.Load(), "a")); offset != 20 {
		t.Errorf("next batch at %d, want 20", offset)
	}
}

func TestSegmentsRollByTimeToo(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, map[string]string{"segment.ms": "1000"}).Partitions[0]
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	mustAppend(t, s, p, batchOf(at.ms.Load()+1000, "a"))
	if n := len(p.segments); n != 1 {
		t.Errorf("%d segments at the bound", n)
	}
	mustAppend(t, s, p, batchOf(at.ms.Load()+1001, "a"))
	if n := len(p.segments); n != 2 {
		t.Errorf("%d segments above the bound", n)
	}
}

func TestRetention(t *testing.T) {
	fill := func(overrides map[string]string) (*Store, *clock, *Partition, int64) {
		s, at := memoryStore(t)
		p := mustCreate(t, s, "t", 1, overrides).Partitions[0]
		var size int64
		for range 10 { // one batch a segment, one second apart
			b := batchOf(at.ms.Load(), "a")
			size = int64(len(b))
			mustAppend(t, s, p, b)
			at.advance(time.Second)
		}
		return s, at, p, size
	}
	for _, test := range []struct {
		name      string
		overrides map[string]string
		wait      time.Duration
		logStart  int64
	}{
		{"by time", map[string]string{"retention.ms": "5500"}, 0, 5},
		{"by time, all, the active one too", map[string]string{"retention.ms": "5500"}, time.Minute, 10},
		{"no limit", map[string]string{"retention.ms": "-1"}, 1000 * time.Hour, 0},
		{"by size", map[string]string{"retention.ms": "-1", "retention.bytes": "BATCHES*4"}, 0, 6},
		{"by size, partly", map[string]string{"retention.ms": "-1", "retention.bytes": "BATCHES*4+1"}, 0, 5},
		{"not when compacted only", map[string]string{"retention.ms": "1", "cleanup.policy": "compact", "min.compaction.lag.ms": "9999999"}, time.Hour, 0},
	} {
		test.overrides["segment.bytes"] = "100"
		if bytes, ok := test.overrides["retention.bytes"]; ok {
			size := len(batchOf(1_700_000_000_000, "a"))
			test.overrides["retention.bytes"] = fmt.Sprint(size * 4)
			if strings.HasSuffix(bytes, "+1") {
				test.overrides["retention.bytes"] = fmt.Sprint(size*4 + 1)
			}
		}
		s, at, p, size := fill(test.overrides)
		at.advance(test.wait)
		if err := s.RunMaintenance(at.now()); err != nil {
			t.Fatal(err)
		}
		logStart, next := p.Offsets()
		if logStart != test.logStart || next != 10 || p.Size() != (10-logStart)*size {
			t.Errorf("%s: [%d, %d), %d bytes; want from %d", test.name, logStart, next, p.Size(), test.logStart)
		}
		if files, _ := s.config.FS.List(p.dir()); len(files) != int(10-logStart) {
			t.Errorf("%s: files %q", test.name, files)
		}
	}
}

func TestTimestampsAgainstBruteForce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		s, at := memoryStore(t)
		p := mustCreate(t, s, "t", 1, map[string]string{
			"segment.bytes": fmt.Sprint(200 + rng.IntN(1000)), "index.interval.bytes": fmt.Sprint(rng.IntN(500)),
			"message.timestamp.type": []string{"CreateTime", "CreateTime", "LogAppendTime"}[rng.IntN(3)],
		}).Partitions[0]
		type rec struct{ offset, ts int64 }
		var all []rec
		base := at.ms.Load()
		for range rng.IntN(40) {
			b := NewBuilder([]Codec{None, Snappy, Gzip}[rng.IntN(3)])
			for i := range 1 + rng.IntN(4) {
				b.Add(int32(i), base+rng.Int64N(100), nil, make([]byte, rng.IntN(60)), nil)
			}
			at.advance(time.Duration(rng.IntN(3)) * time.Millisecond)
			batch := b.Bytes(0)
			mustAppend(t, s, p, batch)
			_ = batch.Records(func(r Record) error {
				all = append(all, rec{batch.BaseOffset() + int64(r.OffsetDelta), r.Timestamp})
				return nil
			})
		}
		_, next := p.Offsets()
		logStart, err := s.DeleteRecords(p, rng.Int64N(next+1))
		if err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(r rec) bool { return r.offset < logStart })
		largest := rec{-1, -1}
		for _, r := range all {
			if r.ts > largest.ts {
				largest = r
			}
		}
		if offset, ts, _, found, err := p.MaxTimestamp(); err != nil || offset != largest.offset || ts != largest.ts || found != (largest.offset >= 0) {
			t.Fatalf("largest %d at %d, %v; want %v", ts, offset, err, largest)
		}
		for range 20 {
			asked := base - 2 + rng.Int64N(110)
			want := rec{-1, -1}
			if i := slices.IndexFunc(all, func(r rec) bool { return r.ts >= asked }); i >= 0 {
				want = all[i]
			}
			offset, ts, _, found, err := p.OffsetForTimestamp(asked)
			if err != nil || offset != want.offset || ts != want.ts || found != (want.offset >= 0) {
				t.Fatalf("first since %d: %d at %d, %v; want %v", asked, ts, offset, err, want)
			}
		}
		s.Close()
	}
}

func TestEndOffsetForEpochAcrossStarts(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	for start := range 5 {
		s := mustOpen(t, c)
		if s.Topic("t") == nil {
			mustCreate(t, s, "t", 1, nil)
		}
		p := s.Topic("t").Partitions[0]
		if start == 1 || start == 3 { // epochs 1 and 3 have batches: [0, 2) and [2, 4)
			mustAppend(t, s, p, batchOf(1_700_000_000_000, "a"))
			mustAppend(t, s, p, batchOf(1_700_000_000_000, "b"))
		}
		if start == 4 {
			for _, want := range [][3]int64{{-1, -1, -1}, {0, 0, 0}, {1, 1, 2}, {2, 1, 2}, {3, 3, 4}, {4, 4, 4}, {5, -1, -1}} {
				if epoch, end := p.EndOffsetForEpoch(int32(want[0])); int64(epoch) != want[1] || end != want[2] {
					t.Errorf("epoch %d ends: %d, %d; want %d, %d", want[0], epoch, end, want[1], want[2])
				}
			}
			for offset, want := range map[int64]int32{0: 1, 1: 1, 2: 3, 3: 3, 4: 4} {
				if got := p.EpochAt(offset); got != want {
					t.Errorf("epoch at %d: %d, want %d", offset, got, want)
				}
			}
		}
		s.Close()
	}
}

func TestWatch(t *testing.T) {
	s, at := memoryStore(t)
	topic := mustCreate(t, s, "t", 2, nil)
	p := topic.Partitions[0]
	ch := make(chan struct{}, 1)
	p.Watch(ch)
	moved := func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	mustAppend(t, s, topic.Partitions[1], batchOf(at.ms.Load(), "a"))
	if moved() {
		t.Error("another partition woke the watcher")
	}
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	if !moved() {
		t.Error("an append did not wake the watcher")
	}
	if _, err := s.DeleteRecords(p, 1); err != nil || !moved() {
		t.Error("a trim did not wake the watcher", err)
	}
	p.Unwatch(ch)
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	if moved() {
		t.Error("woken after Unwatch")
	}
}

func TestAsyncAndClose(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	done := make(chan struct{})
	a := &Append{Partition: p, Records: batchOf(at.ms.Load(), "a")}
	s.AppendAsync(func() { close(done) }, a)
	<-done
	if a.Err != nil || a.BaseOffset != 0 {
		t.Errorf("async: %d, %v", a.BaseOffset, a.Err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	late := &Append{Partition: p, Records: batchOf(at.ms.Load(), "a")}
	done = make(chan struct{})
	s.AppendAsync(func() { close(done) }, late)
	<-done
	if s.Append(a); !errors.Is(late.Err, ErrClosed) {
		t.Errorf("after Close: %v", late.Err)
	}
	if _, err := s.NextProducerID(); !errors.Is(err, ErrClosed) {
		t.Errorf("producer id after Close: %v", err)
	}
}

func TestProducerExpiry(t *testing.T) {
	s, at := memoryStore(t)
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	mustAppend(t, s, p, sequenced(7, 0, 0, 1))
	at.advance(24*time.Hour - time.Millisecond)
	if err := s.RunMaintenance(at.now()); err != nil {
		t.Fatal(err)
	}
	retry := &Append{Partition: p, Records: sequenced(7, 0, 0, 1)}
	if s.Append(retry); !retry.Duplicate {
		t.Errorf("forgotten too early: %v", retry.Err)
	}
	at.advance(time.Millisecond)
	if err := s.RunMaintenance(at.now()); err != nil {
		t.Fatal(err)
	}
	fresh := &Append{Partition: p, Records: sequenced(7, 0, 9, 1)}
	if s.Append(fresh); fresh.Err != nil || fresh.Duplicate {
		t.Errorf("not forgotten: %v, %v", fresh.Err, fresh.Duplicate)
	}
}

func TestGroupConfigsAndProducerIDs(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	s := mustOpen(t, c)
	for _, group := range []string{"b", "a"} {
		if err := s.AlterGroupConfig(group, map[string]string{"consumer.session.timeout.ms": "1"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AlterGroupConfig("b", nil); err != nil {
		t.Fatal(err)
	}
	for want := range int64(1001) {
		if id, err := s.NextProducerID(); err != nil || id != want {
			t.Fatalf("producer id %d, %v; want %d", id, err, want)
		}
	}
	disk.HaltAt(1)
	s.Close()
	c.FS = disk.Crash(5)
	s = mustOpen(t, c)
	if groups := s.GroupsWithConfigs(); !slices.Equal(groups, []string{"a"}) || s.GroupConfigs("a")["consumer.session.timeout.ms"] != "1" {
		t.Errorf("groups %q", groups)
	}
	if id, err := s.NextProducerID(); err != nil || id != 2000 {
		t.Errorf("producer id %d, %v; want the next block", id, err)
	}
}

func TestLargeBatches(t *testing.T) {
	disk := vfs.NewCrash(1)
	c := crashConfig(disk, nil)
	s := mustOpen(t, c)
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	mustAppend(t, s, p, batchOf(1_700_000_000_000, strings.Repeat("k", 5500))) // most of a journal file
	a := &Append{Partition: p, Records: batchOf(1_700_000_000_000, strings.Repeat("k", 10000))}
	if s.Append(a); !errors.Is(a.Err, ErrMessageTooLarge) {
		t.Errorf("larger than a journal file: %v", a.Err)
	}
	var appends []*Append
	for range 30 { // together many frames, in one call
		appends = append(appends, &Append{Partition: p, Records: batchOf(1_700_000_000_000, strings.Repeat("k", 1000))})
	}
	s.Append(appends...)
	for i, a := range appends {
		if a.Err != nil || a.BaseOffset != int64(i+1) {
			t.Fatalf("batch %d: %d, %v", i, a.BaseOffset, a.Err)
		}
	}
}

// TestConcurrentAppendsAndPowerCut lets many callers share turns until the machine stops somewhere.
func TestConcurrentAppendsAndPowerCut(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 40 {
		disk := vfs.NewCrash(rng.Uint64())
		c := crashConfig(disk, nil)
		c.inline, c.JournalBytes = false, 8*65536
		s := mustOpen(t, c)
		topic := mustCreate(t, s, "t", 3, map[string]string{"segment.bytes": "2000"})
		disk.HaltAt(disk.Ops() + 20 + rng.IntN(300))
		var callers sync.WaitGroup
		acknowledged := make([]map[int64]string, 8)
		for caller := range acknowledged {
			acknowledged[caller] = map[int64]string{}
			callers.Go(func() {
				for n := int32(0); n < 2000; n++ {
					b := sequenced(int64(caller), 0, n, 1)
					a := &Append{Partition: topic.Partitions[caller%3], Records: b}
					if s.Append(a); a.Err != nil {
						return
					}
					acknowledged[caller][a.BaseOffset] = string(b)
				}
			})
		}
		callers.Wait()
		disk.HaltAt(1)
		s.Close()
		c.FS = disk.Crash(rng.Uint64())
		s = mustOpen(t, c)
		for i, p := range s.Topic("t").Partitions {
			got, err := readLog(p)
			if err != nil {
				t.Fatal(err)
			}
			next := map[int64]int32{}
			for _, b := range got {
				if id := b.ProducerID(); b.BaseSequence() != next[id] {
					t.Fatalf("producer %d: sequence %d after %d", id, b.BaseSequence(), next[id])
				}
				next[b.ProducerID()]++
			}
			for caller := range acknowledged {
				for offset, bytes := range acknowledged[caller] {
					if caller%3 == i && (offset >= int64(len(got)) || string(got[offset]) != bytes) {
						t.Fatalf("partition %d: acknowledged batch at %d is lost or changed", i, offset)
					}
				}
			}
		}
		s.Close()
	}
}

func TestReadersDoNotSeeTheFuture(t *testing.T) {
	s := mustOpen(t, Config{})
	p := mustCreate(t, s, "t", 1, map[string]string{"segment.bytes": "3000", "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "index.interval.bytes": "200"}).Partitions[0]
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, next := p.Offsets()
				offset := int64(0)
				for offset < next {
					records, err := p.Read(offset, 2000, true)
					if err != nil || len(records) == 0 {
						t.Errorf("read at %d of %d: %d bytes, %v", offset, next, len(records), err)
						return
					}
					for len(records) > 0 {
						b, rest, err := NextBatch(records)
						if err != nil || b.ComputeCRC() != b.CRC() || b.NextOffset() <= offset {
							t.Errorf("read at %d: %v", offset, err)
							return
						}
						offset, records = b.NextOffset(), rest
					}
				}
				if _, _, _, found, err := p.MaxTimestamp(); err != nil || next > 0 && !found {
					t.Errorf("largest timestamp: %v, %v", found, err)
					return
				}
			}
		})
	}
	for i := range 2000 {
		mustAppend(t, s, p, batchOf(time.Now().UnixMilli(), fmt.Sprint(i%50)))
		if i%100 == 99 {
			if err := s.RunMaintenance(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	readers.Wait()
	if len(p.segments) > 40 {
		t.Errorf("%d segments are left after compaction", len(p.segments))
	}
}

func TestWithoutSync(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for n := range 60 {
		disk := vfs.NewCrash(rng.Uint64())
		c := crashConfig(disk, nil)
		c.NoSync = true
		s := mustOpen(t, c)
		p := mustCreate(t, s, "t", 1, map[string]string{"segment.bytes": "1000"}).Partitions[0]
		var sent []string
		for range 5 + rng.IntN(100) {
			b := batchOf(1_700_000_000_000, strings.Repeat("k", 100))
			mustAppend(t, s, p, b)
			sent = append(sent, string(b))
		}
		disk.HaltAt(1)
		s.Close()
		if disk.HaltAt(0); n%2 == 0 {
			c.FS = disk.Crash(rng.Uint64())
		}
		s, err := Open(c)
		var damage *journal.DamageError
		if n%2 == 0 && errors.As(err, &damage) {
			continue // a later page survived an earlier one: the journal refuses what it cannot explain
		}
		if err != nil {
			t.Fatal(err)
		}
		topic := s.Topic("t")
		if topic == nil && n%2 == 0 {
			s.Close()
			continue // lost with the journal's end
		}
		got, err := readLog(topic.Partitions[0])
		if err != nil || n%2 == 1 && len(got) != len(sent) {
			t.Fatalf("%d of %d batches, %v", len(got), len(sent), err)
		}
		for i, b := range got {
			if string(b) != sent[i] {
				t.Fatalf("batch %d has other bytes", i)
			}
		}
		s.Close()
	}
}

func TestMaintenanceRenewsTheCheckpoint(t *testing.T) {
	at := newClock()
	c := crashConfig(vfs.NewCrash(1), nil)
	c.Now = at.now
	s := mustOpen(t, c)
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	s.mustMaintain(t, at)
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, p, batchOf(at.ms.Load(), "a"))
	at.advance(59 * time.Second)
	s.mustMaintain(t, at)
	if s.durableLSN.Load() == s.lsn {
		t.Error("renewed within a minute")
	}
	at.advance(time.Second)
	s.mustMaintain(t, at)
	if s.durableLSN.Load() != s.lsn {
		t.Error("not renewed after a minute")
	}
}
