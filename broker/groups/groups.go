package groups

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// Config says what the shards work on and with.
type Config struct {
	Store       *partitionlog.Store
	Coordinator coordinator.Config
	Log         zerolog.Logger
	Now         func() time.Time // never goes backwards, and does not follow steps of the wall clock
	Seed        func() uint64    // one number for each core that is made
	Partitions  int32            // offsets.topic.num.partitions, for a topic that does not exist yet
	Overrides   map[string]string
	// Fatal is told what the broker cannot go on with: a core that panics again and again.
	Fatal func(error)
	// Panicked is told of each panic of a core, before it is replaced. It may be nil.
	Panicked func(trace string)
}

// Groups is every group of the broker.
type Groups struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	shards atomic.Pointer[[]*shard] // nil until the offsets topic exists

	pool pool

	mu sync.Mutex // creation of the topic and its shards
}

// New returns groups without shards; Open starts them.
func New(cfg Config) *Groups {
	ctx, cancel := context.WithCancel(context.Background())
	return &Groups{cfg: cfg, ctx: ctx, cancel: cancel}
}

// Open starts the shards of an offsets topic that exists. They replay on their own; until they have, their groups
// answer COORDINATOR_LOAD_IN_PROGRESS.
func (g *Groups) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.cfg.Store.Topic(offsetslog.Topic); t != nil {
		shards := g.startShards(t)
		g.shards.Store(&shards)
	}
}

// EnsureOffsetsTopic creates the offsets topic, durably, and its shards, if they do not exist.
//
// Deviation: Kafka answers COORDINATOR_NOT_AVAILABLE to the lookup that makes it create the topic; here it exists
// before the answer leaves, so that the first lookup succeeds.
func (g *Groups) EnsureOffsetsTopic() error {
	if g.shards.Load() != nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shards.Load() != nil {
		return nil
	}
	if g.ctx.Err() != nil {
		return kerr.CoordinatorNotAvailable
	}
	t, err := g.cfg.Store.CreateTopic(partitionlog.TopicSpec{
		Name: offsetslog.Topic, Partitions: g.cfg.Partitions, Internal: true, Overrides: g.cfg.Overrides,
	})
	if errors.Is(err, partitionlog.ErrTopicExists) {
		t, err = g.cfg.Store.Topic(offsetslog.Topic), nil
	}
	if err != nil {
		return err
	}
	// There is nothing to load, but it takes its moment, and a client that was told to try again would wait for much
	// longer than that.
	shards := g.startShards(t)
	err = waitLoaded(g.ctx, shards)
	g.shards.Store(&shards)
	return err
}

// startShards needs mu.
func (g *Groups) startShards(t *partitionlog.Topic) []*shard {
	shards := make([]*shard, len(t.Partitions))
	for i, p := range t.Partitions {
		shards[i] = newShard(&g.cfg, p)
	}
	for _, s := range shards {
		g.wait.Go(func() { s.run(g.ctx) })
	}
	return shards
}

// WaitLoaded waits until every shard has replayed its partition.
//
// Errors: that of the context; what a replay ran into.
func (g *Groups) WaitLoaded(ctx context.Context) error {
	if shards := g.shards.Load(); shards != nil {
		return waitLoaded(ctx, *shards)
	}
	return nil
}

func waitLoaded(ctx context.Context, shards []*shard) error {
	for _, s := range shards {
		select {
		case <-s.loaded:
			s.mu.Lock()
			err := s.loadErr
			s.mu.Unlock()
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Do hands a request to the shard that owns the group and waits for the answer, which for a JoinGroup may take long.
//
// Owner: the request's byte fields are read until Do returns.
// Errors: *kerr.Error, for the caller to put where its api carries errors: NOT_COORDINATOR,
// COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR.
func (g *Groups) Do(group string, client coordinator.Client, body kmsg.Request) (kmsg.Response, error) {
	if g.ctx.Err() != nil {
		return nil, kerr.CoordinatorNotAvailable
	}
	shards := g.shards.Load()
	if shards == nil {
		return nil, kerr.NotCoordinator
	}
	s := (*shards)[offsetslog.PartitionFor(group, int32(len(*shards)))]
	t := g.pool.task(client, body)
	s.submit(t)
	return g.pool.await(t)
}

// All hands the same question to every shard and returns the answers in the order of the partitions. make is called
// once for each.
//
// Errors: as Do; the first one.
func (g *Groups) All(client coordinator.Client, make func() kmsg.Request) ([]kmsg.Response, error) {
	return g.each(func() *task { return g.pool.task(client, make()) })
}

// TopicsDeleted makes every group forget its offsets of these topics, and returns when that is durable. It waits for
// groups that are still being read: half a deletion would have to be finished by the next start.
func (g *Groups) TopicsDeleted(topics []string) error {
	if err := g.WaitLoaded(g.ctx); err != nil {
		return kerr.CoordinatorNotAvailable
	}
	_, err := g.each(func() *task {
		t := g.pool.task(coordinator.Client{}, nil)
		t.deleted = topics
		return t
	})
	return err
}

func (g *Groups) each(newTask func() *task) ([]kmsg.Response, error) {
	shards := g.shards.Load()
	if shards == nil {
		return nil, nil
	}
	if g.ctx.Err() != nil {
		return nil, kerr.CoordinatorNotAvailable
	}
	tasks := make([]*task, len(*shards))
	for i, s := range *shards {
		tasks[i] = newTask()
		s.submit(tasks[i])
	}
	var first error
	replies := make([]kmsg.Response, 0, len(tasks))
	for _, t := range tasks {
		resp, err := g.pool.await(t)
		if err != nil && first == nil {
			first = err
		}
		replies = append(replies, resp)
	}
	return replies, first
}

// Poke makes every shard look at the clock again, after somebody moved it.
func (g *Groups) Poke() {
	if shards := g.shards.Load(); shards != nil {
		for _, s := range *shards {
			s.poke()
		}
	}
}

// Close answers everybody who waits and ends the shards.
func (g *Groups) Close() {
	g.cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wait.Wait()
}

// describe is the shard's name in the log.
func (s *shard) describe() string {
	return offsetslog.Topic + "-" + strconv.Itoa(int(s.partition.Index()))
}
