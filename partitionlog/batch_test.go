package partitionlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var allCodecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

// testRecords is records of every shape.
func testRecords(rng *rand.Rand, n int) []Record {
	bytesOrNull := func() []byte {
		switch rng.IntN(5) {
		case 0:
			return nil
		case 1:
			return []byte{}
		}
		return bytes.Repeat([]byte{byte('a' + rng.IntN(26))}, rng.IntN(300))
	}
	records := make([]Record, n)
	for i := range records {
		r := Record{OffsetDelta: int32(i), Timestamp: 1_700_000_000_000 + int64(rng.IntN(2000)-1000), Key: bytesOrNull(), Value: bytesOrNull()}
		for range max(0, rng.IntN(4)-1) {
			r.Headers = append(r.Headers, Header{Key: []byte(fmt.Sprint(rng.IntN(100))), Value: bytesOrNull()})
		}
		records[i] = r
	}
	return records
}

func buildBatch(codec Codec, records []Record) Batch {
	b := NewBuilder(codec)
	for _, r := range records {
		b.Add(r.OffsetDelta, r.Timestamp, r.Key, r.Value, r.Headers)
	}
	return b.Bytes(0)
}

func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func sameRecord(a, b Record) bool {
	if a.OffsetDelta != b.OffsetDelta || a.Timestamp != b.Timestamp || !sameBytes(a.Key, b.Key) || !sameBytes(a.Value, b.Value) || len(a.Headers) != len(b.Headers) {
		return false
	}
	for i := range a.Headers {
		if !bytes.Equal(a.Headers[i].Key, b.Headers[i].Key) || !sameBytes(a.Headers[i].Value, b.Headers[i].Value) {
			return false
		}
	}
	return true
}

