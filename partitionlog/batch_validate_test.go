package partitionlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// rebuilt returns a batch around raw records.
func rebuilt(codec Codec, count int32, records []byte) Batch {
	b := NewBuilder(codec)
	b.records, b.count, b.last = records, count, count-1
	return b.Bytes(0)
}

// record is one encoded record, with its fields given raw.
func record(fields ...[]byte) []byte {
	body := append([]byte{0}, bytes.Join(fields, nil)...)
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

func num(v int64) []byte { return binary.AppendVarint(nil, v) }

func str(s string) []byte { return append(num(int64(len(s))), s...) }

func TestValidateRefuses(t *testing.T) {
	good := record(num(0), num(0), str("k"), str("v"), num(0))
	put32 := func(at int, v int32) func(Batch) {
		return func(b Batch) { binary.BigEndian.PutUint32(b[at:], uint32(v)) }
	}
	attributes := func(v uint16) func(Batch) {
		return func(b Batch) { binary.BigEndian.PutUint16(b[attributesAt:], v) }
	}
	const now = 1_000_000
	rules := ClientRules(now)
	rules.BeforeMax, rules.AfterMax = 1000, 500
	at := func(ts int64) []byte { return record(num(ts), num(0), str("k"), str("v"), num(0)) }
	tests := []struct {
		name   string
		count  int32
		record []byte
		change func(Batch)
		rules  func(*BatchRules)
		want   error
	}{
		{"good", 1, at(now), nil, nil, nil},
		{"no timestamp", 1, at(-1), nil, nil, nil},
		{"oldest", 1, at(now - 1000), nil, nil, nil},
		{"too old", 1, at(now - 1001), nil, nil, ErrInvalidTimestamp},
		{"newest", 1, at(now + 500), nil, nil, nil},
		{"too new", 1, at(now + 501), nil, nil, ErrInvalidTimestamp},
		{"too new for create time only", 1, at(now + 501), nil, func(r *BatchRules) { r.Timestamp = LogAppendTime }, nil},
		{"claims append time", 1, at(now), attributes(logAppendTimeFlag), nil, ErrInvalidTimestamp},
		{"control", 1, at(now), attributes(controlFlag), nil, ErrInvalidRecord},
		{"control by the coordinator", 1, at(now), attributes(controlFlag), func(r *BatchRules) { r.Coordinator = true }, nil},
		{"transactional", 1, at(now), attributes(transactionalFlag), nil, nil},
		{"transactional, refused", 1, at(now), attributes(transactionalFlag), func(r *BatchRules) { r.RefuseTransactional = true }, ErrInvalidRecord},
		{"codec 5", 1, at(now), attributes(5), nil, ErrUnsupportedCodec},
		{"zstd too early", 1, at(now), attributes(4), func(r *BatchRules) { r.RefuseZstd = true }, ErrUnsupportedCodec},
		{"not gzip", 1, at(now), attributes(1), nil, ErrInvalidRecord},
		{"not snappy", 1, at(now), attributes(2), nil, ErrInvalidRecord},
		{"not lz4", 1, at(now), attributes(3), nil, ErrInvalidRecord},
		{"not zstd", 1, at(now), attributes(4), nil, ErrInvalidRecord},
		{"base offset", 1, at(now), func(b Batch) { b.SetBaseOffset(1) }, nil, ErrInvalidRecord},
		{"no records", 0, nil, put32(lastOffsetDeltaAt, 0), nil, ErrInvalidRecord},
		{"count and delta differ", 1, at(now), put32(lastOffsetDeltaAt, 1), nil, ErrInvalidRecord},
		{"negative count", 1, at(now), put32(recordsCountAt, -1), nil, ErrInvalidRecord},
		{"negative delta", 1, at(now), put32(lastOffsetDeltaAt, -1), nil, ErrInvalidRecord},
		{"huge delta", 1, at(now), put32(lastOffsetDeltaAt, math.MaxInt32), nil, ErrInvalidRecord},
		{"producer without sequence", 1, at(now), func(b Batch) { binary.BigEndian.PutUint64(b[producerIDAt:], 0) }, nil, ErrInvalidRecord},
		{"too large", 1, at(now), nil, func(r *BatchRules) { r.MaxBytes = 10 }, ErrMessageTooLarge},
		{"key in a compacted topic", 1, at(now), nil, func(r *BatchRules) { r.Compacted = true }, nil},
		{"null key", 1, record(num(now), num(0), num(-1), str("v"), num(0)), nil, nil, nil},
		{"null key in a compacted topic", 1, record(num(now), num(0), num(-1), str("v"), num(0)), nil, func(r *BatchRules) { r.Compacted = true }, ErrInvalidRecord},
		{"offsets with a hole", 2, append(at(now), record(num(now), num(2), str("k"), str("v"), num(0))...), nil, nil, ErrInvalidRecord},
		{"fewer records than counted", 2, at(now), nil, nil, ErrInvalidRecord},
		{"more records than counted", 1, append(at(now), good...), nil, nil, ErrInvalidRecord},
		{"headers", 1, record(num(now), num(0), num(-1), num(-1), num(2), str("h"), num(-1), str(""), str("x")), nil, nil, nil},
		{"header with null key", 1, record(num(now), num(0), num(-1), num(-1), num(1), num(-1), num(-1)), nil, nil, ErrInvalidRecord},
		{"too many headers", 1, record(num(now), num(0), num(-1), num(-1), num(1<<30)), nil, nil, ErrInvalidRecord},
		{"negative headers", 1, record(num(now), num(0), num(-1), num(-1), num(-1)), nil, nil, ErrInvalidRecord},
		{"header cut off", 1, record(num(now), num(0), num(-1), num(-1), num(1), num(5), []byte("h")), nil, nil, ErrInvalidRecord},
		{"key too long", 1, record(num(now), num(0), num(100), num(0)), nil, nil, ErrInvalidRecord},
		{"value too long", 1, record(num(now), num(0), num(0), num(100)), nil, nil, ErrInvalidRecord},
		{"bytes behind the fields", 1, record(num(now), num(0), num(0), num(0), num(0), []byte{1}), nil, nil, ErrInvalidRecord},
		{"endless number", 1, record(bytes.Repeat([]byte{0xff}, 11)), nil, nil, ErrInvalidRecord},
		{"number of 33 bits", 1, record(num(now), num(1<<33), num(0), num(0), num(0)), nil, nil, ErrInvalidRecord},
		{"record of no size", 1, []byte{0}, nil, nil, ErrInvalidRecord},
		{"record of negative size", 1, []byte{1}, nil, nil, ErrInvalidRecord},
	}
	for _, test := range tests {
		b := rebuilt(None, test.count, test.record)
		if test.change != nil {
			test.change(b)
			b.setCRC()
		}
		r := rules
		if test.rules != nil {
			test.rules(&r)
		}
		if _, err := ValidateBatch(b, r); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

func TestValidateFraming(t *testing.T) {
	b := buildBatch(None, testRecords(rand.New(rand.NewPCG(7, 7)), 3))
	rules := ClientRules(math.MaxInt64 / 2)
	for what, test := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":          {nil, ErrInvalidRecord},
		"cut off":          {b[:len(b)-1], ErrCorruptBatch},
		"two batches":      {append(bytes.Clone(b), b...), ErrInvalidRecord},
		"a byte too much":  {append(bytes.Clone(b), 0), ErrInvalidRecord},
		"only the header":  {b[:batchOverhead], ErrCorruptBatch},
		"less than length": {b[:10], ErrCorruptBatch},
	} {
		if _, err := ValidateBatch(test.b, rules); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := attributesAt; i < len(b); i++ {
		c := bytes.Clone(b)
		c[i] ^= 0x80
		if _, err := ValidateBatch(c, rules); err == nil {
			t.Fatalf("byte %d may be flipped", i)
		}
	}
}

// TestBombs: what decompresses to gigabytes is refused without memory for it.
func TestBombs(t *testing.T) {
	const size = 1 << 30
	zeros := io.LimitReader(zeroReader{}, size)
	var z, g bytes.Buffer
	zw, err := zstd.NewWriter(&z, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(zw, zeros); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	gw := gzip.NewWriter(&g)
	if _, err := io.Copy(gw, io.LimitReader(zeroReader{}, size/16)); err != nil {
		t.Fatal(err)
	}
	if err := gw.Close(); err != nil {
		t.Fatal(err)
	}
	var snappy []byte
	snappy = append(binary.AppendUvarint(snappy, math.MaxUint32), 0)
	for codec, bomb := range map[Codec][]byte{Zstd: z.Bytes(), Gzip: g.Bytes(), Snappy: snappy} {
		b := rebuilt(None, 1, bomb)
		binary.BigEndian.PutUint16(b[attributesAt:], uint16(codec))
		b.setCRC()
		rules := ClientRules(0)
		rules.MaxDecompressed = 1 << 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ValidateBatch(b, rules)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrMessageTooLarge) || grown > 24<<20 {
			t.Errorf("%v bomb of %d bytes: %v, %d bytes allocated", codec, len(bomb), err, grown)
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestValidateDoesNotAllocate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, codec := range allCodecs {
		b := buildBatch(codec, testRecords(rng, 100))
		rules := ClientRules(b.MaxTimestamp())
		n := testing.AllocsPerRun(100, func() {
			if _, err := ValidateBatch(b, rules); err != nil {
				t.Fatal(err)
			}
		})
		// Decompressors make a few small objects; none allocates by the size of the batch.
		if permitted := map[bool]float64{true: 0, false: 12}[codec == None]; n > permitted {
			t.Errorf("%v: %v allocations", codec, n)
		}
	}
}

func FuzzBatch(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, codec := range allCodecs {
		f.Add([]byte(buildBatch(codec, testRecords(rng, 5))), true)
	}
	f.Add([]byte(rebuilt(None, 1, record(num(0), num(0), num(-1), num(-1), num(1<<30)))), true)
	f.Fuzz(func(t *testing.T, b []byte, fix bool) {
		batch, _, err := NextBatch(b)
		if err != nil {
			return
		}
		batch = bytes.Clone(batch)
		if fix {
			batch.setCRC()
		}
		rules := ClientRules(0)
		rules.MaxDecompressed = 1 << 20
		rules.Coordinator = batch.BaseOffset() != 0
		_, err = ValidateBatch(batch, rules)
		n := int32(0)
		readErr := batch.Records(func(r Record) error {
			if n++; len(r.Key)+len(r.Value) > DefaultMaxDecompressed {
				t.Error("a record is larger than the bound")
			}
			return nil
		})
		if err == nil && (readErr != nil || n != batch.NumRecords()) {
			t.Errorf("a valid batch has %d records, %d were read, %v", batch.NumRecords(), n, readErr)
		}
		if _, _, err := RewriteBatch(batch, KeepHorizon, func(r Record) bool { return len(r.Key) > 0 }); err == nil && readErr != nil {
			t.Errorf("rewritten, but not read: %v", readErr)
		}
	})
}

func BenchmarkValidateBatch(b *testing.B) {
	for _, codec := range allCodecs {
		b.Run("codec="+codec.String()+"/records=100/bytes=100", func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			in := NewBuilder(codec)
			for i := range int32(100) {
				value := make([]byte, 100)
				for k := range value {
					value[k] = byte('a' + rng.IntN(26))
				}
				in.Add(i, 1000, value[:8], value, nil)
			}
			batch := in.Bytes(0)
			rules := ClientRules(1000)
			b.SetBytes(int64(in.Size()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ValidateBatch(batch, rules); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
