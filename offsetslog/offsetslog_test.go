package offsetslog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

func TestPartitionForEqualsKafkas(t *testing.T) {
	for _, c := range []struct {
		group     string
		hash      int32
		partition int32
	}{
		{"", 0, 0},
		{"g", 103, 3},
		{"foo", 101574, 24},
		{"test", 3556498, 48},
		{"group-1", 293427299, 49},
		{"connect-cluster", 1440343063, 13},
		{"console-consumer-12345", 158455506, 6},
		{"my-group", -1906497762, 12}, // the record partitioner's mask would say 36
		{"é", 233, 33},
		{"日本", 835047, 47},
		{"😀", 1772899, 49},                  // outside the BMP: two code units
		{"polygenelubricants", -1 << 31, 0}, // the one hash without an absolute value
	} {
		if h := hashCode(c.group); h != c.hash {
			t.Errorf("hash of %q: got %d, want %d", c.group, h, c.hash)
		}
		if p := PartitionFor(c.group, 50); p != c.partition {
			t.Errorf("partition of %q: got %d, want %d", c.group, p, c.partition)
		}
	}
}

func FuzzPartitionForIsInRange(f *testing.F) {
	f.Add("polygenelubricants", int32(50))
	f.Fuzz(func(t *testing.T, group string, n int32) {
		if n < 1 {
			return
		}
		if p := PartitionFor(group, n); p < 0 || p >= n {
			t.Fatalf("partition %d of %d", p, n)
		}
	})
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ptr(s string) *string { return &s }

const ms = 1700000000000

// The byte examples of the offsets topic, as Kafka writes them.
var layouts = []struct {
	name       string
	record     coordinator.Record
	key, value string
}{
	{
		"offset",
		&coordinator.OffsetRecord{Group: "g", Topic: "t", Partition: 1, Offset: 42, LeaderEpoch: 7, Metadata: "m", CommitTimestamp: ms, ExpireTimestamp: -1},
		"00 01  00 01 67  00 01 74  00 00 00 01",
		"00 03  00 00 00 00 00 00 00 2a  00 00 00 07  00 01 6d  00 00 01 8b cf e5 68 00",
	},
	{
		"offset with a retention of its own",
		&coordinator.OffsetRecord{Group: "g", Topic: "t", Partition: 1, Offset: 42, LeaderEpoch: -1, Metadata: "m", CommitTimestamp: ms, ExpireTimestamp: ms + 60000},
		"00 01  00 01 67  00 01 74  00 00 00 01",
		"00 01  00 00 00 00 00 00 00 2a  00 01 6d  00 00 01 8b cf e5 68 00  00 00 01 8b cf e6 52 60",
	},
	{
		"offset tombstone",
		&coordinator.OffsetRecord{Group: "g", Topic: "t", Partition: 1, Tombstone: true, LeaderEpoch: -1, ExpireTimestamp: -1},
		"00 01  00 01 67  00 01 74  00 00 00 01", "",
	},
	{
		"new empty group",
		&coordinator.GroupRecord{Group: "g", StateTimestamp: ms},
		"00 02  00 01 67",
		"00 03  00 00  00 00 00 00  ff ff  ff ff  00 00 01 8b cf e5 68 00  00 00 00 00",
	},
	{
		"emptied group",
		&coordinator.GroupRecord{Group: "g", ProtocolType: "consumer", Generation: 2, StateTimestamp: ms},
		"00 02  00 01 67",
		"00 03  00 08 63 6f 6e 73 75 6d 65 72  00 00 00 02  ff ff  ff ff  00 00 01 8b cf e5 68 00  00 00 00 00",
	},
	{
		"one member",
		&coordinator.GroupRecord{
			Group: "g", ProtocolType: "consumer", Generation: 1, Protocol: ptr("range"), Leader: ptr("c-1"), StateTimestamp: ms,
			Members: []coordinator.MemberRecord{{
				MemberID: "c-1", ClientID: "c", ClientHost: "/127.0.0.1", RebalanceTimeout: 60000, SessionTimeout: 10000,
				Subscription: []byte{0xaa, 0xbb, 0xcc}, Assignment: []byte{0xdd, 0xee},
			}},
		},
		"00 02  00 01 67",
		`00 03  00 08 63 6f 6e 73 75 6d 65 72  00 00 00 01  00 05 72 61 6e 67 65  00 03 63 2d 31
		 00 00 01 8b cf e5 68 00  00 00 00 01
		 00 03 63 2d 31  ff ff  00 01 63  00 0a 2f 31 32 37 2e 30 2e 30 2e 31  00 00 ea 60  00 00 27 10
		 00 00 00 03 aa bb cc  00 00 00 02 dd ee`,
	},
	{
		"group tombstone", &coordinator.GroupRecord{Group: "g", Tombstone: true, StateTimestamp: -1}, "00 02  00 01 67", "",
	},
}

func TestLayoutsAreKafkas(t *testing.T) {
	e := NewEncoder(partitionlog.None)
	for _, c := range layouts {
		key, value := e.appendRecord(c.record)
		if want := unhex(t, c.key); !bytes.Equal(key, want) {
			t.Errorf("%s: key % x, want % x", c.name, key, want)
		}
		want := unhex(t, c.value)
		if c.value == "" {
			want = nil
		}
		if !bytes.Equal(value, want) || (value == nil) != (want == nil) {
			t.Errorf("%s: value % x, want % x", c.name, value, want)
		}
		got, err := Decode(key, value)
		if err != nil || !reflect.DeepEqual(got, c.record) {
			t.Errorf("%s: decoded %+v, %v; want %+v", c.name, got, err, c.record)
		}
	}
}

// Directories and tools of other versions: all offset values 0 to 4, all group values 0 to 4.
func TestOlderAndNewerVersionsAreRead(t *testing.T) {
	key := unhex(t, "00 01  00 01 67  00 01 74  00 00 00 01")
	for v := int16(0); v <= 4; v++ {
		value := kmsg.OffsetCommitValue{Version: v, Offset: 42, LeaderEpoch: 7, Metadata: "m", CommitTimestamp: ms, ExpireTimestamp: ms + 1, TopicID: [16]byte{1}}
		for _, kind := range []byte{0, 1} {
			key[1] = kind
			got, err := Decode(key, value.AppendTo(nil))
			if err != nil {
				t.Fatalf("offset value v%d under key %d: %v", v, kind, err)
			}
			want := &coordinator.OffsetRecord{Group: "g", Topic: "t", Partition: 1, Offset: 42, LeaderEpoch: -1, Metadata: "m", CommitTimestamp: ms, ExpireTimestamp: -1}
			if v >= 3 {
				want.LeaderEpoch = 7
			}
			if v == 1 {
				want.ExpireTimestamp = ms + 1
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("offset value v%d: got %+v, want %+v", v, got, want)
			}
		}
	}
	for v := int16(0); v <= 4; v++ {
		value := kmsg.NewGroupMetadataValue()
		value.Version, value.ProtocolType, value.Generation, value.CurrentStateTimestamp = v, "consumer", 9, ms
		member := kmsg.NewGroupMetadataValueMember()
		member.MemberID, member.SessionTimeoutMillis, member.RebalanceTimeoutMillis = "m", 10, 20
		value.Members = append(value.Members, member)
		got, err := Decode(unhex(t, "00 02  00 01 67"), value.AppendTo(nil))
		if err != nil {
			t.Fatalf("group value v%d: %v", v, err)
		}
		g := got.(*coordinator.GroupRecord)
		wantTimeout, wantTime := int32(20), int64(ms)
		if v == 0 {
			wantTimeout = 10
		}
		if v < 2 {
			wantTime = -1
		}
		if g.Generation != 9 || g.Members[0].RebalanceTimeout != wantTimeout || g.StateTimestamp != wantTime {
			t.Errorf("group value v%d: got %+v", v, g)
		}
	}
}

func TestOtherKindsAreSkippedAndDamageIsNot(t *testing.T) {
	for kind := byte(3); kind < 24; kind++ {
		if r, err := Decode([]byte{0, kind, 0, 1, 'g'}, []byte{0, 0}); r != nil || err != nil {
			t.Errorf("kind %d: got %v, %v", kind, r, err)
		}
	}
	offset, group := unhex(t, layouts[0].key), unhex(t, layouts[3].key)
	for name, c := range map[string][2][]byte{
		"empty key":         {{}, nil},
		"short key":         {{0}, nil},
		"cut offset key":    {offset[:5], nil},
		"empty value":       {offset, {}},
		"cut value":         {offset, unhex(t, layouts[0].value)[:9]},
		"offset value v5":   {offset, append([]byte{0, 5}, make([]byte, 60)...)},
		"group value v5":    {group, append([]byte{0, 5}, make([]byte, 60)...)},
		"negative version":  {group, append([]byte{0xff, 0xff}, make([]byte, 60)...)},
		"cut members":       {group, unhex(t, layouts[5].value)[:50]},
		"cut last byte":     {group, bytes.TrimSuffix(unhex(t, layouts[5].value), []byte{0xee})},
		"huge member count": {group, append(unhex(t, layouts[3].value)[:20], 0x7f, 0xff, 0xff, 0xff)},
	} {
		var de *DecodeError
		if r, err := Decode(c[0], c[1]); !errors.As(err, &de) {
			t.Errorf("%s: got %v, %v; want a DecodeError", name, r, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range layouts {
		f.Add(unhex(f, c.key), unhex(f, c.value))
	}
	e := NewEncoder(partitionlog.None)
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := Decode(key, value)
		if err != nil || r == nil {
			return
		}
		// What can be read can be written, and reads the same.
		k, v := e.appendRecord(r)
		again, err := Decode(k, v)
		if o, ok := r.(*coordinator.OffsetRecord); ok && o.ExpireTimestamp < 0 && o.ExpireTimestamp != -1 {
			return // a negative expiry other than "none" is none
		}
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
	})
}

// Records go through a store and come back in order, past a log start inside a batch, and past what is not ours.
func TestLoadReadsWhatWasAppended(t *testing.T) {
	s, err := partitionlog.Open(partitionlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	topic, err := s.CreateTopic(partitionlog.TopicSpec{Name: Topic, Partitions: 1, Internal: true, Overrides: map[string]string{"cleanup.policy": "compact"}})
	if err != nil {
		t.Fatal(err)
	}
	p := topic.Partitions[0]
	e := NewEncoder(partitionlog.None)
	var want []coordinator.Record
	for range 3 {
		for _, c := range layouts {
			want = append(want, c.record)
			e.Add(c.record, ms)
		}
		a := partitionlog.Append{Partition: p, Records: e.Take(), Origin: partitionlog.OriginCoordinator}
		if s.Append(&a); a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	b := partitionlog.NewBuilder(partitionlog.None)
	b.Add(0, ms, []byte{0, 3, 0, 1, 'g'}, []byte{0, 0, 0, 0, 0, 1, 0}, nil) // a KIP-848 group of another program
	a := partitionlog.Append{Partition: p, Records: b.Bytes(0), Origin: partitionlog.OriginCoordinator}
	if s.Append(&a); a.Err != nil {
		t.Fatal(a.Err)
	}
	load := func() (got []coordinator.Record, l Loaded) {
		l, err := Load(p, func(r coordinator.Record) { got = append(got, r) })
		if err != nil {
			t.Fatal(err)
		}
		return got, l
	}
	got, l := load()
	if !reflect.DeepEqual(got, want) || l.Skipped != 1 || l.Records != len(want) || l.Next != int64(len(want)+1) {
		t.Errorf("loaded %d of %d records: %+v", len(got), len(want), l)
	}
	if _, err := s.DeleteRecords(p, 3); err != nil {
		t.Fatal(err)
	}
	if got, _ := load(); !reflect.DeepEqual(got, want[3:]) {
		t.Errorf("after the log start moved into a batch: %d records, want %d", len(got), len(want)-3)
	}
}
