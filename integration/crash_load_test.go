package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	siegeTopic      = "load"
	siegePartitions = 4
	rawTopic        = "raw"
)

// place is where a record lies.
type place struct {
	partition int32
	offset    int64
}

// span bounds what may be found after a crash: at least what was acknowledged, at most what was sent.
type span struct{ acked, sent int64 }

// fate is what was asked for something that is made and later removed.
type fate struct{ made, removing, removed bool }

// ledger is what the clients know: every entry is a promise of the broker.
type ledger struct {
	mu      sync.Mutex
	records map[string]place // acknowledged, by value
	raw     map[int64]int64  // acknowledged offsets of the raw producer, by sequence
	commits map[string]span  // of simple groups
	steady  map[int32]span   // of the steady group, by partition
	next    map[int32]int64  // next offset that the steady group has to see
	topics  map[string]fate
	groups  map[string]fate
	issued  map[string]int32 // highest generation that a client was told, by group
	members map[string]string
	broken  []string // promises that a client saw broken
	counts  map[string]int
}

func newLedger() *ledger {
	return &ledger{
		records: map[string]place{}, raw: map[int64]int64{}, commits: map[string]span{}, steady: map[int32]span{}, next: map[int32]int64{},
		topics: map[string]fate{}, groups: map[string]fate{}, issued: map[string]int32{}, members: map[string]string{}, counts: map[string]int{},
	}
}

func (l *ledger) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *ledger) breach(format string, args ...any) {
	l.do(func() { l.broken = append(l.broken, fmt.Sprintf(format, args...)) })
}

// load is every client of a siege.
type load struct {
	*ledger
	gate *gate
	ctx  context.Context
	wait sync.WaitGroup

	clients []*kgo.Client
}

func (l *load) client(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client := newClient(t, "127.0.0.1:9092", append(l.opts(), opts...)...)
	l.do(func() { l.clients = append(l.clients, client) })
	return client
}

// close closes all clients at the same time.
func (l *load) close() {
	var wait sync.WaitGroup
	for _, client := range l.clients {
		wait.Go(client.CloseAllowingRebalance)
	}
	wait.Wait()
}

func (l *load) opts() []kgo.Opt {
	return []kgo.Opt{
		kgo.Dialer(l.gate.dial), kgo.MetadataMinAge(20 * time.Millisecond), kgo.RetryTimeout(time.Minute), kgo.RequestRetries(1000),
		kgo.AlwaysRetryEOF(), // or kgo takes a broker that dies before its first answer for one that wants TLS or SASL
	}
}

// start starts all of them.
func (l *load) start(t *testing.T, rng *rand.Rand) {
	t.Helper()
	for i := range 3 {
		client := l.client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.StopProducerOnDataLossDetected(), kgo.ProducerLinger(0))
		l.wait.Go(func() { l.produce(client, i, rand.New(rand.NewPCG(rng.Uint64(), 0))) })
	}
	for i := range 3 {
		client := l.client(t)
		l.wait.Go(func() { l.commit(client, i) })
	}
	for i := range 2 {
		l.join(t, fmt.Sprint("steady-", i))
	}
	stayer := l.restless(t, l.ctx)
	l.wait.Go(func() { l.drain(l.ctx, stayer) })
	l.wait.Go(func() { l.visit(t) })
	admin := kadm.NewClient(l.client(t))
	l.wait.Go(func() { l.makeAndRemove(admin) })
	raw := l.client(t)
	l.wait.Go(func() { l.produceRaw(raw, rand.New(rand.NewPCG(rng.Uint64(), 1))) })
}

// produce sends numbered records, and notes which of them were acknowledged, and where.
func (l *load) produce(client *kgo.Client, id int, rng *rand.Rand) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	window := make(chan struct{}, 100)
	for i := 0; l.ctx.Err() == nil; i++ {
		window <- struct{}{}
		value := fmt.Sprintf("%d-%d-%s", id, i, strings.Repeat("x", rng.IntN(700)))
		record := &kgo.Record{Topic: siegeTopic, Partition: int32(i % siegePartitions), Value: []byte(value)}
		client.Produce(context.Background(), record, func(r *kgo.Record, err error) {
			if err != nil {
				l.breach("producer %d, record %d: %v", id, i, err)
			} else {
				l.do(func() { l.records[value] = place{r.Partition, r.Offset} })
			}
			<-window
		})
		<-tick.C
	}
	for range cap(window) {
		window <- struct{}{}
	}
}

