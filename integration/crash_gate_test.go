package integration

import (
	"context"
	"net"
	"sync"
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
		if addr != "" {
			var d net.Dialer
			return d.DialContext(ctx, network, addr)
		}
		select {
		case <-open:
		case <-ctx.Done():
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

// shut lets nobody in any more.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr, g.open = "", make(chan struct{})
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
