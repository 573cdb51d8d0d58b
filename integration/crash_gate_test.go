package integration

import (
	"context"
	"net"
	"sync"
)

// gate stands between clients and a broker that dies again and again: a dial waits while there is no broker, and
// reaches the one that is there now. What was sent before a death may have arrived or not, as in life.
type gate struct {
	mu    sync.Mutex
	addr  string        // "" while shut
	open  chan struct{} // closed when it opens
	gone  bool          // no broker will come any more
	fresh sync.WaitGroup
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	for {
		g.mu.Lock()
		addr, open, gone := g.addr, g.open, g.gone
		if addr != "" {
			g.fresh.Add(1)
		}
		g.mu.Unlock()
		if gone {
			return nil, net.ErrClosed
		}
		if addr != "" {
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, addr)
			if err != nil {
				g.fresh.Done()
				return nil, err
			}
			return &greeted{Conn: conn, done: g.fresh.Done}, nil
		}
		select {
		case <-open:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// greeted is a connection that counts as fresh until the broker has said something on it.
type greeted struct {
	net.Conn
	once sync.Once
	done func()
}

func (c *greeted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.once.Do(c.done)
	return n, err
}

func (c *greeted) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

func (g *gate) lift(addr string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addr = addr
	close(g.open)
}

// shut lets nobody in any more, and waits for those who are being greeted: kgo takes a connection that dies before its
// first answer for one to a TLS port, and gives up the group session.
func (g *gate) shut() {
	g.mu.Lock()
	g.addr, g.open = "", make(chan struct{})
	g.mu.Unlock()
	g.fresh.Wait()
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
