package broker_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/brokertest"
)

// Who asks for KIP-848 learns at once that it is off, in words, and no group comes of it.
func testConsumerGroupHeartbeat(t *testing.T, b *brokertest.Broker, v int16) {
	w, group := dial(t, b), unique(t)
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.SubscribedTopicNames, req.RebalanceTimeoutMillis = group, "m", []string{"t"}, 1000
	req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	got := ask[*kmsg.ConsumerGroupHeartbeatResponse](w, v, req)
	if got.ErrorCode != 35 || got.ErrorMessage == nil || !strings.Contains(*got.ErrorMessage, "group.protocol=classic") {
		t.Errorf("got %+v", got)
	}
	for _, g := range ask[*kmsg.ListGroupsResponse](w, 4, kmsg.NewPtrListGroupsRequest()).Groups {
		if g.Group == group {
			t.Errorf("there is a group now: %+v", g)
		}
	}
}
