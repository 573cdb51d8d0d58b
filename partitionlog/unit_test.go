package partitionlog

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sequenced builds a batch of an idempotent producer.
func sequenced(id int64, epoch int16, first int32, records int) Batch {
	b := NewBuilder(None)
	b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, epoch, first
	for i := range records {
		b.Add(int32(i), 1_700_000_000_000, []byte("k"), []byte("v"), nil)
	}
	return b.Bytes(0)
}

func TestProducers(t *testing.T) {
	type sent struct {
		epoch     int16
		first     int32
		records   int
		err       error
		duplicate bool
	}
	tests := []struct {
		name string
		sent []sent
	}{
		{"in sequence", []sent{{0, 0, 3, nil, false}, {0, 3, 1, nil, false}, {0, 4, 2, nil, false}}},
		{"unknown producers begin anywhere", []sent{{3, 17, 2, nil, false}, {3, 19, 1, nil, false}}},
		{"retry of the last", []sent{{0, 0, 3, nil, false}, {0, 0, 3, nil, true}, {0, 3, 1, nil, false}}},
		{"retry of five back", []sent{{0, 0, 1, nil, false}, {0, 1, 1, nil, false}, {0, 2, 1, nil, false}, {0, 3, 1, nil, false}, {0, 4, 1, nil, false}, {0, 0, 1, nil, true}}},
		{"retry of six back", []sent{
			{0, 0, 1, nil, false},
			{0, 1, 1, nil, false},
			{0, 2, 1, nil, false},
			{0, 3, 1, nil, false},
			{0, 4, 1, nil, false},
			{0, 5, 1, nil, false},
			{0, 0, 1, ErrOutOfOrderSequence, false},
		}},
		{"retry with another length", []sent{{0, 0, 3, nil, false}, {0, 0, 2, ErrOutOfOrderSequence, false}}},
		{"gap", []sent{{0, 0, 3, nil, false}, {0, 4, 1, ErrOutOfOrderSequence, false}, {0, 3, 1, nil, false}}},
		{"new epoch from zero", []sent{{0, 7, 3, nil, false}, {1, 0, 1, nil, false}, {1, 1, 1, nil, false}}},
		{"new epoch from elsewhere", []sent{{0, 0, 3, nil, false}, {1, 3, 1, ErrOutOfOrderSequence, false}}},
		{"old epoch", []sent{{4, 0, 1, nil, false}, {3, 1, 1, ErrInvalidProducerEpoch, false}}},
		{"retry of an old epoch", []sent{{4, 0, 1, nil, false}, {5, 0, 1, nil, false}, {4, 0, 1, ErrInvalidProducerEpoch, false}}},
		{"wrap to zero", []sent{{0, math.MaxInt32 - 1, 2, nil, false}, {0, 0, 1, nil, false}, {0, math.MaxInt32 - 1, 2, nil, true}}},
		{"wrap within a batch", []sent{{0, math.MaxInt32 - 1, 4, nil, false}, {0, 2, 1, nil, false}, {0, math.MaxInt32 - 1, 4, nil, true}}},
		{"no wrap to one", []sent{{0, math.MaxInt32, 1, nil, false}, {0, 1, 1, ErrOutOfOrderSequence, false}}},
	}
	for _, test := range tests {
		for _, applied := range []bool{false, true} { // all in one turn, or a turn each
			var p producers
			offset := int64(100)
			offsets := map[int32]int64{}
			for i, s := range test.sent {
				b := sequenced(7, s.epoch, s.first, s.records)
				b.SetBaseOffset(offset)
				original, duplicate, err := p.stage(b)
				if !errors.Is(err, s.err) || duplicate != s.duplicate {
					t.Errorf("%s, batch %d: duplicate %v, %v; want %v, %v", test.name, i, duplicate, err, s.duplicate, s.err)
				}
				if duplicate && original != offsets[s.first] {
					t.Errorf("%s, batch %d: duplicate of %d, want %d", test.name, i, original, offsets[s.first])
				}
				if err == nil && !duplicate {
					offsets[s.first] = offset
					offset += int64(s.records)
					if applied {
						p.apply(b, 1)
					}
				}
				if applied {
					p.unstage()
				}
			}
			if p.unstage(); !applied && len(p.known) > 0 {
				t.Errorf("%s: staged batches became known", test.name)
			}
		}
	}
}

