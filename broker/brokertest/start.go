package brokertest

import (
	"context"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
)

// Broker is a broker that ends with its test.
type Broker struct {
	*broker.Broker
	// Dial connects to the broker, whatever address is asked for.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Start starts a broker on a free port of the loopback interface. It is ready when Start returns.
func Start(t testing.TB, edit ...func(*broker.Config)) *Broker {
	t.Helper()
	b := start(t, broker.Config{}, edit)
	b.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, b.Addr())
	}
	return b
}

// StartPipes starts a broker on in-memory pipes, for use inside a bubble of testing/synctest. Clients reach it through
// Dial, which Client sets.
//
// Everything that it makes must be closed within the bubble: call Close, and close every client, before the bubble's
// function returns.
func StartPipes(t testing.TB, edit ...func(*broker.Config)) *Broker {
	t.Helper()
	n := newPipes()
	b := start(t, broker.Config{Listen: n.listen}, edit)
	b.Dial = n.dial
	return b
}

func start(t testing.TB, c broker.Config, edit []func(*broker.Config)) *Broker {
	t.Helper()
	c.Logger = logger(t)
	c.OnPanic = func(trace string) { t.Errorf("the coordinator broke one of its own rules:\n%s", trace) }
	for _, f := range edit {
		f(&c)
	}
	b, err := broker.Start(t.Context(), c)
	if err != nil {
		t.Fatalf("brokertest: %v", err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("brokertest: closing the broker: %v", err)
		}
	})
	return &Broker{Broker: b}
}

// Client returns a client of the broker that ends with the test.
func (b *Broker) Client(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Addr()), kgo.Dialer(b.Dial)}, opts...)...)
	if err != nil {
		t.Fatalf("brokertest: %v", err)
	}
	t.Cleanup(client.Close)
	return client
}
