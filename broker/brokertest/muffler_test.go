//go:build synctests

package brokertest_test

import (
	"context"
	"net"
	"sync"

	"github.com/kohort/kohort/broker/brokertest"
)

// muffler stands between a client and a broker and, once muffled, swallows what the client writes: to the broker, the
// client has fallen silent without closing a connection.
type muffler struct {
	b     *brokertest.Broker
	mu    sync.Mutex
	quiet bool
	conns []net.Conn
}

func newMuffler(b *brokertest.Broker) *muffler { return &muffler{b: b} }

// broker is the same broker, reached through the muffler.
func (m *muffler) broker(b *brokertest.Broker) *brokertest.Broker {
	return &brokertest.Broker{Broker: b.Broker, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := b.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		m.mu.Lock()
		m.conns = append(m.conns, c)
		m.mu.Unlock()
		return muffled{c, m}, nil
	}}
}

func (m *muffler) muffle() {
	m.mu.Lock()
	m.quiet = true
	m.mu.Unlock()
}

func (m *muffler) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		c.Close()
	}
}

type muffled struct {
	net.Conn
	m *muffler
}

func (c muffled) Write(b []byte) (int, error) {
	c.m.mu.Lock()
	quiet := c.m.quiet
	c.m.mu.Unlock()
	if quiet {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