func TestProducerForgottenAndBack(t *testing.T) {
	var p producers
	p.apply(sequenced(7, 0, 0, 3), 1000)
	p.apply(sequenced(8, 0, 0, 3), 2000)
	if !p.expire(1000) || len(p.known) != 1 {
		t.Fatalf("%d producers after expiry, want the newer one", len(p.known))
	}
	// A recovery that never forgot must accept what was accepted after the expiry, and then agree about duplicates.
	var replayed producers
	replayed.apply(sequenced(7, 0, 0, 3), 1000)
	for _, live := range []*producers{&p, &replayed} {
		live.apply(sequenced(7, 0, 50, 1), 3000)
	}
	if !reflect.DeepEqual(p.known[7], replayed.known[7]) {
		t.Errorf("live %v, replayed %v", p.known[7], replayed.known[7])
	}
}

func TestEpochs(t *testing.T) {
	var e epochs
	for _, s := range []epochStart{{0, 0}, {0, 5}, {2, 10}, {2, 15}, {5, 20}} {
		e = e.assign(s.epoch, s.start)
	}
	if want := (epochs{{0, 0}, {2, 10}, {5, 20}}); !slices.Equal(e, want) {
		t.Fatalf("epochs %v, want %v", e, want)
	}
	for _, test := range []struct{ asked, epoch, end int64 }{
		{-1, -1, -1}, {0, 0, 10}, {1, 0, 10}, {2, 2, 20}, {4, 2, 20}, {5, 5, 33}, {6, -1, -1},
	} {
		if epoch, end := e.end(int32(test.asked), 33); int64(epoch) != test.epoch || end != test.end {
			t.Errorf("end of epoch %d: %d, %d; want %d, %d", test.asked, epoch, end, test.epoch, test.end)
		}
	}
	trimmed := e.trim(12)
	if want := (epochs{{2, 12}, {5, 20}}); !slices.Equal(trimmed, want) {
		t.Errorf("trimmed to 12: %v, want %v", trimmed, want)
	}
	if epoch, end := trimmed.end(0, 33); epoch != 0 || end != 12 {
		t.Errorf("end of epoch 0 after the trim: %d, %d; want 0, 12", epoch, end)
	}
	for offset, want := range map[int64]int32{11: -1, 12: 2, 19: 2, 20: 5} {
		if got := trimmed.at(offset); got != want {
			t.Errorf("epoch at %d: %d, want %d", offset, got, want)
		}
	}
	if emptied := e.trim(40).assign(7, 40); !slices.Equal(emptied, epochs{{7, 40}}) {
		t.Errorf("epoch without a batch stays: %v", emptied)
	}
	if !slices.Equal(e, epochs{{0, 0}, {2, 10}, {5, 20}}) {
		t.Errorf("trim or assign wrote into what a reader may hold: %v", e)
	}
}

func TestSegmentNames(t *testing.T) {
	for name, want := range map[string][2]int64{
		"00000000000000000000.log": {0, 0}, "00000000000000001234.log": {1234, 0}, "00000000000000001234.7.log": {1234, 7},
	} {
		base, generation, ok := parseSegmentName(name)
		if !ok || base != want[0] || generation != want[1] || segmentName(base, generation) != name {
			t.Errorf("%s: %d, %d, %v", name, base, generation, ok)
		}
	}
	for _, name := range []string{"", ".log", "1234.log", "00000000000000001234.index", "00000000000000001234.0.log", "00000000000000001234.x.log", "-0000000000000001234.log"} {
		if _, _, ok := parseSegmentName(name); ok {
			t.Errorf("%q is taken for a segment", name)
		}
	}
}

