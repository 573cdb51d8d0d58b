//go:build !old

package main

import (
	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func strategy(config *sarama.Config, name string) {
	switch name {
	case "eager":
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	case "cooperative":
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
}

func transactional(config *sarama.Config, id string) {
	config.Producer.Transaction.ID = id
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
}

func inTransaction(producer sarama.SyncProducer, transactional bool, send func() error) error {
	if !transactional {
		return send()
	}
	if err := producer.BeginTxn(); err != nil {
		return err
	}
	if err := send(); err != nil {
		return err
	}
	return producer.CommitTxn()
}

func alterOffsets(a *administrator, group, topic string, partition int32, offset int64) error {
	resp, err := a.adm.AlterConsumerGroupOffsets(group, map[string]map[int32]sarama.OffsetAndMetadata{
		topic: {partition: {Offset: offset, LeaderEpoch: -1}},
	}, nil)
	if err != nil {
		return err
	}
	for _, partitions := range resp.Errors {
		for _, code := range partitions {
			if code != sarama.ErrNoError {
				return code
			}
		}
	}
	return nil
}

func alterConfig(a *administrator, topic, name, value string) (any, error) {
	return lines.None, a.adm.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
		name: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
	}, false)
}
