package groups

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// turnEvents bounds how many events share one turn, and so how large a turn's batch and how late its first answer can be.
const turnEvents = 512

// batchBytes is where a turn's records go on in another batch, so that a batch is far below what a journal frame holds.
// splitBytes is where even one step's records do, if they are tombstones: a group or a topic with a million offsets goes
// in several batches, of which the group's own tombstone is in the last, so that half of it, after a crash, is a group
// with fewer offsets whose deletion nobody was told of.
const (
	batchBytes = 512 << 10
	splitBytes = 4 << 20
)

// turn is what one round of steps has brought about and the disk does not hold yet.
//
// Invariant: ops are ascending indexes into records, each behind the last record of one step.
type turn struct {
	records []coordinator.Record
	ops     []int
	replies []coordinator.Reply
	notes   []coordinator.Note
}

func (t *turn) add(e coordinator.Effects) {
	if len(e.Records) > 0 {
		t.records = append(t.records, e.Records...)
		t.ops = append(t.ops, len(t.records))
	}
	t.replies = append(t.replies, e.Replies...)
	t.notes = append(t.notes, e.Notes...)
}

func (t *turn) reset() {
	clear(t.records)
	clear(t.replies)
	clear(t.notes)
	t.records, t.ops, t.replies, t.notes = t.records[:0], t.ops[:0], t.replies[:0], t.notes[:0]
}

// run1 is one turn: events first, so that a heartbeat that is already here saves its member, then what is due.
func (s *shard) run1(batch []*task) {
	now := s.cfg.Now()
	full := s.cfg.Store.DiskFull()
	for i, t := range batch {
		if full && refusedWhenFull(t.body) {
			t.finish(nil, kerr.CoordinatorNotAvailable)
			continue
		}
		if !s.step(now, t) {
			for _, rest := range batch[i+1:] {
				rest.finish(nil, kerr.NotCoordinator)
			}
			return
		}
	}
	if at, ok := s.core.NextDeadline(); ok && !at.After(now) {
		if !s.guard(func() { s.turn.add(s.core.Tick(now)) }, nil) {
			return
		}
	}
	s.flush(now)
}

// refusedWhenFull says which requests need disk space that is kept back for those that free some.
func refusedWhenFull(body kmsg.Request) bool {
	_, commit := body.(*kmsg.OffsetCommitRequest)
	return commit
}

func (s *shard) step(now time.Time, t *task) (ok bool) {
	s.nextToken++
	token := s.nextToken
	s.waiting[token] = t
	return s.guard(func() {
		if t.body == nil {
			s.turn.add(s.core.Step(now, &coordinator.TopicsDeleted{Token: token, Topics: t.deleted}))
			return
		}
		t.event = coordinator.Request{Token: token, Client: t.client, Body: t.body}
		s.turn.add(s.core.Step(now, &t.event))
	}, t)
}

// flush makes the turn's records durable, then releases its replies and notes.
func (s *shard) flush(now time.Time) {
	if len(s.turn.records) > 0 {
		if err := s.append(now); err != nil {
			s.failed(err)
			return
		}
	}
	for _, r := range s.turn.replies {
		t := s.waiting[r.Token]
		delete(s.waiting, r.Token)
		t.finish(r.Response, nil)
	}
	for _, n := range s.turn.notes {
		s.log(n)
	}
	s.turn.reset()
}

// append writes the turn's records, nearly always as one batch. The records of one step never part: they are one
// atomic fact.
func (s *shard) append(now time.Time) error {
	appends := s.appends[:0]
	next := 0
	for i, end := range s.turn.ops {
		for ; next < end; next++ {
			s.encoder.Add(s.turn.records[next], now.UnixMilli())
			if s.encoder.Size() > splitBytes && next < end-1 && isOffsetTombstone(s.turn.records[next]) {
				appends = append(appends, s.takeBatch())
			}
		}
		if s.encoder.Size() < batchBytes && i < len(s.turn.ops)-1 {
			continue
		}
		appends = append(appends, s.takeBatch())
	}
	s.appends = appends
	s.cfg.Store.Append(appends...)
	for _, a := range appends {
		if a.Err != nil {
			return a.Err
		}
	}
	return nil
}

func (s *shard) takeBatch() *partitionlog.Append {
	return &partitionlog.Append{
		Partition: s.partition, Records: s.encoder.Take(), Origin: partitionlog.OriginCoordinator, Urgent: true,
		Incarnation: s.incarnation,
	}
}

func isOffsetTombstone(r coordinator.Record) bool {
	o, ok := r.(*coordinator.OffsetRecord)
	return ok && o.Tombstone
}
