package integration

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestStaticMemberRestartsWithoutRebalance closes a static member and starts it again: it gets back what it had, in the
// same generation, and the other one notices nothing.
func TestStaticMemberRestartsWithoutRebalance(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "static", 6)
	stop := feed(t, b.addr, "static", 6)
	c := newCrew(b.addr, "seats", "static", kgo.Balancers(kgo.CooperativeStickyBalancer()))
	one, two := c.join(t, "one", kgo.InstanceID("seat-1")), c.join(t, "two", kgo.InstanceID("seat-2"))
	c.share(t, 3, one, two)
	oldID, generation := one.client.GroupMetadata()
	_, mark := c.movesSince(0)

	one.leave() // no LeaveGroup: the seat stays
	again := c.join(t, "one-again", kgo.InstanceID("seat-1"))
	c.share(t, 3, again, two)
	newID, newGeneration := again.client.GroupMetadata()
	if newGeneration != generation {
		t.Errorf("the restart moved the generation from %d to %d", generation, newGeneration)
	}
	if newID == oldID {
		t.Errorf("the new incarnation has the old member id %s: the old one would not be fenced", oldID)
	}
	moves, _ := c.movesSince(mark)
	for _, m := range moves {
		if m.member == "two" && len(m.partitions) > 0 {
			t.Errorf("the other member was disturbed: %v", m)
		}
	}
	replaced := b.event(t, 0, "seats", "member-replaced")
	if replaced.Generation != generation {
		t.Errorf("the log tells of the replacement in generation %d, want %d", replaced.Generation, generation)
	}
	c.allSeen(t, stop())
	if twice := c.doubles(); len(twice) > 0 {
		t.Errorf("seen twice: %v", twice)
	}
	checkErrors(t, c, "one", "two", "one-again")

	// The old member id is fenced, whoever uses it.
	if err := heartbeat(t, newClient(t, b.addr), "seats", oldID, kmsg.StringPtr("seat-1"), generation); !isCode(err, kerr.FencedInstanceID) {
		t.Errorf("a heartbeat of the old incarnation: %v, want FENCED_INSTANCE_ID", err)
	}
}

// TestStaticTwinIsFenced starts a second member with the same group.instance.id while the first one lives.
func TestStaticTwinIsFenced(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "static", 2)
	c := newCrew(b.addr, "twins", "static")
	first := c.join(t, "first", kgo.InstanceID("seat"))
	c.share(t, 2, first)
	second := c.join(t, "second", kgo.InstanceID("seat"))
	c.share(t, 2, second)
	c.until(t, "the first twin learns that it is fenced", func() bool {
		for _, err := range c.errs["first"] {
			if isCode(err, kerr.FencedInstanceID) {
				return true
			}
		}
		return false
	})
	checkErrors(t, c, "second")
}

// TestStaticMemberThatStaysAwayLosesItsSeat kills a static member and lets its session end.
func TestStaticMemberThatStaysAwayLosesItsSeat(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "static", 4)
	c := newCrew(b.addr, "away", "static")
	one, two := c.join(t, "one", kgo.InstanceID("seat-1"), kgo.SessionTimeout(400*time.Millisecond)), c.join(t, "two", kgo.InstanceID("seat-2"))
	c.share(t, 2, one, two)
	one.leave()
	c.until(t, "the other takes over", func() bool { return len(c.owned["two"]) == 4 })
	b.event(t, 0, "away", "member-removed")
	b.message(t, 0, "sent no heartbeat for 400 ms")
}

// TestZombieCannotCommit cuts a member off beyond its session. What it commits later must be refused, also with the
// generation that it had, and the log must say so.
func TestZombieCannotCommit(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "zombies", 2)
	c := newCrew(b.addr, "living", "zombies")
	zombie := c.join(t, "zombie", kgo.SessionTimeout(300*time.Millisecond))
	healthy := c.join(t, "healthy")
	c.share(t, 1, zombie, healthy)
	id, generation := zombie.client.GroupMetadata()
	log := b.stderr.count()
	zombie.wire.sever()
	b.event(t, log, "living", "member-removed")
	b.event(t, log, "living", "group-stable")
	c.until(t, "the healthy member takes over", func() bool { return len(c.owned["healthy"]) == 2 })
	_, newGeneration := healthy.client.GroupMetadata()
	healthyID, _ := healthy.client.GroupMetadata()

	client := newClient(t, b.addr)
	for _, try := range []struct {
		member     string
		generation int32
		want       *kerr.Error
	}{
		{id, generation, kerr.UnknownMemberID},
		{id, newGeneration, kerr.UnknownMemberID},
		{healthyID, generation, kerr.IllegalGeneration},
		{"", -1, kerr.UnknownMemberID},
		{healthyID, newGeneration, nil},
	} {
		err := commitAs(t, client, "living", try.member, try.generation, "zombies", 0, 77)
		if (try.want == nil) != (err == nil) || (try.want != nil && !isCode(err, try.want)) {
			t.Errorf("commit as %q in generation %d: %v, want %v", try.member, try.generation, err, try.want)
		}
	}
	if fenced := b.event(t, log, "living", "commit-fenced"); fenced.Level != "warn" || fenced.Member == "" {
		t.Errorf("the log tells of the refused commit so: %+v", fenced)
	}
}

// commitAs commits one offset with a request of its own.
func commitAs(t testing.TB, client *kgo.Client, group, member string, generation int32, topic string, partition int32, offset int64) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return sendCommit(ctx, client, commitRequest(client, group, member, generation, topic, partition, offset))
}

func sendCommit(ctx context.Context, client *kgo.Client, req *kmsg.OffsetCommitRequest) error {
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// commitRequest names the topic by its id as well, for OffsetCommit from version 10 knows no names.
func commitRequest(client *kgo.Client, group, member string, generation int32, topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	meta := kmsg.NewPtrMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = kmsg.StringPtr(topic)
	meta.Topics = append(meta.Topics, mt)
	if resp, err := meta.RequestWith(client.Context(), client); err == nil {
		rt.TopicID = resp.Topics[0].TopicID
	}
	rp := kmsg.NewOffsetCommitRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}
