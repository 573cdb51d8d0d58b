package integration

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// gate stands between clients and a broker that dies again and again: a dial waits while there is no broker, and
// reaches the one that is there now. What was sent before a death may have arrived or not, as in life.
type gate struct {
	mu   sync.Mutex
	addr string        // "" while shut
	open chan struct{} // closed when it opens
	gone bool          // no broker will come any more
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	for {
		g.mu.Lock()
		addr, open, gone := g.addr, g.open, g.gone
		g.mu.Unlock()
		if gone {
			return nil, net.ErrClosed
		}
		if addr == "" {
			select {
			case <-open:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, addr)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		// The broker died between the two looks; the gate will be shut in a moment.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (g *gate) lift(addr string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr = addr
	close(g.open)
}

// condemn fails every dial from now on, so that clients end which would wait for ever.
func (g *gate) condemn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.addr == "" && !g.gone {
		close(g.open)
	}
	g.gone = true
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr, g.open = "", make(chan struct{})
}
