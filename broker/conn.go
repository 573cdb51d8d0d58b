package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/api"
	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/protocol"
)

// conn is one client's connection. It handles one request at a time, in order: Kafka mutes the channel of a request
// until its answer is written, and clients rely on that order.
//
// Owner: its goroutine; close may be called by any.
type conn struct {
	b    *Broker
	net  net.Conn
	host string // of the peer, as Kafka prints it
	// What this client is told as the broker's address.
	advertisedHost string
	advertisedPort int32

	frames     *protocol.FrameReader
	readArmed  time.Time
	writeArmed time.Time
}

func (b *Broker) newConn(c net.Conn) *conn {
	n := &conn{b: b, net: c, host: javaHost(c.RemoteAddr())}
	host, port, ok := b.settings.Advertised(b.listenerName)
	if !ok {
		host, port = splitAddr(c.LocalAddr())
	}
	n.advertisedHost, n.advertisedPort = host, port
	n.frames = protocol.NewFrameReader(c, b.limits, b.admit, b.release)
	return n
}

// serve handles requests until the connection ends, and says why in the log when a person should know.
func (c *conn) serve(ctx context.Context) {
	defer func() { _ = c.net.Close() }() // nothing can be done about an error
	defer c.frames.Done()
	for {
		c.armRead()
		frame, err := c.frames.Next()
		if err != nil {
			c.logEnd(ctx, err)
			return
		}
		if err := c.handle(ctx, frame); err != nil {
			c.logEnd(ctx, err)
			return
		}
	}
}

// refusal ends a connection because of what its client sent.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

// handle answers one frame.
func (c *conn) handle(ctx context.Context, frame []byte) error {
	h, err := protocol.ParseHeader(frame)
	if err != nil {
		return err
	}
	row := c.b.api.Find(h.Key, h.Version)
	if row == nil {
		if h.Key == protocol.KeyApiVersions {
			return c.write(h.CorrelationID, c.b.api.UnsupportedApiVersions())
		}
		return &refusal{fmt.Sprintf("api key %d (%s) version %d is not served", h.Key, kmsg.NameForKey(h.Key), h.Version)}
	}
	body, err := h.DecodeBody()
	if err != nil {
		return err
	}
	if e := c.b.log.Trace(); e.Enabled() {
		c.logRequest(e, row.Name, h, body)
	}
	call := api.Call{
		Request: body, Client: coordinator.Client{ID: h.ClientID, Host: c.host},
		Host: c.advertisedHost, Port: c.advertisedPort,
	}
	defer call.Release()
	resp, err := row.Handle(c.b.api, ctx, &call)
	if err != nil {
		return fmt.Errorf("%s v%d: %w", row.Name, h.Version, err)
	}
	if resp == nil {
		return nil
	}
	resp.SetVersion(h.Version)
	return c.write(h.CorrelationID, resp)
}

// logRequest writes what a client asks, and in which version: what it negotiated can be read off the log.
func (c *conn) logRequest(e *zerolog.Event, api string, h protocol.Header, body kmsg.Request) {
	e.Str("event", "request").Str("api", api).Int16("version", h.Version).Str("client", h.ClientID).Str("peer", c.net.RemoteAddr().String())
	if v, ok := body.(*kmsg.ApiVersionsRequest); ok && v.ClientSoftwareName != "" {
		e.Str("software", v.ClientSoftwareName).Str("software_version", v.ClientSoftwareVersion)
	}
	e.Msgf("%s v%d from %s", api, h.Version, h.ClientID)
}

var responses = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// maxPooledResponse keeps a giant fetch from pinning its memory in the pool.
const maxPooledResponse = 4 << 20

func (c *conn) write(correlationID int32, resp kmsg.Response) error {
	buf := responses.Get().(*[]byte)
	*buf = protocol.AppendResponse((*buf)[:0], correlationID, resp)
	err := c.send(*buf)
	if cap(*buf) <= maxPooledResponse {
		responses.Put(buf)
	}
	return err
}

// writePiece is what a peer must take within the write timeout: one that reads slowly is served, one that does not is not.
const writePiece = 256 << 10

func (c *conn) send(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writePiece)
		c.armWrite()
		if _, err := c.net.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// armRead and armWrite move the deadlines on, but not for every request: one that is a little old is as good.
func (c *conn) armRead() {
	idle := c.b.settings.ConnectionsMaxIdle
	if now := time.Now(); idle > 0 && now.Sub(c.readArmed) > idle/16 {
		c.readArmed = now
		_ = c.net.SetReadDeadline(now.Add(idle + idle/16)) // a socket without deadlines has none to miss
		if c.b.closing() {
			_ = c.net.SetReadDeadline(longAgo)
		}
	}
}

func (c *conn) armWrite() {
	if now := time.Now(); now.Sub(c.writeArmed) > c.b.writeTimeout/16 {
		c.writeArmed = now
		_ = c.net.SetWriteDeadline(now.Add(c.b.writeTimeout + c.b.writeTimeout/16))
	}
}

// longAgo as a deadline ends a read at once.
var longAgo = time.Unix(1, 0)

// logEnd tells what ended a connection, unless it is what always ends one.
func (c *conn) logEnd(ctx context.Context, err error) {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return
	}
	log := c.b.log.With().Str("peer", c.net.RemoteAddr().String()).Logger()
	var (
		fe *protocol.FrameError
		re *refusal
	)
	switch {
	case errors.As(err, &re):
		log.Warn().Msg("connection closed: " + re.reason)
	case errors.As(err, &fe), errors.Is(err, protocol.ErrMalformed):
		log.Warn().Err(err).Msg("connection closed: what it sent is no Kafka request")
	case errors.Is(err, os.ErrDeadlineExceeded):
		log.Info().Err(err).Msg("connection closed: the peer was silent, or did not read, for too long")
	default:
		log.Debug().Err(err).Msg("connection ended")
	}
}
