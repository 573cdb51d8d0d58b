package coordinator_test

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
)

// A member falls silent. The coordinator gives its work to the other one, and when it wakes up it can no longer
// overwrite what its successor has committed.
func ExampleCore() {
	now := time.Unix(1_700_000_000, 0)
	core := coordinator.New(coordinator.DefaultConfig(), 1)
	do := func(body kmsg.Request) kmsg.Response {
		effects := core.Step(now, &coordinator.Request{Client: coordinator.Client{ID: "c", Host: "/10.0.0.4"}, Body: body})
		for _, n := range effects.Notes {
			fmt.Println(n)
		}
		if len(effects.Replies) == 0 {
			return nil // parked
		}
		return effects.Replies[0].Response
	}

	// What the log remembers from before the last restart.
	protocol, leader := "range", "consumer-1"
	core.Replay(&coordinator.GroupRecord{
		Group: "orders", ProtocolType: "consumer", Generation: 7, Protocol: &protocol, Leader: &leader,
		Members: []coordinator.MemberRecord{
			{MemberID: "consumer-1", ClientHost: "/10.0.0.4", SessionTimeout: 10_000, RebalanceTimeout: 60_000},
			{MemberID: "consumer-2", ClientHost: "/10.0.0.5", SessionTimeout: 45_000, RebalanceTimeout: 60_000},
		},
	})
	core.Loaded(now)

	// Nobody hears of consumer-1 for ten seconds.
	now = now.Add(10 * time.Second)
	for _, n := range core.Tick(now).Notes {
		fmt.Println(n)
	}

	// The heartbeat of consumer-2 tells it to join again, which it does. Now it owns everything.
	do(&kmsg.JoinGroupRequest{
		Version: 9, Group: "orders", MemberID: "consumer-2", ProtocolType: "consumer",
		SessionTimeoutMillis: 45_000, RebalanceTimeoutMillis: 60_000, Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range"}},
	})
	do(&kmsg.SyncGroupRequest{Group: "orders", MemberID: "consumer-2", Generation: 8})

	// consumer-1 wakes up and commits.
	answer := do(&kmsg.OffsetCommitRequest{
		Version: 8, Group: "orders", MemberID: "consumer-1", Generation: 7,
		Topics: []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: make([]kmsg.OffsetCommitRequestTopicPartition, 1)}},
	}).(*kmsg.OffsetCommitResponse)
	fmt.Println(kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode) == kerr.UnknownMemberID)

	// Output:
	// orders: generation 7, stable: consumer-1 (10.0.0.4) was removed: its session is over
	// orders: generation 7, rebalancing: consumer-1 (10.0.0.4) sent no heartbeat for 10 s
	// orders: generation 8, completing the rebalance: join phase over with 1 member, leader consumer-2, protocol "range"
	// orders: generation 8, stable: leader consumer-2 assigned 1 member
	// orders: generation 8, stable: consumer-1 (10.0.0.4) may not commit with generation 7: UNKNOWN_MEMBER_ID
	// true
}
