package main

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// administrator has what the commands need.
type administrator struct {
	*kafka.Client
	ctx context.Context
}

// admin answers commands with kafka-go's Client.
func admin(args lines.Args) {
	a := administrator{client(args), context.Background()}
	do := map[string]func([]string) (any, error){}
	a.topics(do)
	a.configs(do)
	a.offsets(do)
	a.groups(do)
	lines.Admin(do)
}

func (a administrator) topics(do map[string]func([]string) (any, error)) {
	do["create_topic"] = func(w []string) (any, error) {
		resp, err := a.CreateTopics(a.ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
			{Topic: w[0], NumPartitions: int(lines.Number(w[1])), ReplicationFactor: -1},
		}})
		return lines.None, first(err, func() error { return resp.Errors[w[0]] })
	}
	do["create_partitions"] = func(w []string) (any, error) {
		resp, err := a.CreatePartitions(a.ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{
			{Name: w[0], Count: int32(lines.Number(w[1]))},
		}})
		return lines.None, first(err, func() error { return resp.Errors[w[0]] })
	}
	do["list_topics"] = func([]string) (any, error) {
		resp, err := a.Metadata(a.ctx, &kafka.MetadataRequest{})
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, topic := range resp.Topics {
			if !topic.Internal {
				names = append(names, topic.Name)
			}
		}
		return lines.Fields{"topics": names}, nil
	}
	do["describe_topic"] = func(w []string) (any, error) {
		partitions, err := a.partitions(w[0])
		return lines.Fields{"partitions": len(partitions)}, err
	}
	do["delete_topic"] = func(w []string) (any, error) {
		resp, err := a.DeleteTopics(a.ctx, &kafka.DeleteTopicsRequest{Topics: w[:1]})
		return lines.None, first(err, func() error { return resp.Errors[w[0]] })
	}
	do["describe_cluster"] = func([]string) (any, error) {
		resp, err := a.Metadata(a.ctx, &kafka.MetadataRequest{})
		if err != nil {
			return nil, err
		}
		return lines.Fields{"cluster": resp.ClusterID, "brokers": len(resp.Brokers), "controller": resp.Controller.ID}, nil
	}
}

// partitions returns the partitions of a topic.
func (a administrator) partitions(topic string) ([]int, error) {
	resp, err := a.Metadata(a.ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	var partitions []int
	for _, p := range resp.Topics[0].Partitions {
		partitions = append(partitions, p.ID)
	}
	return partitions, resp.Topics[0].Error
}

func (a administrator) configs(do map[string]func([]string) (any, error)) {
	do["describe_config"] = func(w []string) (any, error) {
		resp, err := a.DescribeConfigs(a.ctx, &kafka.DescribeConfigsRequest{Resources: []kafka.DescribeConfigRequestResource{
			{ResourceType: kafka.ResourceTypeTopic, ResourceName: w[0], ConfigNames: w[1:]},
		}})
		if err := first(err, func() error { return resp.Resources[0].Error }); err != nil {
			return nil, err
		}
		for _, c := range resp.Resources[0].ConfigEntries {
			if c.ConfigName == w[1] {
				return lines.Fields{"value": c.ConfigValue}, nil
			}
		}
		return nil, fmt.Errorf("topic %s has no config %s", w[0], w[1])
	}
	do["alter_config"] = func(w []string) (any, error) {
		resp, err := a.IncrementalAlterConfigs(a.ctx, &kafka.IncrementalAlterConfigsRequest{Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: w[0],
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: w[1], Value: w[2], ConfigOperation: kafka.ConfigOperationSet}},
		}}})
		return lines.None, first(err, func() error { return resp.Resources[0].Error })
	}
}

func (a administrator) offsets(do map[string]func([]string) (any, error)) {
	list := func(topic string, of func(int) kafka.OffsetRequest) (map[int]int64, error) {
		partitions, err := a.partitions(topic)
		if err != nil {
			return nil, err
		}
		return listOffsets(a.Client, topic, partitions, of)
	}
	do["list_offsets"] = func(w []string) (any, error) {
		starts, err := list(w[0], kafka.FirstOffsetOf)
		if err != nil {
			return nil, err
		}
		ends, err := list(w[0], kafka.LastOffsetOf)
		return lines.Fields{"earliest": starts, "latest": ends}, err
	}
	do["offsets_by_time"] = func(w []string) (any, error) {
		offsets, err := list(w[0], byTime(lines.Number(w[1])))
		return lines.Fields{"offsets": offsets}, err
	}
}

func (a administrator) groups(do map[string]func([]string) (any, error)) {
	do["list_groups"] = func([]string) (any, error) {
		resp, err := a.ListGroups(a.ctx, &kafka.ListGroupsRequest{})
		if err := first(err, func() error { return resp.Error }); err != nil {
			return nil, err
		}
		names := []string{}
		for _, g := range resp.Groups {
			names = append(names, g.GroupID)
		}
		return lines.Fields{"groups": names}, nil
	}
	do["describe_group"] = func(w []string) (any, error) {
		resp, err := a.DescribeGroups(a.ctx, &kafka.DescribeGroupsRequest{GroupIDs: w[:1]})
		if err := first(err, func() error { return resp.Groups[0].Error }); err != nil {
			return nil, err
		}
		return lines.Fields{"state": resp.Groups[0].GroupState, "members": len(resp.Groups[0].Members)}, nil
	}
	do["group_offsets"] = func(w []string) (any, error) {
		partitions, err := a.partitions(w[1])
		if err != nil {
			return nil, err
		}
		offsets, err := committedOffsets(a.Client, w[0], w[1], partitions)
		for p, offset := range offsets {
			if offset < 0 {
				delete(offsets, p)
			}
		}
		return lines.Fields{"offsets": offsets}, err
	}
	do["alter_group_offsets"] = func(w []string) (any, error) {
		resp, err := a.OffsetCommit(a.ctx, &kafka.OffsetCommitRequest{GroupID: w[0], GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{
			w[1]: {{Partition: int(lines.Number(w[2])), Offset: lines.Number(w[3])}},
		}})
		return lines.None, first(err, func() error { return resp.Topics[w[1]][0].Error })
	}
	do["delete_group_offsets"] = func(w []string) (any, error) {
		resp, err := a.OffsetDelete(a.ctx, &kafka.OffsetDeleteRequest{GroupID: w[0], Topics: map[string][]int{w[1]: {int(lines.Number(w[2]))}}})
		return lines.None, first(err, func() error {
			if resp.Error != nil {
				return resp.Error
			}
			return resp.Topics[w[1]][0].Error
		})
	}
	do["delete_group"] = func(w []string) (any, error) {
		resp, err := a.DeleteGroups(a.ctx, &kafka.DeleteGroupsRequest{GroupIDs: w[:1]})
		return lines.None, first(err, func() error { return resp.Errors[w[0]] })
	}
}

// first returns an error, or else that of the answer.
func first(err error, answer func() error) error {
	if err != nil {
		return err
	}
	return answer()
}
