package partitionlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is how the records of a batch are compressed, numbered as in the batch's attributes.
type Codec int8

// The codecs.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

// codecNames are the values of compression.type.
var codecNames = [...]string{None: "none", Gzip: "gzip", Snappy: "snappy", LZ4: "lz4", Zstd: "zstd"}

// String is the value of compression.type.
func (c Codec) String() string {
	if c >= 0 && int(c) < len(codecNames) {
		return codecNames[c]
	}
	return fmt.Sprintf("codec(%d)", int8(c))
}

// ParseCodec is the inverse of String.
func ParseCodec(name string) (c Codec, ok bool) {
	for i, n := range codecNames {
		if n == name {
			return Codec(i), true
		}
	}
	return None, false
}

// maxPooledBytes keeps one giant batch from pinning its memory in a pool.
const maxPooledBytes = 4 << 20

// zstdWindowMax is the largest window that every decoder should accept (RFC 8878, section 3.1.1.1.2). A decoder takes
// the memory for a window before it has seen a byte of data, so pooled ones have this bound. Zstd's levels 20 to 22
// use windows up to zstdWindowLimit, the reference decoder's own limit.
const (
	zstdWindowMax   = 8 << 20
	zstdWindowLimit = 128 << 20
)

var (
	scratchPool = sync.Pool{New: func() any { return new(scratch) }}
	gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	lz4Readers  = sync.Pool{New: func() any { return lz4.NewReader(nil) }}
	lz4Writers  = sync.Pool{New: func() any { return newLZ4Writer() }}
	zstdReaders = newZstdShelf()
)

// newLZ4Writer uses Kafka's block size: its Java client refuses none, but some others have small buffers.
func newLZ4Writer() *lz4.Writer {
	w := lz4.NewWriter(nil)
	if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb)); err != nil {
		panic(err) // a constant of the library's own
	}
	return w
}

func newZstdReader() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowMax))
	if err != nil {
		panic(err) // constants of the library's own
	}
	return d
}

// zstdShelf keeps a few decoders that were made with the package. It is no sync.Pool because a decoder holds a channel,
// and a channel that is made inside a testing/synctest bubble cannot be used outside of it: one that is made for want
// of another serves once. For the same reason each Builder has an encoder of its own.
type zstdShelf struct {
	mu   sync.Mutex
	free []*zstd.Decoder
	ours map[*zstd.Decoder]bool
}

const zstdShelved = 4

func newZstdShelf() *zstdShelf {
	s := &zstdShelf{ours: map[*zstd.Decoder]bool{}}
	for range zstdShelved {
		d := newZstdReader()
		s.free, s.ours[d] = append(s.free, d), true
	}
	return s
}

func (s *zstdShelf) take() *zstd.Decoder {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		d := s.free[n-1]
		s.free = s.free[:n-1]
		return d
	}
	return newZstdReader()
}

func (s *zstdShelf) put(d *zstd.Decoder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ours[d] {
		s.free = append(s.free, d)
	}
}

func newZstdWriter() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // constants of the library's own
	}
	return e
}

// scratch is a reusable buffer.
type scratch struct{ b []byte }

// recordBytes is the decompressed records of a batch.
type recordBytes struct {
	bytes []byte
	buf   *scratch // nil when bytes lies in the batch
}

// release gives the memory back; bytes must not be used afterwards.
func (r recordBytes) release() {
	if r.buf == nil {
		return
	}
	r.buf.b = r.bytes
	if cap(r.buf.b) <= maxPooledBytes {
		scratchPool.Put(r.buf)
	}
}

// openRecords decompresses the records of b if need be.
//
// Errors: ErrInvalidRecord when they do not decompress, ErrMessageTooLarge above limit, ErrUnsupportedCodec.
func openRecords(b Batch, limit int) (recordBytes, error) {
	if b.Codec() == None {
		return recordBytes{bytes: b[recordsAt:]}, nil
	}
	buf := scratchPool.Get().(*scratch)
	out, err := decompress(buf.b[:0], b[recordsAt:], b.Codec(), limit)
	if err != nil {
		scratchPool.Put(buf)
		return recordBytes{}, err
	}
	return recordBytes{bytes: out, buf: buf}, nil
}

// errTooLong is internal to decompress: the output would pass the limit.
var errTooLong = errors.New("too long")

