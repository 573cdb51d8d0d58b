package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ConsumerGroupHeartbeat (key 68), versions 0 to 1.
//
//	v0  the first (KIP-848)
//	v1  regular expressions; member ids made by clients (KIP-1082)
//
// The consumer protocol is off (group.coordinator.rebalance.protocols is "classic"), and the answer is Kafka's of a
// broker on which it is off. The api is advertised all the same, as there: librdkafka asks a coordinator without it
// again for ever, and without a word.
// Source: KafkaApis.handleConsumerGroupHeartbeat
func (s *Server) consumerGroupHeartbeat(_ context.Context, c *Call) (kmsg.Response, error) {
	resp := c.Request.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
	resp.Default()
	resp.ErrorCode = kerr.UnsupportedVersion.Code
	resp.ErrorMessage = kmsg.StringPtr("this broker does not serve group.protocol=consumer (KIP-848); use group.protocol=classic")
	return resp, nil
}
