package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func frameOf(key int16, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+body))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = append(b, make([]byte, 6+body)...)
	for i := range body {
		b[12+i] = byte(i)
	}
	return b
}

func TestFramesArriveWholeHoweverTheyAreCut(t *testing.T) {
	var stream []byte
	sizes := []int{0, 1, 100, smallBuffer - 12, smallBuffer - 11, smallBuffer, 70000, 3, eagerBytes + 5, 0, 2*eagerBytes + 17}
	for _, n := range sizes {
		stream = append(stream, frameOf(8, n)...)
	}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(stream), "halves": iotest.HalfReader(bytes.NewReader(stream)),
		"bytes": iotest.OneByteReader(bytes.NewReader(stream)), "eof with data": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		held := 0
		f := NewFrameReader(r, DefaultLimits(), func(n int) error { held += n; return nil }, func(n int) { held -= n })
		for _, n := range sizes {
			got, err := f.Next()
			if err != nil {
				t.Fatalf("%s: frame of %d: %v", name, n, err)
			}
			if want := frameOf(8, n)[4:]; !bytes.Equal(got, want) {
				t.Fatalf("%s: frame of %d differs", name, n)
			}
		}
		if _, err := f.Next(); err != io.EOF {
			t.Errorf("%s: at the end got %v, want EOF", name, err)
		}
		if held != 0 {
			t.Errorf("%s: %d bytes are still held", name, held)
		}
	}
}

func TestTruncatedFrameIsUnexpectedEOF(t *testing.T) {
	for _, n := range []int{0, 50, smallBuffer, 100000} {
		whole := frameOf(8, n)
		for _, cut := range []int{1, 4, 11, len(whole) - 1} {
			f := NewFrameReader(bytes.NewReader(whole[:cut]), DefaultLimits(), nil, nil)
			if _, err := f.Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("frame of %d cut at %d: %v", n, cut, err)
			}
		}
	}
}

func TestLengthsOutOfBoundsAreRefusedBeforeAllocation(t *testing.T) {
	for _, c := range []struct {
		name string
		head []byte
		peer string
	}{
		{"negative", []byte{0xff, 0xff, 0xff, 0xff, 0, 8, 0, 0, 0, 0, 0, 0}, ""},
		{"zero", make([]byte, 12), ""},
		{"seven", []byte{0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0}, ""},
		{"two gigabytes", []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0}, ""},
		{"over the limit of others", []byte{0, 0x80, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0}, ""},
		{"tls", []byte{0x16, 0x03, 0x01, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9}, "TLS"},
		{"http", []byte("GET / HTTP/1.1\r\n"), "HTTP"},
	} {
		f := NewFrameReader(bytes.NewReader(c.head), DefaultLimits(), func(int) error { t.Errorf("%s: asked for memory", c.name); return nil }, nil)
		_, err := f.Next()
		var fe *FrameError
		if !errors.As(err, &fe) || fe.Peer != c.peer {
			t.Errorf("%s: got %v, want a FrameError of peer %q", c.name, err, c.peer)
		}
	}
}

// A sender that announces 100 MB and sends 64 KB must not cost 100 MB.
func TestHostileLengthCostsOnlyWhatArrives(t *testing.T) {
	head := frameOf(0, 64<<10)
	binary.BigEndian.PutUint32(head, 100<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := NewFrameReader(bytes.NewReader(head), DefaultLimits(), nil, nil)
	_, err := f.Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 3*eagerBytes {
		t.Errorf("allocated %d bytes for %d that arrived", grew, len(head))
	}
}

// An idle connection keeps one small buffer, also after a big frame.
func TestBigBuffersGoBack(t *testing.T) {
	f := NewFrameReader(bytes.NewReader(append(frameOf(8, 1<<20), frameOf(8, 1)...)), DefaultLimits(), nil, nil)
	for range 2 {
		if _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if f.big != nil || len(f.buf) != smallBuffer {
		t.Errorf("holds a big buffer: %v, small buffer of %d", f.big != nil, len(f.buf))
	}
}

func TestRequestsDecodeAtEveryVersion(t *testing.T) {
	for key := int16(0); key < 93; key++ {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		for v := int16(0); v <= req.MaxVersion(); v++ {
			req := kmsg.RequestForKey(key)
			req.SetVersion(v)
			frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, 77)
			h, err := ParseHeader(frame[4:])
			if err != nil || h.Key != key || h.Version != v || h.CorrelationID != 77 {
				t.Fatalf("key %d v%d: header %+v, %v", key, v, h, err)
			}
			if key == 7 && v == 0 {
				continue // ControlledShutdown v0, the one header without a client id; not served
			}
			got, err := h.DecodeBody()
			if err != nil {
				t.Fatalf("key %d v%d: %v", key, v, err)
			}
			if h.ClientID != "c" || !bytes.Equal(got.AppendTo(nil), req.AppendTo(nil)) {
				t.Errorf("key %d v%d does not survive the way through", key, v)
			}
		}
	}
}

func TestNullClientIDAndHeaderTags(t *testing.T) {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 9
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("t")}}
	frame := []byte{0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff, 2, 5, 1, 'x', 9, 0} // client id null, two header tags
	frame = req.AppendTo(frame)
	h, err := ParseHeader(frame)
	if err != nil {
		t.Fatal(err)
	}
	body, err := h.DecodeBody()
	if err != nil || h.ClientID != "" || *body.(*kmsg.MetadataRequest).Topics[0].Topic != "t" {
		t.Errorf("got %v, %v", body, err)
	}
}

