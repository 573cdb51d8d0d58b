package offsetslog

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// foreignLog builds the batches of a foreign offsets partition.
type foreignLog struct {
	history *History
	next    int64
	bad     []string
}

// batch replays one batch of a record. A producer id of -1 is none.
func (l *foreignLog) batch(t *testing.T, producer int64, control bool, key, value []byte) {
	t.Helper()
	b := partitionlog.NewBuilder(partitionlog.None)
	b.ProducerID, b.Transactional, b.Control = producer, producer >= 0, control
	b.Add(0, 1, key, value, nil)
	err := l.history.Replay(b.Bytes(l.next), func(offset int64, err error) {
		l.bad = append(l.bad, fmt.Sprintf("%d: %v", offset, err))
	})
	if err != nil {
		t.Fatal(err)
	}
	l.next++
}

// offset replays a commit with a value of some version; below 0 it is a tombstone.
func (l *foreignLog) offset(t *testing.T, producer int64, version int16, group string, offset int64) {
	t.Helper()
	v := kmsg.OffsetCommitValue{Version: version, Offset: offset, LeaderEpoch: 9, Metadata: "m", CommitTimestamp: 5, ExpireTimestamp: -1}
	value := v.AppendTo(nil)
	if version < 0 {
		value = nil
	}
	l.batch(t, producer, false, AppendOffsetKey(nil, group, "t", 0), value)
}

func (l *foreignLog) marker(t *testing.T, producer int64, kind byte) {
	t.Helper()
	l.batch(t, producer, true, []byte{0, 0, 0, kind}, []byte{0, 0, 0, 0, 0, 1})
}

// A history has the newest fact for each key, an offset of a transaction only once that was committed, and knows what
// it has left out.
func TestHistory(t *testing.T) {
	l := &foreignLog{history: NewHistory()}
	for version := range int16(5) {
		l.offset(t, -1, version, fmt.Sprintf("v%d", version), 10+int64(version))
		group := kmsg.GroupMetadataValue{Version: version, ProtocolType: "consumer", Generation: int32(version), Members: []kmsg.GroupMetadataValueMember{{MemberID: "m"}}}
		l.batch(t, -1, false, AppendGroupKey(nil, fmt.Sprintf("v%d", version)), group.AppendTo(nil))
	}
	l.offset(t, -1, 4, "newest", 1)
	l.offset(t, -1, 3, "newest", 2)
	l.offset(t, -1, 3, "removed", 1)
	l.offset(t, -1, -1, "removed", 0)
	l.batch(t, -1, false, AppendGroupKey(nil, "v4"), nil) // its offset stays
	l.offset(t, 1, 3, "committed", 5)
	l.offset(t, 2, 3, "aborted", 5)
	l.offset(t, 3, 3, "open", 5)
	l.offset(t, 4, 3, "overtaken", 5)
	l.offset(t, -1, 3, "overtaken", 6)
	l.offset(t, 5, 3, "tombstone", 5)
	l.offset(t, -1, -1, "tombstone", 0)
	l.marker(t, 1, 1)
	l.marker(t, 2, 0)
	l.marker(t, 4, 1)
	l.marker(t, 5, 1)
	for _, kind := range []byte{3, 5, 11, 17, 99} {
		l.batch(t, -1, false, []byte{0, kind, 0, 1, 'n'}, []byte{0, 0})
	}
	l.batch(t, -1, false, AppendOffsetKey(nil, "v0", "t", 0), []byte{0, 9}) // of the future
	var got []string
	for _, g := range l.history.Groups() {
		got = append(got, fmt.Sprintf("%s %s %d %d %d", g.Name, g.ProtocolType, g.Generation, g.Members, g.Offsets))
	}
	want := []string{
		"committed  0 0 1", "newest  0 0 1", "overtaken  0 0 1", "v0 consumer 0 1 1", "v1 consumer 1 1 1",
		"v2 consumer 2 1 1", "v3 consumer 3 1 1", "v4  0 0 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("groups\n%q, want\n%q", got, want)
	}
	if aborted, open := l.history.Uncommitted(); aborted != 1 || open != 1 {
		t.Errorf("%d aborted, %d open", aborted, open)
	}
	var others []string
	for _, o := range l.history.Others() {
		others = append(others, fmt.Sprintf("%s %d %d", o.Family, o.Records, len(o.Groups)))
	}
	if want := []string{"consumer groups (KIP-848) 2 1", "share groups 1 1", "streams groups 1 1", "unknown kind 99 1 1"}; !reflect.DeepEqual(others, want) {
		t.Errorf("others %q, want %q", others, want)
	}
	if len(l.bad) != 1 {
		t.Errorf("bad records: %q", l.bad)
	}
	checkWritten(t, l.history)
}

// checkWritten writes a history into a topic of another number of partitions, and loads that.
func checkWritten(t *testing.T, h *History) {
	t.Helper()
	store, err := partitionlog.Open(partitionlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	topic, err := store.CreateTopic(partitionlog.TopicSpec{Name: Topic, Partitions: 7, Internal: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Write(store, topic, 1); err != nil {
		t.Fatal(err)
	}
	offsets, groups := map[string]int64{}, 0
	for i, p := range topic.Partitions {
		_, err := Load(p, func(r coordinator.Record) {
			if want := PartitionFor(r.GroupID(), 7); int(want) != i {
				t.Errorf("%q is in partition %d, want %d", r.GroupID(), i, want)
			}
			switch r := r.(type) {
			case *coordinator.GroupRecord:
				groups++
			case *coordinator.OffsetRecord:
				offsets[r.Group] = r.Offset
				if r.LeaderEpoch != -1 || r.Metadata != "m" || r.CommitTimestamp != 5 {
					t.Errorf("offset of %q: %+v", r.Group, r)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	want := map[string]int64{"v0": 10, "v1": 11, "v2": 12, "v3": 13, "v4": 14, "newest": 2, "committed": 5, "overtaken": 6}
	if !reflect.DeepEqual(offsets, want) || groups != 4 {
		t.Errorf("%d groups, offsets %v, want 4 and %v", groups, offsets, want)
	}
}
