package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// commitOffsets commits synchronously and returns the first error, of the request or of a partition.
func commitOffsets(ctx context.Context, cl *kgo.Client, topic string, next map[int32]int64) error {
	offsets := map[int32]kgo.EpochOffset{}
	for p, offset := range next {
		offsets[p] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	var failed error
	cl.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			if failed = err; err != nil {
				return
			}
			for _, t := range resp.Topics {
				for _, p := range t.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						failed = err
					}
				}
			}
		})
	return failed
}

// admin answers commands with kadm.
func admin(args lines.Args) {
	cl := connect(args, kgo.MetadataMinAge(10*time.Millisecond)) // or else kadm sees topics as they were up to 5 s ago
	defer cl.Close()
	ctx, adm := context.Background(), kadm.NewClient(cl)
	do := map[string]func([]string) (any, error){}
	adminTopics(ctx, adm, do)
	adminOffsets(ctx, adm, do)
	adminGroups(ctx, adm, do)
	lines.Admin(do)
}

func adminTopics(ctx context.Context, adm *kadm.Client, do map[string]func([]string) (any, error)) {
	do["create_topic"] = func(a []string) (any, error) {
		_, err := adm.CreateTopic(ctx, int32(lines.Number(a[1])), -1, nil, a[0])
		return lines.None, err
	}
	do["create_partitions"] = func(a []string) (any, error) {
		resp, err := adm.UpdatePartitions(ctx, int(lines.Number(a[1])), a[0])
		return lines.None, first(err, resp.Error)
	}
	do["list_topics"] = func([]string) (any, error) {
		topics, err := adm.ListTopics(ctx)
		return lines.Fields{"topics": topics.Names()}, err
	}
	do["describe_topic"] = func(a []string) (any, error) {
		topics, err := adm.ListTopics(ctx, a[0])
		return lines.Fields{"partitions": len(topics[a[0]].Partitions)}, first(err, topics.Error)
	}
	do["describe_config"] = func(a []string) (any, error) {
		configs, err := adm.DescribeTopicConfigs(ctx, a[0])
		if err != nil {
			return nil, err
		}
		config, err := configs.On(a[0], nil)
		if err := first(err, func() error { return config.Err }); err != nil {
			return nil, err
		}
		for _, c := range config.Configs {
			if c.Key == a[1] {
				return lines.Fields{"value": c.MaybeValue()}, nil
			}
		}
		return nil, fmt.Errorf("topic %s has no config %s", a[0], a[1])
	}
	do["alter_config"] = func(a []string) (any, error) {
		resp, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: a[1], Value: &a[2]}}, a[0])
		if err != nil {
			return nil, err
		}
		one, err := resp.On(a[0], nil)
		return lines.None, first(err, func() error { return one.Err })
	}
	do["delete_topic"] = func(a []string) (any, error) {
		_, err := adm.DeleteTopic(ctx, a[0])
		return lines.None, err
	}
	do["describe_cluster"] = func([]string) (any, error) {
		meta, err := adm.BrokerMetadata(ctx)
		return lines.Fields{"cluster": meta.Cluster, "brokers": len(meta.Brokers), "controller": meta.Controller}, err
	}
}

func adminOffsets(ctx context.Context, adm *kadm.Client, do map[string]func([]string) (any, error)) {
	do["list_offsets"] = func(a []string) (any, error) {
		starts, err := adm.ListStartOffsets(ctx, a[0])
		if err := first(err, starts.Error); err != nil {
			return nil, err
		}
		ends, err := adm.ListEndOffsets(ctx, a[0])
		return lines.Fields{"earliest": listed(starts, a[0]), "latest": listed(ends, a[0])}, first(err, ends.Error)
	}
	do["offsets_by_time"] = func(a []string) (any, error) {
		offsets, err := adm.ListOffsetsAfterMilli(ctx, lines.Number(a[1]), a[0])
		result := listed(offsets, a[0])
		for p, o := range offsets[a[0]] {
			if o.Timestamp < 0 { // kadm then gives the end
				result[p] = -1
			}
		}
		return lines.Fields{"offsets": result}, first(err, offsets.Error)
	}
	do["delete_records"] = func(a []string) (any, error) {
		offsets := kadm.Offsets{}
		offsets.AddOffset(a[0], int32(lines.Number(a[1])), lines.Number(a[2]), -1)
		resp, err := adm.DeleteRecords(ctx, offsets)
		return lines.None, first(err, resp.Error)
	}
}

func adminGroups(ctx context.Context, adm *kadm.Client, do map[string]func([]string) (any, error)) {
	do["list_groups"] = func([]string) (any, error) {
		groups, err := adm.ListGroups(ctx)
		return lines.Fields{"groups": groups.Groups()}, err
	}
	do["describe_group"] = func(a []string) (any, error) {
		groups, err := adm.DescribeGroups(ctx, a[0])
		g := groups[a[0]]
		return lines.Fields{"state": g.State, "members": len(g.Members)}, first(err, groups.Error)
	}
	do["group_offsets"] = func(a []string) (any, error) {
		offsets, err := adm.FetchOffsets(ctx, a[0])
		result := map[int32]int64{}
		for p, o := range offsets[a[1]] {
			result[p] = o.At
		}
		return lines.Fields{"offsets": result}, first(err, offsets.Error)
	}
	do["alter_group_offsets"] = func(a []string) (any, error) {
		offsets := kadm.Offsets{}
		offsets.AddOffset(a[1], int32(lines.Number(a[2])), lines.Number(a[3]), -1)
		resp, err := adm.CommitOffsets(ctx, a[0], offsets)
		return lines.None, first(err, resp.Error)
	}
	do["delete_group_offsets"] = func(a []string) (any, error) {
		set := kadm.TopicsSet{}
		set.Add(a[1], int32(lines.Number(a[2])))
		resp, err := adm.DeleteOffsets(ctx, a[0], set)
		return lines.None, first(err, resp.Error)
	}
	do["delete_group"] = func(a []string) (any, error) {
		_, err := adm.DeleteGroup(ctx, a[0])
		return lines.None, err
	}
}

// listed returns a topic's offsets by partition.
func listed(offsets kadm.ListedOffsets, topic string) map[int32]int64 {
	result := map[int32]int64{}
	for p, o := range offsets[topic] {
		result[p] = o.Offset
	}
	return result
}

// first returns an error, or else that of the answer.
func first(err error, answer func() error) error {
	if err != nil {
		return err
	}
	return answer()
}
