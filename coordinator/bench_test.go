package coordinator

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// loadedCore is a core with one stable group of n members, which does not expire within the benchmark.
func loadedCore(tb testing.TB, n int) (*Core, []string, time.Time) {
	tb.Helper()
	now := time.Unix(1_700_000_000, 0)
	c := New(DefaultConfig(), 1)
	rec := &GroupRecord{Group: "orders", ProtocolType: "consumer", Generation: 7, StateTimestamp: now.UnixMilli()}
	protocol := "range"
	rec.Protocol = &protocol
	var ids []string
	for i := range n {
		id := fmt.Sprintf("consumer-orders-%d-f98e5be3-6caf-4a7d-ab90-%012d", i, i)
		ids = append(ids, id)
		rec.Members = append(rec.Members, MemberRecord{
			MemberID: id, ClientID: "consumer", ClientHost: "/10.0.0.1", RebalanceTimeout: 60_000, SessionTimeout: 45_000,
			Subscription: subscriptionTo("t"), Assignment: []byte("x"),
		})
	}
	rec.Leader = &ids[0]
	c.Replay(rec)
	c.Loaded(now)
	return c, ids, now
}

func BenchmarkCommit(b *testing.B) {
	for _, partitions := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("partitions=%d", partitions), func(b *testing.B) {
			c, ids, now := loadedCore(b, 10)
			topic := kmsg.OffsetCommitRequestTopic{Topic: "t"}
			for i := range partitions {
				topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: int32(i), LeaderEpoch: -1})
			}
			req := &kmsg.OffsetCommitRequest{
				Version: 8, Group: "orders", Generation: 7, MemberID: ids[3], RetentionTimeMillis: -1,
				Topics: []kmsg.OffsetCommitRequestTopic{topic},
			}
			ev := &Request{Body: req}
			b.ReportAllocs()
			for b.Loop() {
				ev.Token++
				now = now.Add(time.Microsecond)
				c.Step(now, ev)
			}
		})
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	for _, members := range []int{10, 1000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			c, ids, now := loadedCore(b, members)
			reqs := make([]*Request, len(ids))
			for i, id := range ids {
				reqs[i] = &Request{Body: &kmsg.HeartbeatRequest{Version: 4, Group: "orders", Generation: 7, MemberID: id}}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				ev := reqs[i%len(reqs)]
				i++
				now = now.Add(time.Microsecond)
				c.Step(now, ev)
			}
		})
	}
}

// BenchmarkIdle is what a second of 1,000 members costs that beat every 3 s: the ticks alone.
func BenchmarkIdle(b *testing.B) {
	c, ids, now := loadedCore(b, 1000)
	reqs := make([]*Request, len(ids))
	for i, id := range ids {
		reqs[i] = &Request{Body: &kmsg.HeartbeatRequest{Version: 4, Group: "orders", Generation: 7, MemberID: id}}
	}
	ticks := 0
	b.ReportAllocs()
	for b.Loop() {
		until := now.Add(time.Second)
		for i := range 333 {
			c.Step(now, reqs[(int(now.Unix())*333+i)%len(reqs)])
		}
		for next, ok := c.NextDeadline(); ok && !next.After(until); next, ok = c.NextDeadline() {
			now = next
			c.Tick(now)
			ticks++
		}
		now = until
	}
	b.ReportMetric(float64(ticks)/float64(b.N), "ticks/s")
}

// offsetRecords is a log of n commits, each to a partition of its own.
func offsetRecords(n int) []Record {
	records := make([]Record, 0, n)
	const perTopic, topics = 100, 10
	for i := range n {
		records = append(records, &OffsetRecord{
			Group: "group-" + strconv.Itoa(i/(perTopic*topics)), Topic: "topic-" + strconv.Itoa(i/perTopic%topics),
			Partition: int32(i % perTopic), Offset: int64(i), LeaderEpoch: -1, CommitTimestamp: 1_700_000_000_000, ExpireTimestamp: -1,
		})
	}
	return records
}

func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1_000_000} {
		b.Run(fmt.Sprintf("offsets=%d", n), func(b *testing.B) {
			records := offsetRecords(n)
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				c := New(DefaultConfig(), 1)
				for _, rec := range records {
					c.Replay(rec)
				}
				c.Loaded(time.Unix(1_700_000_000, 0))
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/offset")
		})
	}
}

// BenchmarkRebalance is one whole rebalance: each member's JoinGroup and SyncGroup.
func BenchmarkRebalance(b *testing.B) {
	for _, members := range []int{10, 1000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			c, ids, now := loadedCore(b, members)
			generation := int32(7)
			for b.Loop() {
				for _, id := range ids {
					c.Step(now, &Request{Body: &kmsg.JoinGroupRequest{
						Version: 9, Group: "orders", MemberID: id, ProtocolType: "consumer", SessionTimeoutMillis: 45_000, RebalanceTimeoutMillis: 60_000,
						Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscriptionTo("t")}},
					}})
				}
				generation++
				sync := &kmsg.SyncGroupRequest{Version: 3, Group: "orders", Generation: generation}
				for _, id := range ids[1:] {
					sync.MemberID = id
					c.Step(now, &Request{Body: sync})
				}
				sync.MemberID = ids[0]
				for _, id := range ids {
					sync.GroupAssignment = append(sync.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: []byte("y")})
				}
				c.Step(now, &Request{Body: sync})
				if g := c.groups["orders"]; g.state != Stable || g.generation != generation {
					b.Fatalf("the group is %s in generation %d, want Stable in %d", g.state, g.generation, generation)
				}
			}
		})
	}
}
