package offsetbytes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka is what only Kafka can do.
func (h *History) Kafka() error {
	return h.run([]step{
		{"a log that begins above 0", h.deleteRecords},
		{"a transaction that is committed", func(ctx context.Context) error { return h.transaction(ctx, "committed", 5, kgo.TryCommit) }},
		{"a transaction that is aborted", func(ctx context.Context) error { return h.transaction(ctx, "aborted", 6, kgo.TryAbort) }},
		{"a commit over one of a transaction", h.overtaken},
		{"a transaction that does not end", h.unended},
		{"a consumer group", h.consumerGroup},
		{"a share group", h.shareGroup},
		{"a topic that is only trimmed", h.trimmed},
		{"a compacted topic", h.compacted},
	})
}

// deleteRecords moves the log start of a partition into the middle of its records.
func (h *History) deleteRecords(ctx context.Context) error {
	return h.trim(ctx, "orders", 2, 2)
}

func (h *History) trim(ctx context.Context, topic string, partition int32, before int64) error {
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: before})
	r, err := kadm.NewClient(h.admin).DeleteRecords(ctx, offsets)
	return errors.Join(err, r.Error())
}

// trimmed leaves a partition whose offsets are all below its log start.
func (h *History) trimmed(ctx context.Context) error {
	if _, err := kadm.NewClient(h.admin).CreateTopic(ctx, 1, 1, nil, "trimmed"); err != nil {
		return err
	}
	if err := h.produce(ctx, "trimmed", 1, 4); err != nil {
		return err
	}
	return h.trim(ctx, "trimmed", 0, 4)
}

// compacted leaves holes where records were overwritten.
func (h *History) compacted(ctx context.Context) error {
	configs := map[string]*string{"cleanup.policy": kmsg.StringPtr("compact"), "segment.ms": kmsg.StringPtr("100"), "min.cleanable.dirty.ratio": kmsg.StringPtr("0")}
	if _, err := kadm.NewClient(h.admin).CreateTopic(ctx, 1, 1, configs, "compacted"); err != nil {
		return err
	}
	c, err := h.client("reader", kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"compacted": {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		if err := h.produce(ctx, "compacted", 1, 10); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		c.SetOffsets(map[string]map[int32]kgo.EpochOffset{"compacted": {0: {Epoch: -1, Offset: 0}}})
		records := c.PollFetches(ctx).Records()
		if len(records) > 0 && records[0].Offset > 0 {
			return nil
		}
	}
}

// begin begins a transaction of a record and of an offset.
func (h *History) begin(ctx context.Context, group string, offset int64) (*kgo.Client, error) {
	c, err := h.client("producer", kgo.TransactionalID("tx-"+group), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return nil, err
	}
	if err := c.BeginTransaction(); err != nil {
		return c, err
	}
	if err := c.ProduceSync(ctx, &kgo.Record{Topic: "payments", Partition: 0, Value: []byte(group)}).FirstErr(); err != nil {
		return c, err
	}
	id, epoch, err := c.ProducerID(ctx)
	if err != nil {
		return c, err
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = "tx-"+group, id, epoch, group
	added, err := request[*kmsg.AddOffsetsToTxnResponse](ctx, h.addr, add, 3)
	if err != nil {
		return c, err
	}
	if err := kerr.ErrorForCode(added.ErrorCode); err != nil {
		return c, err
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch, req.Generation = "tx-"+group, group, id, epoch, -1
	p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = 1, offset, kmsg.StringPtr("in a transaction")
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{p}}}
	resp, err := request[*kmsg.TxnOffsetCommitResponse](ctx, h.addr, req, 3)
	if err != nil {
		return c, err
	}
	return c, kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

func (h *History) transaction(ctx context.Context, group string, offset int64, end kgo.TransactionEndTry) error {
	c, err := h.begin(ctx, group, offset)
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	return c.EndTransaction(ctx, end)
}

// overtaken commits an offset plainly while a transaction holds another for the same partition: the later record wins,
// although the transaction is committed afterwards.
func (h *History) overtaken(ctx context.Context) error {
	c, err := h.begin(ctx, "overtaken", 3)
	if c != nil {
		defer c.Close()
	}
	if err != nil {
		return err
	}
	if err := h.commit(ctx, 8, "overtaken", -1, at("orders", 1, 9, -1, nil)); err != nil {
		return err
	}
	return c.EndTransaction(ctx, kgo.TryCommit)
}

// unended leaves a transaction open; its group has one plain offset, too.
func (h *History) unended(ctx context.Context) error {
	if err := h.commit(ctx, 8, "unended", -1, at("orders", 1, 1, -1, nil)); err != nil {
		return err
	}
	c, err := h.begin(ctx, "unended", 7)
	if c != nil {
		c.CloseAllowingRebalance()
	}
	return err
}

// consumerGroup is a group of KIP-848: a member joins, commits and leaves.
func (h *History) consumerGroup(ctx context.Context) error {
	const group, member = "next-generation", "AAAAAAAAQACAAAAAAAAAAQ"
	beat := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	beat.Group, beat.MemberID, beat.MemberEpoch, beat.RebalanceTimeoutMillis = group, member, 0, 300_000
	beat.SubscribedTopicNames, beat.Topics = []string{"orders"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	joined, err := request[*kmsg.ConsumerGroupHeartbeatResponse](ctx, h.addr, beat, 1)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(joined.ErrorCode); err != nil {
		return fmt.Errorf("joining: %w", err)
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.MemberID = group, joined.MemberEpoch, member
	req.Topics = []kmsg.OffsetCommitRequestTopic{at("orders", 0, 8, 0, nil), at("orders", 1, 7, 0, nil)}
	committed, err := request[*kmsg.OffsetCommitResponse](ctx, h.addr, req, 9)
	if err != nil {
		return err
	}
	beat.MemberEpoch, beat.SubscribedTopicNames, beat.Topics = -1, nil, nil
	_, err = request[*kmsg.ConsumerGroupHeartbeatResponse](ctx, h.addr, beat, 1)
	return errors.Join(err, kerr.ErrorForCode(committed.Topics[0].Partitions[0].ErrorCode))
}

// shareGroup is a member of a share group that stays for one heartbeat.
func (h *History) shareGroup(ctx context.Context) error {
	beat := kmsg.NewPtrShareGroupHeartbeatRequest()
	beat.GroupID, beat.MemberID, beat.SubscribedTopicNames = "shared", "AAAAAAAAQACAAAAAAAAAAg", []string{"payments"}
	joined, err := request[*kmsg.ShareGroupHeartbeatResponse](ctx, h.addr, beat, 1)
	if err != nil {
		return err
	}
	beat.MemberEpoch, beat.SubscribedTopicNames = -1, nil
	_, err = request[*kmsg.ShareGroupHeartbeatResponse](ctx, h.addr, beat, 1)
	return errors.Join(err, kerr.ErrorForCode(joined.ErrorCode))
}
