package partitionlog

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Record is one record of a batch. Key and Value are nil for null.
//
// Owner: the bytes and Headers are valid only within the call that hands the record out.
type Record struct {
	OffsetDelta int32
	Timestamp   int64 // ms
	Key, Value  []byte
	Headers     []Header
}

// Header is a record's header. Value is nil for null.
type Header struct{ Key, Value []byte }

// Records calls fn with every record in order, until fn returns an error, which is then returned.
//
// Errors: ErrInvalidRecord, ErrUnsupportedCodec, ErrMessageTooLarge (over DefaultMaxDecompressed), or fn's.
func (b Batch) Records(fn func(Record) error) error {
	records, err := openRecords(b, DefaultMaxDecompressed)
	if err != nil {
		return err
	}
	defer records.release()
	in := recordReader{b: records.bytes}
	base, logAppendTime := b.BaseTimestamp(), b.TimestampType() == LogAppendTime
	last := int32(-1)
	var headers []Header
	for n := b.NumRecords(); n > 0; n-- {
		rec, err := in.next(base, headers)
		if err != nil {
			return err
		}
		if err := checkOffsetDelta(b, last, rec.OffsetDelta); err != nil {
			return err
		}
		last = rec.OffsetDelta
		if logAppendTime {
			rec.Timestamp = b.MaxTimestamp()
		}
		if rec.Headers != nil {
			headers = rec.Headers
		}
		if err := fn(rec); err != nil {
			return err
		}
	}
	if len(in.b) > 0 {
		return fmt.Errorf("%w: %d bytes are left behind the last record", ErrInvalidRecord, len(in.b))
	}
	return nil
}

// checkOffsetDelta wants offsets that increase and lie within the batch.
func checkOffsetDelta(b Batch, before, delta int32) error {
	if delta <= before || delta > b.LastOffsetDelta() {
		return fmt.Errorf("%w: offset delta %d follows %d, the last is %d", ErrInvalidRecord, delta, before, b.LastOffsetDelta())
	}
	return nil
}

// checkRecords walks the records without keeping anything.
//
// Deviation: a client's offset deltas must be 0, 1, 2 and so on. Kafka renumbers the records of a compressed batch
// where they are not, by compressing it again, and does not look at those of an uncompressed one.
func checkRecords(b Batch, records []byte, r *BatchRules) (maxTimestamp int64, err error) {
	maxTimestamp = NoTimestamp
	base, count := b.BaseTimestamp(), b.NumRecords()
	checkTime := r.Timestamp == CreateTime
	last := int32(-1)
	for i := range count {
		rec, rest, err := scanRecord(records)
		if err != nil {
			return NoTimestamp, fmt.Errorf("record %d: %w", i, err)
		}
		records = rest
		if r.Coordinator {
			if err := checkOffsetDelta(b, last, rec.offsetDelta); err != nil {
				return NoTimestamp, err
			}
			last = rec.offsetDelta
		} else if rec.offsetDelta != i {
			return NoTimestamp, fmt.Errorf("%w: record %d has offset delta %d; number a batch's records from 0 without holes", ErrInvalidRecord, i, rec.offsetDelta)
		}
		if r.Compacted && rec.keyLen < 0 && !b.IsControl() {
			return NoTimestamp, fmt.Errorf("%w: record %d has no key; a compacted topic needs one", ErrInvalidRecord, i)
		}
		ts := base + rec.timestampDelta
		if checkTime && ts != NoTimestamp && outOfRange(ts, r) {
			return NoTimestamp, fmt.Errorf("%w: record %d has %d, permitted are %d ms before and %d ms after %d", ErrInvalidTimestamp, i, ts, r.BeforeMax, r.AfterMax, r.Now)
		}
		maxTimestamp = max(maxTimestamp, ts)
	}
	if len(records) > 0 {
		return NoTimestamp, fmt.Errorf("%w: %d bytes are left behind the last record", ErrInvalidRecord, len(records))
	}
	return maxTimestamp, nil
}

// outOfRange subtracts so that wild values wrap around exactly as Kafka's do.
func outOfRange(ts int64, r *BatchRules) bool {
	age := r.Now - ts
	return age > r.BeforeMax || -age > r.AfterMax
}

// scanned is what validation looks at in a record.
type scanned struct {
	timestampDelta int64
	offsetDelta    int32
	keyLen         int32
}

