package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commitInterval is how often members of a crew commit.
const commitInterval = 100 * time.Millisecond

// crew is what the members of one group on one topic do, as they see it themselves.
type crew struct {
	addr, group, topic string
	opts               []kgo.Opt

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever something below changes
	owned   map[string]map[int32]bool
	moves   []move
	seen    map[int32]map[int64][]sight
	commits map[string]map[int32]int64 // last acknowledged, by member and partition
	errs    map[string][]error
}

// move is one callback of one member.
type move struct {
	member     string
	kind       string // assigned, revoked or lost
	partitions []int32
}

// sight is one member's sight of a record.
type sight struct {
	member string
	at     time.Time
}

// member is a client in a group. It commits what it has processed every commitInterval, and when it must give a
// partition away.
type member struct {
	crew   *crew
	name   string
	client *kgo.Client
	wire   *cable
	cancel context.CancelFunc
	done   chan struct{}
}

func newCrew(addr, group, topic string, opts ...kgo.Opt) *crew {
	return &crew{
		addr: addr, group: group, topic: topic, opts: opts, changed: make(chan struct{}),
		owned: map[string]map[int32]bool{}, seen: map[int32]map[int64][]sight{},
		commits: map[string]map[int32]int64{}, errs: map[string][]error{},
	}
}

// update changes the crew's books and wakes those who watch them.
func (c *crew) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// until waits until the books say so.
func (c *crew) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		ok, changed := holds(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Fatalf("after %v not yet: %s\nowned: %v\nmoves: %v\nerrors: %v", patience, what, c.owned, c.moves, c.errs)
		}
	}
}

// join starts a member.
func (c *crew) join(t testing.TB, name string, opts ...kgo.Opt) *member {
	t.Helper()
	m := &member{crew: c, name: name, wire: &cable{}, done: make(chan struct{})}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(t.Context())
	c.update(func() { c.owned[name], c.commits[name] = map[int32]bool{}, map[int32]int64{} })
	all := []kgo.Opt{
		kgo.SeedBrokers(c.addr), kgo.Dialer(m.wire.dial), kgo.WithContext(ctx), kgo.RetryBackoffFn(shortBackoff), kgo.ClientID(name),
		kgo.ConsumerGroup(c.group), kgo.ConsumeTopics(c.topic), kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(50 * time.Millisecond), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(commitInterval), kgo.AutoCommitCallback(m.committed),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { m.moved("assigned", p) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, p map[string][]int32) {
			if err := client.CommitMarkedOffsets(ctx); err != nil {
				m.failed(fmt.Errorf("commit before giving up %v: %w", p, err))
			}
			m.moved("revoked", p)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, p map[string][]int32) { m.moved("lost", p) }),
	}
	var err error
	if m.client, err = kgo.NewClient(slices.Concat(all, c.opts, opts)...); err != nil {
		t.Fatal(err)
	}
	go m.work(ctx)
	t.Cleanup(func() { m.kill() })
	return m
}

// work polls and processes until the client is closed.
func (m *member) work(ctx context.Context) {
	defer close(m.done)
	defer m.client.AllowRebalance() // the last poll blocked it, and closing waits for it
	for {
		fetches := m.client.PollRecords(ctx, 500)
		if fetches.IsClientClosed() || ctx.Err() != nil {
			return
		}
		fetches.EachError(func(_ string, _ int32, err error) { m.failed(err) })
		records := fetches.Records()
		if len(records) > 0 {
			now := time.Now()
			m.crew.update(func() {
				for _, r := range records {
					p := m.crew.seen[r.Partition]
					if p == nil {
						p = map[int64][]sight{}
						m.crew.seen[r.Partition] = p
					}
					p[r.Offset] = append(p[r.Offset], sight{m.name, now})
				}
			})
			m.client.MarkCommitRecords(records...)
		}
		m.client.AllowRebalance()
	}
}

func (m *member) failed(err error) {
	m.crew.update(func() { m.crew.errs[m.name] = append(m.crew.errs[m.name], err) })
}