func readAll(t testing.TB, b Batch) []Record {
	t.Helper()
	var all []Record
	err := b.Records(func(r Record) error {
		r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), append([]Header(nil), r.Headers...)
		for i, h := range r.Headers {
			r.Headers[i] = Header{Key: bytes.Clone(h.Key), Value: bytes.Clone(h.Value)}
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compareRecords(t *testing.T, what string, got, want []Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d records, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !sameRecord(got[i], want[i]) {
			t.Fatalf("%s: record %d is %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

func TestBuildValidateRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, codec := range allCodecs {
		for _, n := range []int{1, 2, 100, 2000} {
			want := testRecords(rng, n)
			b := buildBatch(codec, want)
			what := fmt.Sprintf("codec=%v n=%d", codec, n)
			newest := int64(0)
			for _, r := range want {
				newest = max(newest, r.Timestamp)
			}
			ts, err := ValidateBatch(b, ClientRules(newest))
			if err != nil || ts != newest || b.MaxTimestamp() != newest || b.Codec() != codec {
				t.Fatalf("%s: newest %d, want %d, %v", what, ts, newest, err)
			}
			compareRecords(t, what, readAll(t, b), want)
		}
	}
}

// TestAgainstKmsg decodes our batches with kmsg and franz-go's decompressor, and validates what those encode.
func TestAgainstKmsg(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, codec := range allCodecs {
		want := testRecords(rng, 200)
		b := buildBatch(codec, want)
		var theirs kmsg.RecordBatch
		if err := theirs.ReadFrom(b); err != nil {
			t.Fatal(err)
		}
		if got := crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)); uint32(theirs.CRC) != got || theirs.Magic != 2 || theirs.NumRecords != 200 ||
			theirs.LastOffsetDelta != 199 || theirs.FirstTimestamp != want[0].Timestamp || theirs.ProducerID != -1 || theirs.ProducerEpoch != -1 || theirs.FirstSequence != -1 {
			t.Errorf("%v: header %+v", codec, theirs)
		}
		raw, err := kgo.DefaultDecompressor().Decompress(theirs.Records, kgo.CompressionCodecType(codec))
		if err != nil {
			t.Fatal(err)
		}
		var got []Record
		for range theirs.NumRecords {
			var r kmsg.Record
			size, n := binary.Varint(raw)
			if err := r.ReadFrom(raw[:n+int(size)]); err != nil {
				t.Fatal(err)
			}
			raw = raw[n+int(size):]
			ours := Record{OffsetDelta: r.OffsetDelta, Timestamp: theirs.FirstTimestamp + r.TimestampDelta64, Key: r.Key, Value: r.Value}
			for _, h := range r.Headers {
				ours.Headers = append(ours.Headers, Header{Key: []byte(h.Key), Value: h.Value})
			}
			got = append(got, ours)
		}
		compareRecords(t, codec.String(), got, want)
		compareRecords(t, codec.String()+" by kmsg", readAll(t, kmsgBatch(t, codec, want)), want)
	}
}

// TestForeignForms: forms of compression that other clients use.
func TestForeignForms(t *testing.T) {
	want := testRecords(rand.New(rand.NewPCG(10, 10)), 500)
	b := NewBuilder(None)
	for _, r := range want {
		b.Add(r.OffsetDelta, r.Timestamp, r.Key, r.Value, r.Headers)
	}
	var level22 bytes.Buffer
	w, err := zstd.NewWriter(&level22, zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b.records); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	half := len(b.records) / 2
	var twoFrames []byte
	for _, part := range [][]byte{b.records[:half], b.records[half:]} {
		twoFrames = compress(twoFrames, part, Gzip)
	}
	for what, test := range map[string]struct {
		codec   Codec
		records []byte
	}{
		"raw snappy":      {Snappy, s2.EncodeSnappy(nil, b.records)},
		"xerial snappy":   {Snappy, appendXerial(nil, b.records)},
		"zstd, level 22":  {Zstd, level22.Bytes()},
		"two gzip frames": {Gzip, twoFrames},
	} {
		batch := b.Bytes(0)
		batch = append(batch[:batchOverhead:batchOverhead], test.records...)
		binary.BigEndian.PutUint32(batch[lengthAt:], uint32(len(batch)-logOverhead))
		binary.BigEndian.PutUint16(batch[attributesAt:], uint16(test.codec))
		batch.setCRC()
		if _, err := ValidateBatch(batch, ClientRules(batch.MaxTimestamp())); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		compareRecords(t, what, readAll(t, batch), want)
	}
	if _, err := decompress(nil, level22.Bytes(), Zstd, 1000); !errors.Is(err, ErrMessageTooLarge) {
		t.Errorf("zstd with a large window over the limit: %v", err)
	}
}

// kmsgBatch encodes with kmsg and franz-go's compressors alone.
func kmsgBatch(t *testing.T, codec Codec, records []Record) Batch {
	t.Helper()
	var raw []byte
	base := records[0].Timestamp
	for _, r := range records {
		k := kmsg.Record{TimestampDelta64: r.Timestamp - base, OffsetDelta: r.OffsetDelta, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			k.Headers = append(k.Headers, kmsg.Header{Key: string(h.Key), Value: h.Value})
		}
		k.Length = int32(len(k.AppendTo(nil)) - 1) // one byte for a length of zero
		raw = k.AppendTo(raw)
	}
	codecs := map[Codec]kgo.CompressionCodec{Gzip: kgo.GzipCompression(), Snappy: kgo.SnappyCompression(), LZ4: kgo.Lz4Compression(), Zstd: kgo.ZstdCompression()}
	if c, ok := codecs[codec]; ok {
		compressor, err := kgo.DefaultCompressor(c)
		if err != nil {
			t.Fatal(err)
		}
		out, used := compressor.Compress(new(bytes.Buffer), raw)
		if used != kgo.CompressionCodecType(codec) {
			t.Fatalf("compressed with %d", used)
		}
		raw = out
	}
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: int16(codec), LastOffsetDelta: int32(len(records) - 1), FirstTimestamp: base,
		MaxTimestamp: base, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(records)), Records: raw, PartitionLeaderEpoch: -1,
	}
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	batch := Batch(b.AppendTo(nil))
	batch.setCRC()
	if _, err := ValidateBatch(batch, ClientRules(base)); err != nil {
		t.Fatalf("%v: %v", codec, err)
	}
	return batch
}

func TestNextBatch(t *testing.T) {
	a, b := buildBatch(None, testRecords(rand.New(rand.NewPCG(3, 3)), 3)), buildBatch(Gzip, testRecords(rand.New(rand.NewPCG(3, 4)), 3))
	both := append(bytes.Clone(a), b...)
	first, rest, err := NextBatch(both)
	if err != nil || !bytes.Equal(first, a) || !bytes.Equal(rest, b) || cap(first) != len(first) {
		t.Errorf("%d bytes, %d left, %v", len(first), len(rest), err)
	}
	for size := range len(a) {
		if _, _, err := NextBatch(a[:size]); !errors.Is(err, ErrCorruptBatch) {
			t.Fatalf("%d of %d bytes: %v", size, len(a), err)
		}
	}
	for magic, want := range map[int8]error{0: ErrUnsupportedMagic, 1: ErrUnsupportedMagic, 3: ErrCorruptBatch, -1: ErrCorruptBatch} {
		c := bytes.Clone(a)
		c[magicAt] = byte(magic)
		if _, _, err := NextBatch(c); !errors.Is(err, want) {
			t.Errorf("magic %d: %v", magic, err)
		}
	}
	for _, length := range []int32{math.MinInt32, -1, 0, 48, math.MaxInt32} {
		c := bytes.Clone(a)
		binary.BigEndian.PutUint32(c[lengthAt:], uint32(length))
		if _, _, err := NextBatch(c); !errors.Is(err, ErrCorruptBatch) {
			t.Errorf("length %d: %v", length, err)
		}
	}
}

func TestHeaderFields(t *testing.T) {
	b := buildBatch(LZ4, testRecords(rand.New(rand.NewPCG(4, 4)), 5))
	b.SetBaseOffset(1 << 40)
	b.SetLeaderEpoch(77)
	if b.BaseOffset() != 1<<40 || b.LastOffset() != 1<<40+4 || b.NextOffset() != 1<<40+5 || b.LeaderEpoch() != 77 || int(b.Length())+12 != len(b) {
		t.Error("a field did not come back")
	}
	if b.CRC() != b.ComputeCRC() {
		t.Error("the CRC depends on base offset or leader epoch")
	}
	b.SetMaxTimestamp(LogAppendTime, 99)
	if b.TimestampType() != LogAppendTime || b.MaxTimestamp() != 99 || b.CRC() != b.ComputeCRC() || b.Codec() != LZ4 {
		t.Error("the time of the append was not set")
	}
	for _, r := range readAll(t, b) {
		if r.Timestamp != 99 {
			t.Errorf("record %d has timestamp %d", r.OffsetDelta, r.Timestamp)
		}
	}
	b.SetMaxTimestamp(CreateTime, 98)
	if b.TimestampType() != CreateTime || b.CRC() != b.ComputeCRC() {
		t.Error("the timestamp type was not set back")
	}
	binary.BigEndian.PutUint32(b[baseSequenceAt:], math.MaxInt32-1)
	if got := b.LastSequence(); got != 2 {
		t.Errorf("last sequence %d", got)
	}
}

func TestRewriteBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, codec := range allCodecs {
		in := NewBuilder(codec)
		in.LeaderEpoch, in.ProducerID, in.ProducerEpoch, in.BaseSequence, in.Transactional = 3, 12, 4, 100, true
		records := testRecords(rng, 10)
		for _, r := range records {
			in.Add(r.OffsetDelta, r.Timestamp, r.Key, r.Value, r.Headers)
		}
		b := in.Bytes(1000)
		var want []Record
		newest := int64(0)
		for _, r := range records[2:8] {
			if r.OffsetDelta%2 == 0 {
				want = append(want, r)
				newest = max(newest, r.Timestamp)
			}
		}
		keep := func(r Record) bool { return r.OffsetDelta >= 2 && r.OffsetDelta < 8 && r.OffsetDelta%2 == 0 }
		out, kept, err := RewriteBatch(b, KeepHorizon, keep)
		if err != nil || kept != 3 {
			t.Fatal(kept, err)
		}
		compareRecords(t, codec.String(), readAll(t, out), want)
		if out.BaseOffset() != 1000 || out.LastOffset() != 1009 || out.LeaderEpoch() != 3 || out.ProducerID() != 12 || out.ProducerEpoch() != 4 ||
			out.BaseSequence() != 100 || out.LastSequence() != 109 || !out.IsTransactional() || out.Codec() != codec || out.MaxTimestamp() != newest {
			t.Errorf("%v: %x", codec, out[:batchOverhead])
		}
		if _, err := ValidateBatch(out, BatchRules{Coordinator: true, Now: newest, BeforeMax: math.MaxInt64}); err != nil {
			t.Errorf("%v: %v", codec, err)
		}
		all, kept, err := RewriteBatch(b, KeepHorizon, func(Record) bool { return true })
		if err != nil || kept != 10 || &all[0] != &b[0] {
			t.Errorf("%v: keeping all made a new batch, %v", codec, err)
		}
		none, kept, err := RewriteBatch(b, KeepHorizon, func(Record) bool { return false })
		if err != nil || kept != 0 || none.NumRecords() != 0 || none.LastOffset() != 1009 || none.LastSequence() != 109 || len(none) != batchOverhead || none.CRC() != none.ComputeCRC() {
			t.Errorf("%v: empty batch %x, %v", codec, none, err)
		}
		if got := readAll(t, none); len(got) != 0 {
			t.Errorf("%v: records of an empty batch: %v", codec, got)
		}
	}
}

