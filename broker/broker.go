package broker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"github.com/kohort/kohort/broker/api"
	"github.com/kohort/kohort/broker/groups"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/broker/topics"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/protocol"
)

// Broker is a running broker.
type Broker struct {
	// Warnings are settings that had no effect, with the nearest name that would have one.
	Warnings []settings.Warning

	settings     *settings.Settings
	log          zerolog.Logger
	clock        *clock
	store        *partitionlog.Store
	groups       *groups.Groups
	api          *api.Server
	listener     net.Listener
	listenerName string
	limits       protocol.Limits
	writeTimeout time.Duration
	inFlight     *semaphore.Weighted
	seeds        atomic.Uint64
	fixedSeed    uint64

	ctx    context.Context // of requests: ends when Close begins
	cancel context.CancelFunc
	wait   sync.WaitGroup // accept and connections
	mu     sync.Mutex
	conns  map[*conn]struct{}

	once   sync.Once
	failed atomic.Pointer[error]
	done   chan struct{} // closed when Close has finished
	err    error         // of Close
}

// Start starts a broker and returns when it is ready: it accepts connections, and every group and committed offset is
// back. The context bounds the start only.
//
// Errors: a sentence that names the offending value and the remedy: a port or a data directory in use, a setting that a
// property does not take, a damaged directory.
func Start(ctx context.Context, c Config) (*Broker, error) {
	b := &Broker{
		log: c.Logger, clock: newClock(), writeTimeout: c.WriteTimeout, fixedSeed: c.Seed,
		conns: map[*conn]struct{}{}, done: make(chan struct{}),
	}
	if b.writeTimeout <= 0 {
		b.writeTimeout = defaultWriteTimeout
	}
	if err := b.load(c); err != nil {
		return nil, err
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.open(c); err != nil {
		b.cancel()
		return nil, err
	}
	b.wait.Go(b.accept)
	go b.watch()
	b.groups.Open()
	if err := b.recover(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// load reads the settings.
func (b *Broker) load(c Config) error {
	profile := c.Profile
	if c.DataDir == "" {
		profile = settings.Dev
	}
	sources := c.Sources
	if len(c.Properties) > 0 {
		sources = append([]settings.Source{{Name: "Config.Properties", Values: c.Properties}}, sources...)
	}
	var err error
	b.settings, b.Warnings, err = settings.Load(profile, sources...)
	if err != nil {
		return err
	}
	for _, w := range b.Warnings {
		b.log.Warn().Str("source", w.Source).Str("name", w.Name).Msg(w.Text)
	}
	b.limits = protocol.DefaultLimits()
	b.limits.Produce = int(b.settings.SocketRequestMaxBytes)
	b.limits.Other = min(b.limits.Other, b.limits.Produce)
	b.inFlight = semaphore.NewWeighted(b.settings.QueuedMaxRequestBytes)
	return nil
}

// open listens, opens the store and makes what stands between them.
func (b *Broker) open(c Config) error {
	addr := c.Addr
	if len(b.settings.Listeners) > 0 {
		b.listenerName = b.settings.Listeners[0].Name
		if addr == "" {
			addr = b.settings.Listeners[0].Addr()
		}
	}
	if addr == "" {
		addr = defaultAddr
	}
	listen := c.Listen
	if listen == nil {
		listen = net.Listen
	}
	var err error
	if b.listener, err = listen("tcp", addr); err != nil {
		return fmt.Errorf("listening on %s: %w", addr, err)
	}
	if err := b.openStore(c); err != nil {
		return errors.Join(err, b.listener.Close())
	}
	b.groups = groups.New(groups.Config{
		Store: b.store, Coordinator: b.settings.Coordinator(), Log: b.log, Now: b.clock.now, Seed: b.seed,
		Partitions: b.settings.OffsetsTopicNumPartitions, Overrides: b.settings.OffsetsTopicOverrides(),
		Fatal: b.fail, Panicked: c.OnPanic,
	})
	b.api = api.New(&api.Server{
		Store: b.store, Settings: b.settings, Groups: b.groups, Topics: &topics.View{Store: b.store}, Log: b.log,
		Now: b.clock.now, NodeID: b.settings.NodeID,
	})
	return nil
}

// seed is a number for a new core: from the operating system, or a sequence that repeats when the configuration names
// its beginning.
func (b *Broker) seed() uint64 {
	if b.fixedSeed != 0 {
		return b.fixedSeed + b.seeds.Add(1)*0x9e3779b97f4a7c15
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails, by its documentation
	return binary.LittleEndian.Uint64(seed[:])
}

// recover waits for the groups, and finishes what a crash interrupted.
func (b *Broker) recover(ctx context.Context) error {
	if err := b.groups.WaitLoaded(ctx); err != nil {
		return fmt.Errorf("reading groups and offsets: %w", err)
	}
	for _, t := range b.store.DeletingTopics() {
		if err := b.groups.TopicsDeleted([]string{t.Name}); err != nil {
			return fmt.Errorf("finishing the deletion of topic %s: %w", t.Name, err)
		}
		if err := b.store.FinishDeleteTopic(t.ID); err != nil {
			return fmt.Errorf("finishing the deletion of topic %s: %w", t.Name, err)
		}
		b.log.Info().Str("topic", t.Name).Msg("finished a deletion that was interrupted")
	}
	return nil
}

// Addr is the address that the broker listens on.
func (b *Broker) Addr() string { return b.listener.Addr().String() }

// Settings are the effective settings.
func (b *Broker) Settings() *settings.Settings { return b.settings }

// Advance moves the broker's clock forward, and lets fire what is due by then: sessions, rebalances, expiry.
func (b *Broker) Advance(d time.Duration) {
	b.clock.advance(d)
	b.groups.Poke()
}

// admit and release bound the bytes of frames in flight over all connections. A frame larger than the bound passes
// alone.
func (b *Broker) admit(n int) error {
	return b.inFlight.Acquire(b.ctx, min(int64(n), b.settings.QueuedMaxRequestBytes))
}

func (b *Broker) release(n int) {
	b.inFlight.Release(min(int64(n), b.settings.QueuedMaxRequestBytes))
}

// maxConnections is the setting, which in Kafka counts all of a broker's connections.
func (b *Broker) maxConnections() int {
	if n := b.settings.MaxConnections; n > 0 {
		return int(n)
	}
	return math.MaxInt
}
