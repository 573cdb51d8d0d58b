package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestAdminTopics creates, grows, describes, trims and deletes topics.
func TestAdminTopics(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin, client := newAdmin(t, b.addr), newClient(t, b.addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	createTopic(t, admin, "made", 2, "retention.ms", "3600000")
	if _, err := admin.CreateTopic(limited(t), 2, 1, nil, "made"); !isCode(err, kerr.TopicAlreadyExists) {
		t.Errorf("creating it again: %v", err)
	}
	if _, err := admin.CreateTopic(limited(t), 1, 1, nil, "no/slash"); !isCode(err, kerr.InvalidTopicException) {
		t.Errorf("creating a topic with a slash: %v", err)
	}
	if _, err := admin.CreateTopic(limited(t), 1, 3, nil, "three-replicas"); !isCode(err, kerr.InvalidReplicationFactor) {
		t.Errorf("creating a topic with three replicas: %v", err)
	}
	grown, err := admin.UpdatePartitions(limited(t), 4, "made")
	if err == nil {
		err = grown.Error()
	}
	if err != nil {
		t.Fatalf("growing the topic: %v", err)
	}
	topics, err := admin.ListTopics(limited(t))
	if err != nil || len(topics["made"].Partitions) != 4 {
		t.Errorf("after growing: %v (%v)", topics, err)
	}
	configs, err := admin.DescribeTopicConfigs(limited(t), "made")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(configs[0].Configs, func(c kadm.Config) bool { return c.Key == "retention.ms" })
	if i < 0 || configs[0].Configs[i].MaybeValue() != "3600000" {
		t.Errorf("retention.ms is described as %+v", configs[0].Configs)
	}

	now := time.Now().UnixMilli()
	for n := range 10 {
		r := &kgo.Record{Topic: "made", Partition: 3, Value: []byte{byte(n)}, Timestamp: time.UnixMilli(now - 10_000 + int64(n)*1000)}
		if err := client.ProduceSync(limited(t), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	offsets := func(name string, list func() (kadm.ListedOffsets, error), want int64) {
		t.Helper()
		listed, err := list()
		if err == nil {
			err = listed.Error()
		}
		if got := listed["made"][3].Offset; err != nil || got != want {
			t.Errorf("%s offset is %d (%v), want %d", name, got, err, want)
		}
	}
	cut := kadm.Offsets{}
	cut.AddOffset("made", 3, 4, -1)
	if deleted, err := admin.DeleteRecords(limited(t), cut); err != nil || deleted.Error() != nil || deleted["made"][3].LowWatermark != 4 {
		t.Errorf("DeleteRecords: %v (%v)", deleted, err)
	}
	offsets("start", func() (kadm.ListedOffsets, error) { return admin.ListStartOffsets(limited(t), "made") }, 4)
	offsets("end", func() (kadm.ListedOffsets, error) { return admin.ListEndOffsets(limited(t), "made") }, 10)
	offsets("stable end", func() (kadm.ListedOffsets, error) { return admin.ListCommittedOffsets(limited(t), "made") }, 10)
	offsets("max timestamp's", func() (kadm.ListedOffsets, error) { return admin.ListMaxTimestampOffsets(limited(t), "made") }, 9)
	offsets("timestamp's", func() (kadm.ListedOffsets, error) {
		return admin.ListOffsetsAfterMilli(limited(t), now-10_000+6500, "made")
	}, 7)
	beyond := kadm.Offsets{}
	beyond.AddOffset("made", 3, 11, -1)
	if deleted, err := admin.DeleteRecords(limited(t), beyond); err != nil || !isCode(deleted["made"][3].Err, kerr.OffsetOutOfRange) {
		t.Errorf("DeleteRecords beyond the end: %v (%v)", deleted["made"][3].Err, err)
	}

	if _, err := admin.DeleteTopic(limited(t), "made"); err != nil {
		t.Fatalf("deleting the topic: %v", err)
	}
	if _, err := admin.DeleteTopic(limited(t), "made"); !isCode(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("deleting it again: %v", err)
	}
	createTopic(t, admin, "made", 1) // the name is free again
	if ends, err := admin.ListEndOffsets(limited(t), "made"); err != nil || ends["made"][0].Offset != 0 {
		t.Errorf("the new topic of the old name ends at %d (%v)", ends["made"][0].Offset, err)
	}
}

// TestAdminGroups lists, describes, edits and deletes groups, living and empty.
func TestAdminGroups(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "log", 2)
	producer := newClient(t, b.addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	produce(t, producer, "log", 0, numbered("a", 7)...)
	produce(t, producer, "log", 1, numbered("b", 3)...)

	// A group that never had members: commits make it.
	commit(t, admin, "simple", 5)
	lag := lagOf(t, admin, "simple")
	if lag.State != "Empty" || lag.Lag["log"][0].Lag != 2 {
		t.Errorf("the simple group: %s, lag %+v", lag.State, lag.Lag)
	}

	c := newCrew(b.addr, "living", "log")
	m := c.join(t, "m")
	c.allSeen(t, []int64{7, 3})
	eventually(t, func() error {
		if l, ok := lagOf(t, admin, "living").Lag.Lookup("log", 1); !ok || l.Lag != 0 {
			return fmt.Errorf("lag of a member that has read everything: %+v", l)
		}
		return nil
	})
	describe(t, admin, c, "cooperative-sticky", m)
	listed, err := admin.ListGroups(limited(t))
	if err != nil || listed["living"].State != "Stable" || listed["living"].ProtocolType != "consumer" || listed["simple"].State != "Empty" {
		t.Errorf("listed groups: %+v (%v)", listed, err)
	}
	if stable, err := admin.ListGroups(limited(t), "Stable"); err != nil || len(stable) != 1 {
		t.Errorf("listed stable groups: %+v (%v)", stable, err)
	}

	// Nobody but a member may touch a living group.
	if err := admin.CommitAllOffsets(limited(t), "living", offsetsOf("log", 1)); !isCode(err, kerr.UnknownMemberID) {
		t.Errorf("commit to a living group from outside: %v, want UNKNOWN_MEMBER_ID", err)
	}
	if r, err := admin.DeleteGroup(limited(t), "living"); !isCode(first(err, r.Err), kerr.NonEmptyGroup) {
		t.Errorf("deleting a living group: %v, want NON_EMPTY_GROUP", first(err, r.Err))
	}
	set := kadm.TopicsSet{}
	set.Add("log", 0)
	if r, err := admin.DeleteOffsets(limited(t), "living", set); !isCode(first(err, r["log"][0]), kerr.GroupSubscribedToTopic) {
		t.Errorf("deleting an offset of a subscribed topic: %v, want GROUP_SUBSCRIBED_TO_TOPIC", first(err, r["log"][0]))
	}

	m.leave()
	if state := lagOf(t, admin, "living").State; state != "Empty" {
		t.Errorf("without members the group is %s", state)
	}
	commit(t, admin, "living", 1)
	if at := committed(t, admin, "living"); at != 1 {
		t.Errorf("the empty group's offset was reset to 1 and is %d", at)
	}
	if r, err := admin.DeleteOffsets(limited(t), "living", set); first(err, r["log"][0]) != nil {
		t.Errorf("deleting an offset of the empty group: %v", first(err, r["log"][0]))
	}
	if at := committed(t, admin, "living"); at != -1 {
		t.Errorf("the deleted offset is still %d", at)
	}
	if r, err := admin.DeleteGroup(limited(t), "living"); first(err, r.Err) != nil {
		t.Errorf("deleting the empty group: %v", first(err, r.Err))
	}
	if r, err := admin.DeleteGroup(limited(t), "living"); !isCode(first(err, r.Err), kerr.GroupIDNotFound) {
		t.Errorf("deleting it again: %v, want GROUP_ID_NOT_FOUND", first(err, r.Err))
	}
	described, err := admin.DescribeGroups(limited(t), "living")
	if err != nil || described["living"].State != "Dead" {
		t.Errorf("the deleted group is described as %+v (%v)", described["living"], err)
	}
	// Deleting a topic takes the offsets in it along.
	if _, err := admin.DeleteTopic(limited(t), "log"); err != nil {
		t.Fatal(err)
	}
	if at := committed(t, admin, "simple"); at != -1 {
		t.Errorf("the topic is gone, and the group's offset in it is %d", at)
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func lagOf(t *testing.T, admin *kadm.Client, group string) kadm.DescribedGroupLag {
	t.Helper()
	lags, err := admin.Lag(limited(t), group)
	if err == nil {
		err = lags.Error()
	}
	if err != nil {
		t.Fatalf("lag of group %s: %v", group, err)
	}
	return lags[group]
}