func TestRewriteDeleteHorizon(t *testing.T) {
	records := testRecords(rand.New(rand.NewPCG(6, 6)), 4)
	b := buildBatch(None, records)
	if _, ok := b.DeleteHorizon(); ok {
		t.Error("a fresh batch has a delete horizon")
	}
	all := func(Record) bool { return true }
	out, _, err := RewriteBatch(b, 123456, all)
	if ms, ok := out.DeleteHorizon(); err != nil || !ok || ms != 123456 {
		t.Fatalf("delete horizon %d, %v", ms, err)
	}
	compareRecords(t, "with horizon", readAll(t, out), records)
	again, _, err := RewriteBatch(out, 999, func(r Record) bool { return r.OffsetDelta != 1 })
	if ms, ok := again.DeleteHorizon(); err != nil || !ok || ms != 123456 {
		t.Errorf("the horizon moved to %d, %v", ms, err)
	}
	compareRecords(t, "rewritten with horizon", readAll(t, again), append(records[:1:1], records[2:]...))
	stamped := buildBatch(Zstd, records)
	stamped.SetMaxTimestamp(LogAppendTime, 5000)
	out, _, err = RewriteBatch(stamped, KeepHorizon, func(r Record) bool { return r.OffsetDelta == 2 })
	if err != nil || out.TimestampType() != LogAppendTime || out.MaxTimestamp() != 5000 || readAll(t, out)[0].Timestamp != 5000 {
		t.Errorf("the time of the append was lost, %v", err)
	}
}

func TestBuilderReset(t *testing.T) {
	b := NewBuilder(Gzip)
	b.ProducerID = 5
	b.Add(0, 1, []byte("k"), nil, nil)
	first := b.Bytes(0)
	size := b.Size()
	b.Reset()
	if b.Len() != 0 || b.ProducerID != NoProducerID || b.Size() >= size {
		t.Error("reset left something")
	}
	b.Add(0, 2, []byte("other"), []byte("v"), nil)
	second := b.Bytes(7)
	if string(readAll(t, first)[0].Key) != "k" || string(readAll(t, second)[0].Key) != "other" || second.BaseOffset() != 7 {
		t.Error("batches share memory")
	}
	defer func() {
		if recover() == nil {
			t.Error("offset deltas may go back")
		}
	}()
	b.Add(0, 2, nil, nil, nil)
}
