package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// headSize is what a frame reader sees before it decides: length, api key, version, correlation id.
	headSize = 12
	// smallBuffer is what an idle connection keeps; most group requests fit in it.
	smallBuffer = 4 << 10
	// eagerBytes is the largest body that is allocated before its bytes have arrived. Beyond it the buffer doubles as
	// bytes come in, so that a hostile length costs its sender as much as us.
	eagerBytes = 1 << 20
)

// Limits bound a frame's length.
//
// Units: bytes after the length field.
type Limits struct {
	Produce int // frames of Produce: message.max.bytes for each partition, so generous
	Other   int // frames of any other api
}

// DefaultLimits are those of a broker that nobody configured: socket.request.max.bytes for Produce, and 8 MiB for the
// others, of which the largest in practice is a SyncGroup that carries the assignments of a big group.
func DefaultLimits() Limits { return Limits{Produce: 100 << 20, Other: 8 << 20} }

// FrameError tells why a frame was refused before its body was read. The connection cannot be used after it.
type FrameError struct {
	Length int32
	Limit  int
	Key    int16
	Peer   string // what the peer seems to speak, if it is not Kafka: "TLS", "HTTP"; else empty
}

// Error names the length, the limit and, where it can be guessed, what the peer speaks instead.
func (e *FrameError) Error() string {
	switch {
	case e.Peer != "":
		return fmt.Sprintf("the peer speaks %s on a plain Kafka port: use security.protocol=PLAINTEXT", e.Peer)
	case e.Length < headSize-4:
		return fmt.Sprintf("frame length %d is below the %d bytes of a request header", e.Length, headSize-4)
	default:
		return fmt.Sprintf("frame length %d of api key %d is above the limit of %d bytes", e.Length, e.Key, e.Limit)
	}
}

// FrameReader reads frames from one peer.
//
// Owner: the goroutine of the connection.
// Invariant: buf[start:end] are bytes that were read and not yet handed out.
type FrameReader struct {
	r          io.Reader
	limits     Limits
	admit      func(bytes int) error
	release    func(bytes int)
	buf        []byte
	start, end int
	big        *[]byte // the pooled buffer of the present frame, if it did not fit buf
	admitted   int
}

// NewFrameReader returns a reader of frames. admit, which may be nil, is asked before the memory for a body larger than
// a small buffer is taken, and may wait; release gives the same number back when the frame is done with.
func NewFrameReader(r io.Reader, limits Limits, admit func(bytes int) error, release func(bytes int)) *FrameReader {
	return &FrameReader{r: r, limits: limits, admit: admit, release: release, buf: make([]byte, smallBuffer)}
}

var bigBuffers = sync.Pool{New: func() any { b := make([]byte, 0); return &b }}

// maxPooled keeps a single giant frame from staying in the pool for ever.
const maxPooled = 4 << 20

// Done returns the memory of the last frame. Next calls it; a connection that ends calls it itself.
func (f *FrameReader) Done() {
	if f.big != nil {
		if cap(*f.big) <= maxPooled {
			bigBuffers.Put(f.big)
		}
		f.big = nil
	}
	if f.admitted > 0 {
		f.release(f.admitted)
		f.admitted = 0
	}
}

// Next returns the next frame without its length field.
//
// Owner: the slice is valid until the next call of Next or Done.
// Errors: io.EOF between frames; io.ErrUnexpectedEOF inside one; *FrameError for a length out of bounds, before
// anything was allocated for it; what the reader and admit return.
func (f *FrameReader) Next() ([]byte, error) {
	f.Done()
	if err := f.fill(headSize); err != nil {
		return nil, err
	}
	head := f.buf[f.start:]
	length := int32(binary.BigEndian.Uint32(head))
	key := int16(binary.BigEndian.Uint16(head[4:]))
	limit := f.limits.Other
	if key == 0 {
		limit = f.limits.Produce
	}
	if length < headSize-4 || int(length) > limit {
		return nil, &FrameError{Length: length, Limit: limit, Key: key, Peer: guessPeer(head[:headSize])}
	}
	n := int(length) + 4
	if n <= len(f.buf) {
		if err := f.fill(n); err != nil {
			return nil, err
		}
		frame := f.buf[f.start+4 : f.start+n]
		f.start += n
		return frame, nil
	}
	return f.nextBig(n)
}

// fill reads until at least n unread bytes are in buf; n is at most its length.
func (f *FrameReader) fill(n int) error {
	if f.start == f.end {
		f.start, f.end = 0, 0
	}
	if f.start+n > len(f.buf) {
		copy(f.buf, f.buf[f.start:f.end])
		f.start, f.end = 0, f.end-f.start
	}
	for f.end-f.start < n {
		m, err := f.r.Read(f.buf[f.end:])
		f.end += m
		if m == 0 && err != nil {
			if errors.Is(err, io.EOF) && f.end != f.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (f *FrameReader) nextBig(n int) ([]byte, error) {
	if f.admit != nil {
		if err := f.admit(n); err != nil {
			return nil, err
		}
		f.admitted = n
	}
	f.big = bigBuffers.Get().(*[]byte)
	b := (*f.big)[:0]
	if cap(b) < n {
		b = make([]byte, 0, min(n, max(eagerBytes, cap(b))))
	}
	b = append(b, f.buf[f.start:f.end]...)
	f.start, f.end = 0, 0
	for len(b) < n {
		if len(b) == cap(b) {
			grown := make([]byte, len(b), min(n, 2*cap(b)))
			copy(grown, b)
			b = grown
		}
		m, err := io.ReadFull(f.r, b[len(b):min(n, cap(b))])
		b = b[:len(b)+m]
		if err != nil {
			*f.big = b
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	*f.big = b
	return b[4:n], nil
}

// guessPeer recognises what most often knocks at the wrong port.
func guessPeer(head []byte) string {
	switch {
	case head[0] == 0x16 && head[1] == 0x03:
		return "TLS"
	case string(head[:4]) == "GET " || string(head[:4]) == "POST" || string(head[:4]) == "HEAD" || string(head[:4]) == "PRI ":
		return "HTTP"
	}
	return ""
}
