package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// KeyApiVersions is the key of the one api whose answer must be readable to a client that knows nothing of us.
const KeyApiVersions int16 = 18

// ErrMalformed is in the chain of every error about a frame whose length was fine and whose content was not.
var ErrMalformed = errors.New("malformed request")

// Header is what can be read of a request before its api is known.
//
// Shape: key int16, version int16, correlation id int32; then ClientID, which is read only for a known version, since
// header v0 has none.
// Source: RequestHeader.json.
type Header struct {
	Key           int16
	Version       int16
	CorrelationID int32
	ClientID      string // "" for null, as Kafka's log and member ids read it
	rest          []byte
}

// ParseHeader reads the fixed part of the header.
//
// Errors: ErrMalformed when the frame is shorter than it.
func ParseHeader(frame []byte) (Header, error) {
	if len(frame) < headSize-4 {
		return Header{}, fmt.Errorf("%w: %d bytes are no request header", ErrMalformed, len(frame))
	}
	return Header{
		Key:           int16(binary.BigEndian.Uint16(frame)),
		Version:       int16(binary.BigEndian.Uint16(frame[2:])),
		CorrelationID: int32(binary.BigEndian.Uint32(frame[4:])),
		rest:          frame[8:],
	}, nil
}

// DecodeBody reads client id, header tags and body. It must be called only for a key and version that the broker serves.
//
// Owner: byte fields of the request alias the frame.
// Errors: ErrMalformed for anything that does not decode.
func (h *Header) DecodeBody() (kmsg.Request, error) {
	req := kmsg.RequestForKey(h.Key)
	if req == nil {
		return nil, fmt.Errorf("%w: api key %d is unknown", ErrMalformed, h.Key)
	}
	req.SetVersion(h.Version)
	rest, err := h.readClientID(h.rest)
	if err != nil {
		return nil, err
	}
	if req.IsFlexible() {
		if rest, err = skipTags(rest); err != nil {
			return nil, err
		}
	}
	if err := req.ReadFrom(rest); err != nil {
		return nil, fmt.Errorf("%w: %s v%d body of %d bytes: %w", ErrMalformed, kmsg.NameForKey(h.Key), h.Version, len(rest), err)
	}
	return req, nil
}

// readClientID reads the nullable, never compact, client id.
func (h *Header) readClientID(b []byte) ([]byte, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("%w: header ends before the client id", ErrMalformed)
	}
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	if n < 0 {
		return b, nil
	}
	if n > len(b) {
		return nil, fmt.Errorf("%w: client id of %d bytes in a frame with %d left", ErrMalformed, n, len(b))
	}
	h.ClientID = string(b[:n])
	return b[n:], nil
}

// skipTags skips a tag buffer: uvarint count, then tag, length and bytes of each.
func skipTags(b []byte) ([]byte, error) {
	count, n := binary.Uvarint(b)
	if n <= 0 || count > uint64(len(b)) {
		return nil, fmt.Errorf("%w: header tag buffer", ErrMalformed)
	}
	b = b[n:]
	for range count {
		_, n = binary.Uvarint(b)
		if n <= 0 {
			return nil, fmt.Errorf("%w: header tag", ErrMalformed)
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("%w: header tag of %d bytes", ErrMalformed, size)
		}
		b = b[n+int(size):]
	}
	return b, nil
}
