package offsetbytes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience bounds every step of a history.
const patience = 30 * time.Second

// History is one run of the script against a broker.
type History struct {
	ctx   context.Context
	addr  string
	admin *kgo.Client
}

// NewHistory connects to a broker.
func NewHistory(ctx context.Context, addr string) (*History, error) {
	h := &History{ctx: ctx, addr: addr}
	var err error
	h.admin, err = h.client("admin")
	return h, err
}

// Close ends the connection.
func (h *History) Close() { h.admin.Close() }

func (h *History) client(id string, opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(h.addr), kgo.ClientID(id), kgo.DisableClientMetrics(), kgo.FetchMaxWait(100 * time.Millisecond),
	}, opts...)...)
}

// step is one part of a history, with a name for its error.
type step struct {
	name string
	run  func(context.Context) error
}

func (h *History) run(steps []step) error {
	for _, s := range steps {
		ctx, cancel := context.WithTimeout(h.ctx, patience)
		err := s.run(ctx)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// Common is what both brokers can do.
func (h *History) Common() error {
	return h.run([]step{
		{"topics", h.topics},
		{"a group of one member", func(ctx context.Context) error {
			return h.consume(ctx, "range", 10, kgo.Balancers(kgo.RangeBalancer()))
		}},
		{"the same group again", func(ctx context.Context) error {
			return h.consume(ctx, "range", 5, kgo.Balancers(kgo.RangeBalancer()))
		}},
		{"a cooperative group", func(ctx context.Context) error {
			return h.consume(ctx, "cooperative", 7, kgo.Balancers(kgo.CooperativeStickyBalancer()))
		}},
		{"a static member that stays", func(ctx context.Context) error {
			return h.consume(ctx, "static", 3, kgo.Balancers(kgo.RoundRobinBalancer()), kgo.InstanceID("seat-1"), kgo.SessionTimeout(5*time.Minute))
		}},
		{"commits without members", h.simple},
		{"a commit with a retention of its own", h.retention},
		{"a group of another protocol type", h.connect},
		{"a group of two members", h.pair},
		{"a group that is deleted", h.deleteGroup},
		{"an offset that is deleted", h.deleteOffset},
		{"a topic that is deleted", h.deleteTopic},
	})
}

// topics makes topics with records.
func (h *History) topics(ctx context.Context) error {
	admin := kadm.NewClient(h.admin)
	for name, partitions := range map[string]int32{"orders": 3, "payments": 2, "gone": 1} {
		r, err := admin.CreateTopic(ctx, partitions, 1, nil, name)
		if err := errors.Join(err, r.Err); err != nil {
			return err
		}
	}
	return h.produce(ctx, "orders", 3, 10)
}

// produce writes records to each partition of a topic, a batch each.
func (h *History) produce(ctx context.Context, topic string, partitions int32, n int) error {
	c, err := h.client("producer", kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range n {
		for p := range partitions {
			r := &kgo.Record{Topic: topic, Partition: p, Key: fmt.Appendf(nil, "k%d", i%4), Value: fmt.Appendf(nil, "%s-%d-%d", topic, p, i)}
			if err := c.ProduceSync(ctx, r).FirstErr(); err != nil {
				return err
			}
		}
	}
	return nil
}

// consume joins a group, takes at least n records, commits what it took and leaves; a static member stays.
func (h *History) consume(ctx context.Context, group string, n int, opts ...kgo.Opt) error {
	c, err := h.client("client-"+group, append([]kgo.Opt{
		kgo.ConsumerGroup(group), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(100 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		return err
	}
	defer c.Close()
	var took []*kgo.Record
	for len(took) < n {
		fetches := c.PollRecords(ctx, n-len(took))
		if err := fetches.Err0(); err != nil {
			return err
		}
		took = append(took, fetches.Records()...)
	}
	return c.CommitRecords(ctx, took...)
}

// commit sends an OffsetCommit as one who is no member.
func (h *History) commit(ctx context.Context, version int16, group string, retentionMs int64, offsets ...kmsg.OffsetCommitRequestTopic) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.RetentionTimeMillis, req.Topics = group, -1, retentionMs, offsets
	resp, err := request[*kmsg.OffsetCommitResponse](ctx, h.addr, req, version)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("%s-%d: %w", t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}

// at is an offset for a commit.
func at(topic string, partition int32, offset int64, epoch int32, metadata *string) kmsg.OffsetCommitRequestTopic {
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = partition, offset, epoch, metadata
	t.Partitions = append(t.Partitions, p)
	return t
}

// simple commits in several versions: with and without leader epoch and metadata, over each other, below.
func (h *History) simple(ctx context.Context) error {
	note := kmsg.StringPtr("Prüfung 日本")
	return errors.Join(
		h.commit(ctx, 5, "simple", -1, at("orders", 0, 4, -1, nil)),
		h.commit(ctx, 8, "simple", -1, at("orders", 0, 6, 0, note), at("orders", 1, 0, -1, kmsg.StringPtr(""))),
		h.commit(ctx, 9, "simple", -1, at("orders", 0, 2, 0, note)),
		h.commit(ctx, 9, "gruppe-ü", -1, at("payments", 1, 9_000_000_000, -1, nil)),
	)
}

// retention commits as old clients do that name how long the offset is kept.
func (h *History) retention(ctx context.Context) error {
	const year = 365 * 24 * 3600 * 1000
	return h.commit(ctx, 2, "retained", year, at("orders", 2, 8, -1, kmsg.StringPtr("kept a year")))
}

// connect is a group whose members are no consumers. It has offsets of nothing, and its member leaves.
func (h *History) connect(ctx context.Context) error {
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = "workers", 10_000, 20_000, "connect"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "sessioned", Metadata: []byte{1, 2, 3}}, {Name: "default", Metadata: []byte{4}}}
	joined, err := request[*kmsg.JoinGroupResponse](ctx, h.addr, join, 3)
	if err := errors.Join(err, codeOf(joined)); err != nil {
		return err
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = "workers", joined.Generation, joined.MemberID
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte("all of it")}}
	synced, err := request[*kmsg.SyncGroupResponse](ctx, h.addr, sync, 1)
	if err != nil {
		return err
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = "workers", joined.MemberID
	_, err = request[*kmsg.LeaveGroupResponse](ctx, h.addr, leave, 1)
	return errors.Join(err, kerr.ErrorForCode(synced.ErrorCode))
}

func codeOf(r *kmsg.JoinGroupResponse) error {
	if r == nil {
		return nil
	}
	return kerr.ErrorForCode(r.ErrorCode)
}

func (h *History) deleteGroup(ctx context.Context) error {
	if err := h.consume(ctx, "deleted", 2); err != nil {
		return err
	}
	_, err := kadm.NewClient(h.admin).DeleteGroup(ctx, "deleted")
	return err
}

func (h *History) deleteOffset(ctx context.Context) error {
	if err := h.commit(ctx, 8, "halved", -1, at("orders", 0, 1, -1, nil), at("orders", 1, 2, -1, nil)); err != nil {
		return err
	}
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = "halved"
	req.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 1}}}}
	resp, err := request[*kmsg.OffsetDeleteResponse](ctx, h.addr, req, 0)
	if err != nil {
		return err
	}
	return errors.Join(kerr.ErrorForCode(resp.ErrorCode), kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode))
}

// deleteTopic deletes a topic that has committed offsets, and waits for their tombstone, which Kafka writes afterwards.
func (h *History) deleteTopic(ctx context.Context) error {
	if err := h.commit(ctx, 8, "bereft", -1, at("gone", 0, 1, -1, nil), at("orders", 2, 3, -1, nil)); err != nil {
		return err
	}
	admin := kadm.NewClient(h.admin)
	if _, err := admin.DeleteTopic(ctx, "gone"); err != nil {
		return err
	}
	for {
		records, err := h.Dump(ctx, false)
		if err != nil || slices.ContainsFunc(records, func(r Record) bool {
			return r.Group == "bereft" && slices.Contains(r.Fields, Field{"value", "null"})
		}) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
