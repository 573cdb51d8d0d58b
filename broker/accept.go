package broker

import (
	"errors"
	"net"
	"time"
)

// accept takes connections until the listener is closed.
func (b *Broker) accept() {
	pause := time.Millisecond
	for {
		c, err := b.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || b.closing() {
				return
			}
			// Out of descriptors, most likely: wait for some to be closed.
			b.log.Warn().Err(err).Dur("pause", pause).Msg("cannot accept a connection")
			select {
			case <-time.After(pause):
			case <-b.ctx.Done():
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = time.Millisecond
		b.admitConn(b.newConn(c))
	}
}

// admitConn starts a connection's goroutine, unless there are too many or the broker closes.
func (b *Broker) admitConn(c *conn) {
	b.mu.Lock()
	full := len(b.conns) >= b.maxConnections()
	if full || b.closing() {
		b.mu.Unlock()
		_ = c.net.Close() // it was never served
		if full {
			b.log.Warn().Str("peer", c.net.RemoteAddr().String()).Int("max.connections", b.maxConnections()).
				Msg("connection refused: there are as many as the broker may have")
		}
		return
	}
	b.conns[c] = struct{}{}
	b.mu.Unlock()
	b.wait.Go(func() {
		c.serve(b.ctx)
		b.mu.Lock()
		delete(b.conns, c)
		b.mu.Unlock()
	})
}

// Connections is how many there are.
func (b *Broker) Connections() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}