func TestResponseHeaderIsFlexibleExceptForApiVersions(t *testing.T) {
	av := kmsg.NewPtrApiVersionsResponse()
	av.Version = 3
	if got := AppendResponse(nil, 5, av); !bytes.Equal(got[8:], av.AppendTo(nil)) {
		t.Errorf("ApiVersions has a tag buffer in its header: % x", got)
	}
	hb := kmsg.NewPtrHeartbeatResponse()
	hb.Version = 4
	got := AppendResponse(nil, 5, hb)
	if !bytes.Equal(got[:9], []byte{0, 0, 0, byte(len(got) - 4), 0, 0, 0, 5, 0}) || !bytes.Equal(got[9:], hb.AppendTo(nil)) {
		t.Errorf("flexible response has no tag buffer in its header: % x", got)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(frameOf(8, 20))
	f.Add([]byte{0x16, 0x03, 0x01, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewFrameReader(bytes.NewReader(in), Limits{Produce: 1 << 16, Other: 1 << 12}, nil, nil)
		total := 0
		for {
			frame, err := r.Next()
			if err != nil {
				return
			}
			if total += len(frame) + 4; total > len(in) {
				t.Fatalf("handed out %d bytes of %d", total, len(in))
			}
			_, _ = ParseHeader(frame)
		}
	})
}

// servedKeys are the apis whose decoders face the street.
var servedKeys = []int16{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 32, 37, 42, 44, 46, 47, 60}

// FuzzDecoders: no panic, and a decoded request may allocate at most 100 times its frame (plus a constant).
func FuzzDecoders(f *testing.F) {
	for _, key := range servedKeys {
		req := kmsg.RequestForKey(key)
		for v := int16(0); v <= req.MaxVersion(); v++ {
			req.SetVersion(v)
			f.Add(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)[4:])
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, err := ParseHeader(frame)
		if err != nil {
			return
		}
		req := kmsg.RequestForKey(h.Key)
		if req == nil || h.Version < 0 || h.Version > req.MaxVersion() {
			return
		}
		var before, after runtime.MemStats
		if len(frame) > 1<<10 { // reading the statistics stops the world: only where it can tell something
			runtime.ReadMemStats(&before)
		}
		_, err = h.DecodeBody()
		if len(frame) > 1<<10 {
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > uint64(100*len(frame)+1<<20) {
				t.Fatalf("%d bytes allocated for a frame of %d", got, len(frame))
			}
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("error %v is not ErrMalformed", err)
		}
	})
}

// The decoder's arrays: a frame that claims as many elements as its length allows allocates within the bound.
func TestDecodingIsBoundedByTheFrame(t *testing.T) {
	for _, key := range servedKeys {
		req := kmsg.RequestForKey(key)
		for v := int16(0); v <= req.MaxVersion(); v++ {
			for _, fill := range []byte{0, 1, 0x7f, 0xff} {
				const size = 1 << 20
				for claim := 1; claim < 200; claim *= 3 {
					body := bytes.Repeat([]byte{fill}, size)
					for i := 0; i+4 <= 64; i += 4 {
						binary.BigEndian.PutUint32(body[i:], uint32(size/claim))
					}
					frame := append([]byte{byte(key >> 8), byte(key), 0, byte(v), 0, 0, 0, 1, 0xff, 0xff}, body...)
					h, _ := ParseHeader(frame)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, _ = h.DecodeBody()
					runtime.ReadMemStats(&after)
					if got := after.TotalAlloc - before.TotalAlloc; got > 100*size {
						t.Fatalf("key %d v%d, fill %#x, claim 1/%d: %d bytes allocated for %d", key, v, fill, claim, got, size)
					}
				}
			}
		}
	}
}
