package lagreader_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/integration/clients/lagreader"
)

// TestFollow commits before and after the reader begins, and compares with what kadm computes by the coordinator.
func TestFollow(t *testing.T) {
	b := brokertest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := lagreader.Follow(ctx, b.Addr()); err == nil || !strings.Contains(err.Error(), "__consumer_offsets") {
		t.Fatalf("before the first group: %v", err)
	}
	cl := b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(10*time.Millisecond))
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 2, 1, nil, "orders"); err != nil {
		t.Fatal(err)
	}
	produce := func(partition int32, n int) {
		for range n {
			if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "orders", Partition: partition, Value: []byte("x")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit := func(group string, partition int32, at int64) {
		offsets := kadm.Offsets{}
		offsets.AddOffset("orders", partition, at, -1)
		if err := adm.CommitAllOffsets(ctx, group, offsets); err != nil {
			t.Fatal(err)
		}
	}
	produce(0, 10)
	produce(1, 4)
	commit("g", 0, 3)
	commit("other", 1, 4)

	r, err := lagreader.Follow(ctx, b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	check := func(group string, want map[int32]int64) {
		t.Helper()
		if err := r.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		if got := r.Lag(group); !reflect.DeepEqual(got, map[string]map[int32]int64{"orders": want}) {
			t.Errorf("lag of %s: %v, want %v; %v", group, got, want, r.Err())
		}
		lags, err := adm.Lag(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		for partition, lag := range want {
			if got := lags[group].Lag["orders"][partition]; got.Lag != lag {
				t.Errorf("kadm says %+v of partition %d, want %d", got, partition, lag)
			}
		}
	}
	check("g", map[int32]int64{0: 7})
	check("other", map[int32]int64{1: 0})
	commit("g", 0, 9)
	commit("g", 1, 1)
	produce(1, 2)
	check("g", map[int32]int64{0: 1, 1: 5})
	if got := r.Lag("nobody"); len(got) != 0 {
		t.Errorf("lag of nobody: %v", got)
	}
	live(ctx, t, b, r)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// live joins a group and looks for it in what the reader has.
func live(ctx context.Context, t *testing.T, b *brokertest.Broker, r *lagreader.Reader) {
	t.Helper()
	member := b.Client(t, kgo.ConsumerGroup("live"), kgo.ConsumeTopics("orders"), kgo.ClientID("app"), kgo.InstanceID("seat"))
	if err := member.PollFetches(ctx).Err0(); err != nil {
		t.Fatal(err)
	}
	if err := r.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	id, generation := member.GroupMetadata()
	g, ok := r.Group("live")
	if !ok || g.ProtocolType != "consumer" || g.Leader != id || g.Generation != generation || g.Protocol != "cooperative-sticky" || g.Since <= 0 {
		t.Fatalf("got %+v, %v", g, ok)
	}
	if len(g.Members) != 1 || g.Members[0].ID != id || g.Members[0].Instance != "seat" || g.Members[0].ClientID != "app" ||
		len(g.Members[0].Subscription) == 0 || len(g.Members[0].Assignment) == 0 {
		t.Errorf("got %+v", g.Members)
	}
}
