package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// DescribeProducers (key 61), version 0 (KIP-664).
//
// The idempotent producers that a partition remembers. There are no transactions, so none has one open, and none has
// been written to by a transaction coordinator.
// Source: KafkaApis.handleDescribeProducersRequest, ReplicaManager.activeProducerState
func (s *Server) describeProducers(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeProducersRequest)
	resp := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	resp.Default()
	for i := range req.Topics {
		asked := &req.Topics[i]
		answer := kmsg.NewDescribeProducersResponseTopic()
		answer.Topic = asked.Topic
		t, bad := s.topic(asked.Topic), checkName(asked.Topic)
		if bad == nil && t == nil {
			bad = &refusal{code: kerr.UnknownTopicOrPartition.Code}
		}
		for _, index := range asked.Partitions {
			partition := kmsg.NewDescribeProducersResponseTopicPartition()
			partition.Partition = index
			switch {
			case bad != nil:
				partition.ErrorCode, partition.ErrorMessage = bad.code, bad.text()
			case index < 0 || int(index) >= len(t.Partitions):
				partition.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				s.activeProducers(t.Partitions[index], &partition)
			}
			answer.Partitions = append(answer.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp, nil
}

// activeProducers fills in the producers of a partition.
func (s *Server) activeProducers(p *partitionlog.Partition, answer *kmsg.DescribeProducersResponseTopicPartition) {
	known, err := s.Store.Producers(p)
	if err != nil {
		answer.ErrorCode = errorCode(err)
		return
	}
	for _, producer := range known {
		active := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		active.ProducerID, active.ProducerEpoch = producer.ID, int32(producer.Epoch)
		active.LastSequence, active.LastTimestamp = producer.LastSequence, producer.LastMs
		active.CoordinatorEpoch, active.CurrentTxnStartOffset = -1, -1
		answer.ActiveProducers = append(answer.ActiveProducers, active)
	}
}
