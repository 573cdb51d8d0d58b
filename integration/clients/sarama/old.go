//go:build old

package main

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func strategy(_ *sarama.Config, name string) {
	if name == "cooperative" {
		lines.Fail(errors.New("this version of sarama has no cooperative strategy"))
	}
}

func transactional(*sarama.Config, string) {
	lines.Fail(errors.New("transactions are tried with the new version"))
}

func inTransaction(_ sarama.SyncProducer, _ bool, send func() error) error {
	return send()
}

// alterOffsets commits as a group without members, which is what there was before AlterConsumerGroupOffsets.
func alterOffsets(a *administrator, group, topic string, partition int32, offset int64) error {
	manager, err := sarama.NewOffsetManagerFromClient(group, a.client)
	if err != nil {
		return err
	}
	p, err := manager.ManagePartition(topic, partition)
	if err != nil {
		return err
	}
	p.ResetOffset(offset, "")
	p.MarkOffset(offset, "")
	manager.Commit()
	p.AsyncClose()
	if err := manager.Close(); err != nil {
		return err
	}
	for err := range p.Errors() {
		return err
	}
	got, err := committedOffsets(a.adm, group, topic, []int32{partition})
	if err == nil && got[partition] != offset {
		err = fmt.Errorf("committed is %d", got[partition])
	}
	return err
}

// alterConfig sends the full list, as AlterConfigs demands: whoever changes one value gives all the others, too.
func alterConfig(a *administrator, topic, name, value string) (any, error) {
	return lines.None, a.adm.AlterConfig(sarama.TopicResource, topic, map[string]*string{name: &value}, false)
}