func TestTopicConfig(t *testing.T) {
	c, err := ParseTopicConfig(DefaultTopicConfig(), map[string]string{
		"cleanup.policy": " compact , delete", "segment.bytes": "1000", "retention.ms": "-1", "min.cleanable.dirty.ratio": "0.25",
		"message.timestamp.type": "LogAppendTime", "compression.type": "zstd", "max.message.bytes": "77", "preallocate": "TRUE",
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"cleanup.policy": "compact,delete", "segment.bytes": "1000", "retention.ms": "-1", "min.cleanable.dirty.ratio": "0.25",
		"message.timestamp.type": "LogAppendTime", "compression.type": "zstd", "max.message.bytes": "77", "preallocate": "true",
		"segment.ms": "604800000", "retention.bytes": "-1", "max.compaction.lag.ms": "9223372036854775807",
	} {
		if got, ok := c.Value(name); !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, value := range map[string]string{
		"cleanup.policy": "shred", "segment.bytes": "13", "retention.ms": "-2", "min.cleanable.dirty.ratio": "1.5",
		"message.timestamp.type": "createtime", "compression.type": "rar", "max.message.bytes": "a lot", "preallocate": "maybe",
		"segment.ms": "0", "no.such.thing": "1", "index.interval.bytes": "2147483648", "max.compaction.lag.ms": "0",
	} {
		_, err := ParseTopicConfig(DefaultTopicConfig(), map[string]string{name: value})
		var wrong *ConfigError
		if !errors.As(err, &wrong) || wrong.Name != name || wrong.Value != value {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if _, err := ParseTopicConfig(DefaultTopicConfig(), map[string]string{"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}); err == nil {
		t.Error("a lag above its maximum is accepted")
	}
	names := []string{}
	for _, p := range TopicProperties() {
		names = append(names, p.Name)
		value, _ := DefaultTopicConfig().Value(p.Name)
		if back, err := ParseTopicConfig(TopicConfig{MaxCompactionLagMs: math.MaxInt64}, map[string]string{p.Name: value}); err != nil {
			t.Errorf("default %s=%s is refused: %v", p.Name, value, err)
		} else if again, _ := back.Value(p.Name); again != value {
			t.Errorf("%s=%s comes back as %s", p.Name, value, again)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("properties are not in order: %q", names)
	}
}

func TestTopicNames(t *testing.T) {
	for name, valid := range map[string]bool{
		"orders": true, "a.b_c-D9": true, "__consumer_offsets": true, strings.Repeat("x", 249): true,
		"": false, ".": false, "..": false, "a/b": false, "a b": false, "ü": false, strings.Repeat("x", 250): false,
	} {
		if err := checkTopicName(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestEntriesRoundTrip(t *testing.T) {
	id := [16]byte{1, 2, 3}
	p := &Partition{id: id, index: 300}
	var e encoder
	e.append(p, batchOf(1, "a"))
	e.trim(p, 1<<40)
	e.createTopic(id, TopicSpec{Name: "t", Partitions: 50, Overrides: map[string]string{"b": "2", "a": "1"}, Internal: true})
	e.createPartitions(id, 60)
	e.topicConfig(id, nil)
	e.groupConfig("g", map[string]string{"k": "v"})
	e.topicStep(entryBeginDelete, id)
	e.topicStep(entryFinishDelete, id)
	e.leaderEpoch(9)
	e.producerIDs(5000)
	want := []entry{
		{kind: entryAppend, id: id, partition: 300, batch: batchOf(1, "a")},
		{kind: entryTrim, id: id, partition: 300, number: 1 << 40},
		{kind: entryCreateTopic, id: id, name: "t", number: 50, internal: true, overrides: map[string]string{"b": "2", "a": "1"}},
		{kind: entryCreatePartitions, id: id, number: 60},
		{kind: entryTopicConfig, id: id},
		{kind: entryGroupConfig, name: "g", overrides: map[string]string{"k": "v"}},
		{kind: entryBeginDelete, id: id},
		{kind: entryFinishDelete, id: id},
		{kind: entryLeaderEpoch, number: 9},
		{kind: entryProducerIDs, number: 5000},
	}
	d := decoder{b: e.b}
	for i, w := range want {
		got, err := d.entry()
		if err != nil || !reflect.DeepEqual(got, w) {
			t.Fatalf("entry %d: %+v, %v; want %+v", i, got, err, w)
		}
	}
	if len(d.b) > 0 {
		t.Errorf("%d bytes are left", len(d.b))
	}
	for n := range e.b { // every prefix ends in an error or at the end of an entry, never in a panic
		d := decoder{b: e.b[:n]}
		for d.err == nil && len(d.b) > 0 {
			if _, err := d.entry(); err != nil {
				break
			}
		}
	}
	if _, err := (&decoder{b: []byte{99}}).entry(); !errors.Is(err, ErrDamaged) {
		t.Errorf("unknown kind: %v", err)
	}
}
