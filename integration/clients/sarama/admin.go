package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// administrator has what the commands need.
type administrator struct {
	client sarama.Client
	adm    sarama.ClusterAdmin
}

// admin answers commands with sarama's ClusterAdmin.
func admin(args lines.Args) {
	config := sarama.NewConfig()
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.AutoCommit.Enable = false
	client, err := sarama.NewClient(brokers(args), config)
	if err != nil {
		lines.Fail(err)
	}
	defer client.Close()
	adm, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		lines.Fail(err)
	}
	a := &administrator{client, adm}
	do := map[string]func([]string) (any, error){}
	a.topics(do)
	a.offsets(do)
	a.groups(do)
	lines.Admin(do)
}

func (a *administrator) topics(do map[string]func([]string) (any, error)) {
	do["create_topic"] = func(w []string) (any, error) {
		return lines.None, a.adm.CreateTopic(w[0], &sarama.TopicDetail{NumPartitions: int32(lines.Number(w[1])), ReplicationFactor: 1}, false)
	}
	do["create_partitions"] = func(w []string) (any, error) {
		return lines.None, a.adm.CreatePartitions(w[0], int32(lines.Number(w[1])), nil, false)
	}
	do["list_topics"] = func([]string) (any, error) {
		topics, err := a.adm.ListTopics()
		return lines.Fields{"topics": names(topics)}, err
	}
	do["describe_topic"] = func(w []string) (any, error) {
		topics, err := a.adm.DescribeTopics(w[:1])
		if err != nil {
			return nil, err
		}
		if topics[0].Err != sarama.ErrNoError {
			return nil, topics[0].Err
		}
		return lines.Fields{"partitions": len(topics[0].Partitions)}, nil
	}
	do["describe_config"] = func(w []string) (any, error) {
		entries, err := a.adm.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: w[0], ConfigNames: w[1:]})
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Name == w[1] {
				return lines.Fields{"value": e.Value}, nil
			}
		}
		return nil, fmt.Errorf("topic %s has no config %s", w[0], w[1])
	}
	do["alter_config"] = func(w []string) (any, error) { return alterConfig(a, w[0], w[1], w[2]) }
	do["delete_topic"] = func(w []string) (any, error) { return lines.None, a.adm.DeleteTopic(w[0]) }
	do["describe_cluster"] = func([]string) (any, error) {
		brokers, controller, err := a.adm.DescribeCluster()
		return lines.Fields{"brokers": len(brokers), "controller": controller}, err
	}
}

func (a *administrator) offsets(do map[string]func([]string) (any, error)) {
	do["list_offsets"] = func(w []string) (any, error) {
		starts, err := a.list(w[0], sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		ends, err := a.list(w[0], sarama.OffsetNewest)
		return lines.Fields{"earliest": starts, "latest": ends}, err
	}
	do["offsets_by_time"] = func(w []string) (any, error) {
		offsets, err := a.list(w[0], lines.Number(w[1]))
		return lines.Fields{"offsets": offsets}, err
	}
	do["delete_records"] = func(w []string) (any, error) {
		return lines.None, a.adm.DeleteRecords(w[0], map[int32]int64{int32(lines.Number(w[1])): lines.Number(w[2])})
	}
}

// list returns an offset of each partition.
func (a *administrator) list(topic string, at int64) (map[int32]int64, error) {
	if err := a.client.RefreshMetadata(topic); err != nil {
		return nil, err
	}
	partitions, err := a.client.Partitions(topic)
	if err != nil {
		return nil, err
	}
	result := map[int32]int64{}
	for _, p := range partitions {
		if result[p], err = a.client.GetOffset(topic, p, at); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (a *administrator) groups(do map[string]func([]string) (any, error)) {
	do["list_groups"] = func([]string) (any, error) {
		groups, err := a.adm.ListConsumerGroups()
		return lines.Fields{"groups": names(groups)}, err
	}
	do["describe_group"] = func(w []string) (any, error) {
		groups, err := a.adm.DescribeConsumerGroups(w[:1])
		if err != nil {
			return nil, err
		}
		if groups[0].Err != sarama.ErrNoError {
			return nil, groups[0].Err
		}
		return lines.Fields{"state": groups[0].State, "members": len(groups[0].Members)}, nil
	}
	do["group_offsets"] = func(w []string) (any, error) {
		partitions, err := a.client.Partitions(w[1])
		if err != nil {
			return nil, err
		}
		offsets, err := committedOffsets(a.adm, w[0], w[1], partitions)
		maps.DeleteFunc(offsets, func(_ int32, offset int64) bool { return offset < 0 })
		return lines.Fields{"offsets": offsets}, err
	}
	do["alter_group_offsets"] = func(w []string) (any, error) {
		return lines.None, alterOffsets(a, w[0], w[1], int32(lines.Number(w[2])), lines.Number(w[3]))
	}
	do["delete_group_offsets"] = func(w []string) (any, error) {
		return lines.None, a.adm.DeleteConsumerGroupOffset(w[0], w[1], int32(lines.Number(w[2])))
	}
	do["delete_group"] = func(w []string) (any, error) { return lines.None, a.adm.DeleteConsumerGroup(w[0]) }
}

// names returns the keys, also as a list when there are none.
func names[V any](m map[string]V) []string {
	return append([]string{}, slices.Sorted(maps.Keys(m))...)
}