// commit commits rising offsets to simple groups, whose metadata repeats the offset.
func (l *load) commit(client *kgo.Client, id int) {
	const groups = 4
	var requests [groups]*kmsg.OffsetCommitRequest
	for i := range requests {
		requests[i] = commitRequest(client, fmt.Sprintf("simple-%d-%d", id, i), "", -1, siegeTopic, 0, 0)
	}
	for i := int64(1); l.ctx.Err() == nil; i++ {
		req := requests[i%groups]
		p := &req.Topics[0].Partitions[0]
		p.Offset, p.Metadata = i, kmsg.StringPtr(strconv.FormatInt(i, 10))
		l.do(func() { l.commits[req.Group] = span{l.commits[req.Group].acked, i} })
		switch err := sendCommit(l.ctx, client, req); {
		case err == nil:
			l.do(func() { l.commits[req.Group] = span{i, i} })
		case l.ctx.Err() == nil && isFinal(err):
			l.breach("commit %d to group %s: %v", i, req.Group, err)
		}
	}
}

// isFinal tells whether the broker gave an answer that a crash does not explain.
func isFinal(err error) bool {
	var code *kerr.Error
	return errors.As(err, &code) && !code.Retriable
}

// join adds a member of the steady group, which must come through every crash without a rebalance, a gap or a double.
func (l *load) join(t *testing.T, name string) {
	gave := func(how string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			if l.ctx.Err() == nil && l.settled() && len(p) > 0 {
				l.breach("steady member %s %s %v", name, how, p)
			}
		}
	}
	client := l.client(
		t, kgo.ConsumerGroup("steady"), kgo.ConsumeTopics(siegeTopic), kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.ClientID(name),
		kgo.SessionTimeout(30*time.Second), kgo.HeartbeatInterval(50*time.Millisecond), kgo.FetchMaxWait(50*time.Millisecond),
		kgo.AutoCommitInterval(commitInterval), kgo.OnPartitionsRevoked(gave("had to give up")), kgo.OnPartitionsLost(gave("lost")),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, _ map[string][]int32) {
			id, generation := client.GroupMetadata()
			l.do(func() { l.members[id] = name; l.issued["steady"] = max(l.issued["steady"], generation) })
		}),
		kgo.AutoCommitCallback(func(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			if err == nil {
				l.steadyCommitted(req, resp)
			}
		}),
	)
	l.wait.Go(func() {
		for l.ctx.Err() == nil {
			fetches := client.PollFetches(l.ctx)
			fetches.EachError(func(topic string, p int32, err error) {
				if l.ctx.Err() == nil {
					l.breach("steady member %s, %s-%d: %v", name, topic, p, err)
				}
			})
			fetches.EachRecord(func(r *kgo.Record) {
				l.do(func() {
					if want := l.next[r.Partition]; r.Offset != want && l.counts["gap"] < 10 {
						l.counts["gap"]++
						l.broken = append(l.broken, fmt.Sprintf("steady member %s was given %s-%d at offset %d, want %d", name, r.Topic, r.Partition, r.Offset, want))
					}
					l.next[r.Partition] = r.Offset + 1
					s := l.steady[r.Partition]
					l.steady[r.Partition] = span{s.acked, r.Offset + 1}
				})
			})
		}
	})
}

func (l *load) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts["settled"] > 0
}

func (l *load) steadyCommitted(req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse) {
	for i, topic := range resp.Topics {
		for j, p := range topic.Partitions {
			if p.ErrorCode == 0 {
				l.do(func() {
					s := l.steady[p.Partition]
					l.steady[p.Partition] = span{max(s.acked, req.Topics[i].Partitions[j].Offset), s.sent}
				})
			}
		}
	}
}

// restless returns a member of the group that rebalances all the time.
func (l *load) restless(t *testing.T, ctx context.Context) *kgo.Client {
	return l.client(
		t, kgo.WithContext(ctx), kgo.ConsumerGroup("restless"), kgo.ConsumeTopics(siegeTopic), kgo.HeartbeatInterval(20*time.Millisecond),
		kgo.SessionTimeout(400*time.Millisecond), kgo.FetchMaxWait(20*time.Millisecond), kgo.AutoCommitInterval(commitInterval),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, _ map[string][]int32) {
			_, generation := client.GroupMetadata()
			l.do(func() { l.issued["restless"] = max(l.issued["restless"], generation); l.counts["rebalances"]++ })
		}),
	)
}

