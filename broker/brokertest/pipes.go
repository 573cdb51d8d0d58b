package brokertest

import (
	"context"
	"net"
	"sync"
)

// pipesAddr is what both ends of every pipe call the broker: an address that can be advertised like any other.
const pipesAddr = "127.0.0.1:9092"

// pipes is a network of in-memory connections to one listener.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes {
	return &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) listen(string, string) (net.Listener, error) { return p, nil }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.incoming <- pipe{server}:
		return pipe{client}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make pipes a net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listener; connections live on.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is the address that the broker advertises.
func (p *pipes) Addr() net.Addr { return addr{} }

// pipe is one end of a connection, with addresses that look like TCP's.
type pipe struct{ net.Conn }

// LocalAddr is the broker's address, at both ends.
func (pipe) LocalAddr() net.Addr { return addr{} }

// RemoteAddr is the broker's address, at both ends.
func (pipe) RemoteAddr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "tcp" }
func (addr) String() string  { return pipesAddr }
