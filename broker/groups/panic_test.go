package groups

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// A core that breaks its own rules (here: because the clock goes back, which the core refuses to believe) answers the
// request that showed it, everybody else gets a code to try again with, and a new core goes on with what the disk holds.
// The third time within a minute ends the broker.
func TestPanicOfACore(t *testing.T) {
	store, err := partitionlog.Open(partitionlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var back atomic.Int64
	began := time.Now()
	fatal := make(chan error, 1)
	traces := make(chan string, 10)
	g := New(Config{
		Store: store, Coordinator: coordinator.DefaultConfig(), Log: zerolog.Nop(), Partitions: 1,
		Now:   func() time.Time { return began.Add(-time.Duration(back.Load())) },
		Seed:  func() uint64 { return 1 },
		Fatal: func(err error) { fatal <- err }, Panicked: func(trace string) { traces <- trace },
	})
	defer g.Close()
	if err := g.EnsureOffsetsTopic(); err != nil {
		t.Fatal(err)
	}
	if err := g.WaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := coordinator.Client{ID: "c", Host: "/127.0.0.1"}
	commit := func(offset int64) error {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Version, req.Group, req.Generation = 9, "g", -1
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset = offset
		req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{p}}}
		_, err := g.Do("g", client, req)
		return err
	}
	fetched := func() int64 {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version = 9
		one := kmsg.NewOffsetFetchRequestGroup()
		one.Group, one.Topics = "g", []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}
		req.Groups = append(req.Groups, one)
		resp, err := g.Do("g", client, req)
		if err != nil {
			t.Fatal(err)
		}
		return resp.(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0].Offset
	}
	if err := commit(1); err != nil {
		t.Fatal(err)
	}
	// A JoinGroup is parked: it must be answered too.
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, "g2", 10000, 10000, "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
	parked := make(chan error, 1)
	s := (*g.shards.Load())[0]
	task := g.pool.task(client, join)
	s.submit(task)
	go func() { _, err := g.pool.await(task); parked <- err }()
	if got := fetched(); got != 1 { // behind the join in the queue
		t.Fatalf("offset %d", got)
	}
	for i := range 3 {
		back.Add(int64(time.Second))
		if err := commit(99); !errors.Is(err, kerr.UnknownServerError) {
			t.Errorf("panic %d: got %v, want UNKNOWN_SERVER_ERROR", i, err)
		}
		<-traces
		if i == 0 {
			if err := <-parked; !errors.Is(err, kerr.NotCoordinator) {
				t.Errorf("the parked JoinGroup got %v, want NOT_COORDINATOR", err)
			}
		}
		if got := fetched(); got != 1 {
			t.Errorf("panic %d: the new core has offset %d, want 1", i, got)
		}
	}
	select {
	case err := <-fatal:
		t.Log(err)
	case <-time.After(10 * time.Second):
		t.Error("the third panic within a minute does not end the broker")
	}
}

// Records of one step are one batch, but for offset tombstones by the hundred thousand, which no journal frame holds.
func TestDeletionOfAHugeGroup(t *testing.T) {
	store, err := partitionlog.Open(partitionlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	began := time.Now()
	g := New(Config{
		Store: store, Coordinator: coordinator.DefaultConfig(), Partitions: 1,
		Now: func() time.Time { return began.Add(time.Since(began)) }, Seed: func() uint64 { return 1 },
		Log: zerolog.New(zerolog.NewTestWriter(t)), Fatal: func(err error) { t.Error(err) }, Panicked: func(trace string) { t.Error(trace) },
	})
	defer g.Close()
	if err := g.EnsureOffsetsTopic(); err != nil {
		t.Fatal(err)
	}
	if err := g.WaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	const topics, partitions = 60, 5000
	for i := range topics {
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Version, req.Group, req.Generation = 9, "g", -1
		topic := kmsg.OffsetCommitRequestTopic{Topic: "a-topic-with-a-name-" + string(rune('A'+i))}
		for p := range int32(partitions) {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: p, Offset: int64(p)})
		}
		req.Topics = append(req.Topics, topic)
		if _, err := g.Do("g", coordinator.Client{}, req); err != nil {
			t.Fatalf("commit %d: %v", i, err)
		}
	}
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Version, del.Groups = 2, []string{"g"}
	resp, err := g.Do("g", coordinator.Client{}, del)
	if err != nil || resp.(*kmsg.DeleteGroupsResponse).Groups[0].ErrorCode != 0 {
		t.Fatalf("got %v, %v", resp, err)
	}
	// A core that is replayed knows nothing of the group.
	s := (*g.shards.Load())[0]
	core := coordinator.New(coordinator.DefaultConfig(), 1)
	other := shard{cfg: s.cfg, partition: s.partition, core: core}
	if err := other.load(); err != nil {
		t.Fatal(err)
	}
	eff := other.core.Step(began.Add(time.Hour), &coordinator.Request{Token: 1, Body: &kmsg.ListGroupsRequest{Version: 4}})
	if list := eff.Replies[0].Response.(*kmsg.ListGroupsResponse).Groups; len(list) != 0 {
		t.Errorf("after the replay there are groups %+v", list)
	}
}