func (l *load) drain(ctx context.Context, client *kgo.Client) {
	for ctx.Err() == nil {
		client.PollFetches(ctx)
	}
}

// visit joins the restless group and leaves it, again and again.
func (l *load) visit(t *testing.T) {
	for l.ctx.Err() == nil {
		ctx, cancel := context.WithTimeout(l.ctx, 5*time.Second)
		client := l.restless(t, l.ctx)
		for n := 0; n == 0 && ctx.Err() == nil; {
			n = client.PollFetches(ctx).NumRecords()
		}
		cancel()
		client.Close()
	}
}

// makeAndRemove creates topics and simple groups, and deletes them again.
func (l *load) makeAndRemove(admin *kadm.Client) {
	const keep = 3
	for i := 0; l.ctx.Err() == nil; i++ {
		topic, group := fmt.Sprint("topic-", i), fmt.Sprint("group-", i)
		// A retry of what the crash did not take finds its own work done.
		if _, err := admin.CreateTopic(l.ctx, 2, 1, nil, topic); l.done(err, kerr.TopicAlreadyExists) {
			l.do(func() { l.topics[topic] = fate{made: true} })
		}
		offsets := offsetsOf(siegeTopic, int64(i))
		offsets.AddOffset(topic, 0, int64(i), -1)
		if err := admin.CommitAllOffsets(l.ctx, group, offsets); l.done(err) {
			l.do(func() { l.groups[group] = fate{made: true} })
		}
		if i < keep {
			continue
		}
		topic, group = fmt.Sprint("topic-", i-keep), fmt.Sprint("group-", i-keep)
		l.do(func() { l.topics[topic], l.groups[group] = l.topics[topic].remove(), l.groups[group].remove() })
		if _, err := admin.DeleteTopic(l.ctx, topic); l.done(err, kerr.UnknownTopicOrPartition) {
			l.do(func() { l.topics[topic] = fate{removing: true, removed: true} })
		}
		if _, err := admin.DeleteGroup(l.ctx, group); l.done(err, kerr.GroupIDNotFound) {
			l.do(func() { l.groups[group] = fate{removing: true, removed: true} })
		}
	}
}

func (f fate) remove() fate { f.removing = true; return f }

// done tells whether something was acknowledged, at once or by the answer to a retry.
func (l *load) done(err error, also ...*kerr.Error) bool {
	for _, e := range also {
		if isCode(err, e) {
			return true
		}
	}
	if err != nil && l.ctx.Err() == nil {
		if isFinal(err) {
			l.breach("topics and groups: %v", err)
		}
	}
	return err == nil
}

// produceRaw sends batches of one idempotent producer by hand, and sends many of them twice: the answer to the second
// must name the same offset, also when a crash lies between the two.
func (l *load) produceRaw(client *kgo.Client, rng *rand.Rand) {
	pid := int64(-1)
	for pid < 0 && l.ctx.Err() == nil {
		if resp, err := kmsg.NewPtrInitProducerIDRequest().RequestWith(l.ctx, client); err == nil && resp.ErrorCode == 0 {
			pid = resp.ProducerID
		}
	}
	for seq := int64(0); l.ctx.Err() == nil; {
		again := seq
		if seq > 0 && rng.IntN(3) == 0 {
			again = seq - 1 // acknowledged before, perhaps by the broker's last life
		}
		offset, err := sendRaw(l.ctx, client, pid, int32(again))
		if err != nil {
			if isFinal(err) {
				l.breach("raw batch %d: %v", again, err)
				return
			}
			continue // the same batch again
		}
		l.do(func() {
			if old, ok := l.raw[again]; ok && old != offset {
				l.broken = append(l.broken, fmt.Sprintf("raw batch %d was acknowledged at offset %d, and its retry at %d", again, old, offset))
			}
			l.raw[again] = offset
		})
		if again == seq {
			seq++
		}
	}
}

func sendRaw(ctx context.Context, client *kgo.Client, pid int64, seq int32) (int64, error) {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 10_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = rawTopic
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = rawBatch(pid, seq, []byte(strconv.Itoa(int(seq))))
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	kresp, err := client.SeedBrokers()[0].Request(ctx, req) // not through the client's own retries
	if err != nil {
		return 0, err
	}
	p := kresp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	return p.BaseOffset, kerr.ErrorForCode(p.ErrorCode)
}
