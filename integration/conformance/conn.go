package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// clientID is that of every connection, as in the specification's fixture.
const clientID = "c"

// errNoAnswer says that nothing came in time.
var errNoAnswer = errors.New("no answer")

// conn is a raw connection: it sends what it is told at the version that it is told.
type conn struct {
	net     net.Conn
	unnamed bool // requests have a null client id
	next    int32
	pending kmsg.Request // sent, and not answered yet
	frames  chan frame
}

// frame is an answer without its length, or the end of the connection.
type frame struct {
	bytes []byte
	err   error
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	k := &conn{net: c, frames: make(chan frame, 1)}
	go k.read()
	return k, nil
}

// read hands over frames until the connection ends.
func (c *conn) read() {
	defer close(c.frames)
	for {
		var head [4]byte
		if _, err := io.ReadFull(c.net, head[:]); err != nil {
			c.frames <- frame{err: err}
			return
		}
		b := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(c.net, b); err != nil {
			c.frames <- frame{err: err}
			return
		}
		c.frames <- frame{bytes: b}
	}
}

func (c *conn) send(req kmsg.Request) error {
	c.next++
	c.pending = req
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	if c.unnamed {
		format = kmsg.NewRequestFormatter()
	}
	_, err := c.net.Write(format.AppendRequest(nil, req, c.next))
	return err
}

// receive waits for the answer to what is pending.
//
// Errors: errNoAnswer; io.EOF when the broker closed the connection.
func (c *conn) receive(within time.Duration) (kmsg.Response, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, errNoAnswer
	case f, ok := <-c.frames:
		if !ok || f.err != nil {
			return nil, io.EOF
		}
		req := c.pending
		c.pending = nil
		if req == nil || len(f.bytes) < 4 {
			return nil, fmt.Errorf("an answer to nothing: %x", f.bytes)
		}
		return decode(req, c.next, f.bytes)
	}
}

// decode reads an answer, and checks that it has exactly the fields of its version.
func decode(req kmsg.Request, correlation int32, b []byte) (kmsg.Response, error) {
	if got := int32(binary.BigEndian.Uint32(b)); got != correlation {
		return nil, fmt.Errorf("correlation id %d, want %d", got, correlation)
	}
	b = b[4:]
	resp := req.ResponseKind()
	if _, known := resp.(*kmsg.ApiVersionsResponse); known {
		if req.GetVersion() > 5 {
			resp.SetVersion(0) // how an unknown version is answered
		}
	} else if resp.IsFlexible() {
		if len(b) == 0 || b[0] != 0 {
			return nil, errors.New("the header has no empty tag buffer")
		}
		b = b[1:]
	}
	if err := resp.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("the answer is not one of version %d: %w: %x", resp.GetVersion(), err, b)
	}
	if again := resp.AppendTo(nil); len(again) != len(b) {
		return nil, fmt.Errorf("the answer has %d bytes, its fields at version %d take %d", len(b), resp.GetVersion(), len(again))
	}
	return resp, nil
}

func isNoAnswer(err error) bool {
	return errors.Is(err, errNoAnswer) || errors.Is(err, os.ErrDeadlineExceeded)
}