// decompress appends to dst, which is empty, what src decompresses to: limit bytes at most.
func decompress(dst, src []byte, codec Codec, limit int) (out []byte, err error) {
	switch codec {
	case None:
		out = append(dst, src...)
	case Gzip:
		out, err = gunzip(dst, src, limit)
	case Snappy:
		out, err = unsnappy(dst, src, limit)
	case LZ4:
		r := lz4Readers.Get().(*lz4.Reader)
		r.Reset(bytes.NewReader(src))
		out, err = readBounded(dst, r, limit)
		lz4Readers.Put(r)
	case Zstd:
		out, err = unzstd(dst, src, limit)
	default:
		return nil, fmt.Errorf("%w: %d", ErrUnsupportedCodec, codec)
	}
	if errors.Is(err, errTooLong) {
		return nil, fmt.Errorf("%w: the records decompress to more than %d bytes; send smaller batches", ErrMessageTooLarge, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the records are no %s: %w", ErrInvalidRecord, codec, err)
	}
	return out, nil
}

func gunzip(dst, src []byte, limit int) ([]byte, error) {
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	return readBounded(dst, r, limit)
}

func unzstd(dst, src []byte, limit int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, err
	}
	if h.WindowSize > zstdWindowMax {
		return unzstdLarge(dst, src, limit)
	}
	r := zstdReaders.take()
	defer zstdReaders.put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return nil, err
	}
	return readBounded(dst, r, limit)
}

// unzstdLarge decodes without a window of its own: the output serves as one, and grows as it comes out. The decoder
// takes no limit below the window's, so the bound on the way is zstdWindowLimit where limit is less.
func unzstdLarge(dst, src []byte, limit int) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindowLimit), zstd.WithDecoderMaxMemory(uint64(max(limit, zstdWindowLimit))))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(src, dst)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, errTooLong
	}
	if len(out) > limit {
		return nil, errTooLong
	}
	return out, err
}

// readBounded reads r to its end, growing by what really comes out and never by what a header claims.
func readBounded(dst []byte, r io.Reader, limit int) ([]byte, error) {
	if cap(dst) == 0 {
		dst = make([]byte, 0, 64<<10)
	}
	for idle := 0; ; {
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if idle++; n > 0 {
			idle = 0
		} else if idle > 100 && err == nil {
			return nil, io.ErrNoProgress
		}
		if len(dst) > limit {
			return nil, errTooLong
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
	}
}

// xerialMagic opens the framing that Java producers put around snappy: magic, version, compatible version,
// then blocks, each with a big-endian length. Others send one raw snappy block.
//
// Source: xerial snappy-java, SnappyCodec.
const (
	xerialMagic     = "\x82SNAPPY\x00"
	xerialHeaderLen = 16
)

var errXerial = errors.New("malformed xerial framing")

func unsnappy(dst, src []byte, limit int) ([]byte, error) {
	if len(src) < xerialHeaderLen || string(src[:len(xerialMagic)]) != xerialMagic {
		return appendSnappy(dst, src, limit)
	}
	for src = src[xerialHeaderLen:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, errXerial
		}
		size := binary.BigEndian.Uint32(src)
		if src = src[4:]; int64(size) > int64(len(src)) {
			return nil, errXerial
		}
		var err error
		if dst, err = appendSnappy(dst, src[:size], limit); err != nil {
			return nil, err
		}
		src = src[size:]
	}
	return dst, nil
}

// maxSnappyRatio is what a snappy block expands to at most: 64 bytes for a copy element of 3, with room.
// A claim above it is a lie and allocates nothing.
const maxSnappyRatio = 32

func appendSnappy(dst, block []byte, limit int) ([]byte, error) {
	n, err := s2.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if n > limit-len(dst) {
		return nil, errTooLong
	}
	if n > maxSnappyRatio*len(block) {
		return nil, s2.ErrCorrupt
	}
	at := len(dst)
	if cap(dst)-at < n {
		dst = append(make([]byte, 0, max(at+n, 2*cap(dst))), dst...)
	}
	if _, err := s2.Decode(dst[at:at+n], block); err != nil {
		return nil, err
	}
	return dst[:at+n], nil
}

// compress appends src, compressed, to dst. Writing to memory does not fail.
func compress(dst, src []byte, codec Codec) []byte {
	out := bytes.NewBuffer(dst)
	switch codec {
	case Gzip:
		w := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(w)
		w.Reset(out)
		mustWrite(w, src)
	case LZ4:
		w := lz4Writers.Get().(*lz4.Writer)
		defer lz4Writers.Put(w)
		w.Reset(out)
		mustWrite(w, src)
	case Snappy:
		return appendXerial(dst, src)
	case Zstd:
		return newZstdWriter().EncodeAll(src, dst)
	case None:
		return append(dst, src...)
	default:
		panic(fmt.Sprintf("compress with %v", codec))
	}
	return out.Bytes()
}

func mustWrite(w io.WriteCloser, src []byte) {
	_, err := w.Write(src)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
}

// xerialBlockBytes is the block size of Java's producers.
const xerialBlockBytes = 32 << 10

// appendXerial frames as Java's clients do, for those read nothing else in some versions.
func appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialMagic+"\x00\x00\x00\x01\x00\x00\x00\x01"...)
	for len(src) > 0 {
		n := min(len(src), xerialBlockBytes)
		block := s2.EncodeSnappy(nil, src[:n])
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(block))), block...)
		src = src[n:]
	}
	return dst
}