func (m *member) moved(kind string, p map[string][]int32) {
	partitions := slices.Sorted(slices.Values(p[m.crew.topic]))
	m.crew.update(func() {
		for _, i := range partitions {
			if kind == "assigned" {
				m.crew.owned[m.name][i] = true
			} else {
				delete(m.crew.owned[m.name], i)
			}
		}
		m.crew.moves = append(m.crew.moves, move{m.name, kind, partitions})
	})
}

// committed notes which commits the broker has acknowledged.
func (m *member) committed(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
	if err != nil || resp == nil {
		return
	}
	m.crew.update(func() {
		for i, topic := range resp.Topics {
			for j, p := range topic.Partitions {
				if p.ErrorCode == 0 {
					m.crew.commits[m.name][p.Partition] = req.Topics[i].Partitions[j].Offset
				}
			}
		}
	})
}

// leave closes the member in good order: it commits, and says good-bye.
func (m *member) leave() {
	m.client.CloseAllowingRebalance()
	m.cancel()
	<-m.done
}

// kill cuts the member off: not a byte more from it reaches the broker. Nothing of it is left when kill returns.
func (m *member) kill() {
	m.wire.sever()
	m.cancel()
	m.client.CloseAllowingRebalance()
	<-m.done
}

// share waits until each of the members owns n partitions, and the others of the crew none of them.
func (c *crew) share(t testing.TB, n int, members ...*member) {
	t.Helper()
	c.until(t, fmt.Sprintf("%d members with %d partitions each", len(members), n), func() bool {
		all := map[int32]bool{}
		for _, m := range members {
			if len(c.owned[m.name]) != n {
				return false
			}
			maps.Copy(all, c.owned[m.name])
		}
		return len(all) == n*len(members)
	})
}

// movesSince returns the callbacks after the first n, and how many there are now.
func (c *crew) movesSince(n int) ([]move, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.moves[n:]), len(c.moves)
}

// feed produces numbered records, one partition after the other, until it is stopped; stop returns how many records
// each partition has.
func feed(t testing.TB, addr, topic string, partitions int32) (stop func() []int64) {
	t.Helper()
	client := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	counts := make([]int64, partitions)
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := int32(0); ctx.Err() == nil; i = (i + 1) % partitions {
			r := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: i, Value: fmt.Append(nil, counts[i])})
			if err := r.FirstErr(); err != nil {
				t.Errorf("feeding %s-%d: %v", topic, i, err)
				return
			}
			counts[i]++
			<-tick.C
		}
	}()
	stopped := false
	stop = func() []int64 {
		if !stopped {
			stopped = true
			cancel()
			<-done
		}
		return counts
	}
	t.Cleanup(func() { stop() })
	return stop
}

// allSeen waits until every record has been seen by somebody.
func (c *crew) allSeen(t testing.TB, counts []int64) {
	t.Helper()
	c.until(t, fmt.Sprintf("%v records, each seen", counts), func() bool {
		for p, n := range counts {
			if int64(len(c.seen[int32(p)])) < n {
				return false
			}
		}
		return true
	})
}

// doubles returns the records that were seen more than once.
func (c *crew) doubles() map[int32]map[int64][]sight {
	c.mu.Lock()
	defer c.mu.Unlock()
	twice := map[int32]map[int64][]sight{}
	for p, offsets := range c.seen {
		for o, sights := range offsets {
			if len(sights) > 1 {
				if twice[p] == nil {
					twice[p] = map[int64][]sight{}
				}
				twice[p][o] = sights
			}
		}
	}
	return twice
}

// heartbeat sends a member's heartbeat from outside the member.
func heartbeat(t testing.TB, client *kgo.Client, group, memberID string, instance *string, generation int32) error {
	t.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.InstanceID, req.Generation = group, memberID, instance, generation
	resp, err := req.RequestWith(limited(t), client)
	if err != nil {
		t.Fatalf("heartbeat of %s: %v", memberID, err)
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