// scanRecord checks the structure of the first record in b and returns what is behind it.
func scanRecord(b []byte) (rec scanned, rest []byte, err error) {
	size, n := varint(b)
	if n <= 0 || size < 1 || int(size) > len(b)-n {
		return rec, nil, badRecord("size", size)
	}
	body, rest := b[n:n+int(size)], b[n+int(size):]
	at := 1 // the attributes byte, unused
	if rec.timestampDelta, n = varlong(body[at:]); n <= 0 {
		return rec, nil, badRecord("timestamp delta", 0)
	}
	at += n
	if rec.offsetDelta, n = varint(body[at:]); n <= 0 {
		return rec, nil, badRecord("offset delta", 0)
	}
	at += n
	if rec.keyLen, n = varint(body[at:]); n <= 0 || int(rec.keyLen) > len(body)-at-n {
		return rec, nil, badRecord("key length", rec.keyLen)
	}
	at += n + max(int(rec.keyLen), 0)
	valueLen, n := varint(body[at:])
	if n <= 0 || int(valueLen) > len(body)-at-n {
		return rec, nil, badRecord("value length", valueLen)
	}
	at += n + max(int(valueLen), 0)
	headers, n := varint(body[at:])
	if n <= 0 || headers < 0 || int(headers) > len(body)-at-n {
		return rec, nil, badRecord("header count", headers)
	}
	at += n
	if headers > 0 {
		in := recordReader{b: body[at:]}
		if err := in.skipHeaders(headers); err != nil {
			return rec, nil, err
		}
		at = len(body) - len(in.b)
	}
	if at != len(body) {
		return rec, nil, fmt.Errorf("%w: size %d, but its fields take %d", ErrInvalidRecord, len(body), at)
	}
	return rec, rest, nil
}

func badRecord(field string, value int32) error {
	return fmt.Errorf("%w: %s %d is cut off or does not fit the record", ErrInvalidRecord, field, value)
}

// varint decodes a zigzag int32. n <= 0 when b is too short or the number too long.
func varint(b []byte) (v int32, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int32(b[0]>>1) ^ -int32(b[0]&1), 1
	}
	u, n := binary.Uvarint(b[:min(len(b), binary.MaxVarintLen32)])
	if n <= 0 || u > math.MaxUint32 {
		return 0, 0
	}
	return int32(uint32(u)>>1) ^ -int32(u&1), n
}

// varlong decodes a zigzag int64.
func varlong(b []byte) (v int64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int64(b[0]>>1) ^ -int64(b[0]&1), 1
	}
	return binary.Varint(b)
}

// recordReader decodes records or headers off the front of b.
type recordReader struct{ b []byte }

// next decodes one record; headers is reused for its headers.
func (in *recordReader) next(baseTimestamp int64, headers []Header) (rec Record, err error) {
	s, rest, err := scanRecord(in.b)
	if err != nil {
		return rec, err
	}
	size, n := varint(in.b)
	body := recordReader{b: in.b[n+1 : n+int(size)]} // behind the attributes
	in.b = rest
	rec.OffsetDelta, rec.Timestamp = s.offsetDelta, baseTimestamp+s.timestampDelta
	_, n = varlong(body.b)
	body.b = body.b[n:]
	_, n = varint(body.b)
	body.b = body.b[n:]
	rec.Key, _ = body.bytes()
	rec.Value, _ = body.bytes()
	count, n := varint(body.b)
	body.b = body.b[n:]
	if count == 0 {
		return rec, nil
	}
	rec.Headers = headers[:0]
	for range count {
		key, _ := body.bytes()
		value, _ := body.bytes()
		rec.Headers = append(rec.Headers, Header{Key: key, Value: value})
	}
	return rec, nil
}

// bytes decodes a length and that many bytes; a negative length is null.
func (in *recordReader) bytes() (b []byte, ok bool) {
	size, n := varint(in.b)
	if n <= 0 || int(size) > len(in.b)-n {
		return nil, false
	}
	in.b = in.b[n:]
	if size < 0 {
		return nil, true
	}
	b, in.b = in.b[:size:size], in.b[size:]
	return b, true
}

func (in *recordReader) skipHeaders(count int32) error {
	for range count {
		key, ok := in.bytes()
		if !ok || key == nil {
			return fmt.Errorf("%w: a header's key is null, cut off, or does not fit the record", ErrInvalidRecord)
		}
		if _, ok := in.bytes(); !ok {
			return fmt.Errorf("%w: a header's value is cut off or does not fit the record", ErrInvalidRecord)
		}
	}
	return nil
}
