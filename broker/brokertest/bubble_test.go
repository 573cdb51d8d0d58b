//go:build synctests

package brokertest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
)

// member is a kgo group member that notes what it owns and what it read.
type member struct {
	client *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	owned map[int32]bool
	read  []string
}

func startMember(t *testing.T, b *brokertest.Broker, name string) *member {
	m := &member{owned: map[int32]bool{}, done: make(chan struct{})}
	note := func(owned bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, parts map[string][]int32) {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, p := range parts["orders"] {
				if owned {
					m.owned[p] = true
				} else {
					delete(m.owned, p)
				}
			}
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.Dialer(b.Dial), kgo.ClientID(name),
		kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"), kgo.SessionTimeout(30*time.Second), kgo.HeartbeatInterval(3*time.Second),
		kgo.AutoCommitInterval(5*time.Second), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(note(true)), kgo.OnPartitionsRevoked(note(false)), kgo.OnPartitionsLost(note(false)))
	if err != nil {
		t.Fatal(err)
	}
	m.client = client
	ctx, cancel := context.WithCancel(t.Context())
	m.cancel = cancel
	go func() {
		defer close(m.done)
		for {
			fetches := client.PollFetches(ctx)
			if ctx.Err() != nil {
				return
			}
			m.mu.Lock()
			fetches.EachRecord(func(r *kgo.Record) { m.read = append(m.read, string(r.Value)) })
			m.mu.Unlock()
		}
	}()
	return m
}

func (m *member) partitions() (owned []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.owned {
		owned = append(owned, p)
	}
	slices.Sort(owned)
	return owned
}

func (m *member) records() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.read)
}

// stop ends a member: in good order, or as a process that dies, whose connections just go silent.
func (m *member) stop() {
	m.cancel()
	<-m.done
	m.client.Close()
}

// A real kgo group lives ten minutes of fake time: two members share, one falls silent, its session expires, the other
// takes over, and nothing is lost.
func TestTenMinutesOfAGroupInABubble(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b := brokertest.StartPipes(t, func(c *broker.Config) { c.Properties = map[string]string{"num.partitions": "6"} })
		silent := newMuffler(b)
		producer, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.Dialer(b.Dial), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("orders"))
		if err != nil {
			t.Fatal(err)
		}
		produce := func(from, to int) {
			for i := from; i < to; i++ {
				if err := producer.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
		}
		produce(0, 100)
		first := startMember(t, b, "first")
		second := startMember(t, silent.broker(b), "second")
		pass(time.Minute)
		if n1, n2 := len(first.partitions()), len(second.partitions()); n1 != 3 || n2 != 3 {
			t.Errorf("after a minute the members own %v and %v", first.partitions(), second.partitions())
		}
		silent.muffle()
		produce(100, 200)
		pass(20 * time.Second)
		if n := len(first.partitions()); n != 3 {
			t.Errorf("20 s after the last heartbeat, of a session of 30 s, the other owns %d partitions", n)
		}
		pass(40 * time.Second)
		if n := len(first.partitions()); n != 6 {
			t.Errorf("a minute after the last heartbeat the other owns %d partitions, want all 6", n)
		}
		produce(200, 300)
		pass(8 * time.Minute)
		all := append(first.records(), second.records()...)
		for i := range 300 {
			if !slices.Contains(all, fmt.Sprint(i)) {
				t.Errorf("record %d was lost", i)
			}
		}
		if lived := time.Since(start); lived < 10*time.Minute {
			t.Errorf("lived %v only", lived)
		}
		silent.cut()
		first.stop()
		second.stop()
		producer.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if took := time.Since(began); took > 10*time.Second { // some 40 ms, but the race detector and busy processors are slow
		t.Errorf("took %v of real time", took)
	} else {
		t.Logf("ten minutes in %v", took)
	}
}

// pass lets time pass in the bubble: its clock jumps as soon as everybody waits.
func pass(d time.Duration) { <-time.After(d) }
