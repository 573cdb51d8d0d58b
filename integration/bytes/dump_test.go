package offsetbytes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetRecord is a record of an offset as a broker with this version of values writes it.
func offsetRecord(t *testing.T, version int16, offset, ms int64, metadata string) Record {
	t.Helper()
	k := kmsg.OffsetCommitKey{Version: 1, Group: "g", Topic: "t", Partition: 2}
	v := kmsg.OffsetCommitValue{Version: version, Offset: offset, LeaderEpoch: 1, Metadata: metadata, CommitTimestamp: ms, ExpireTimestamp: ms + 1000}
	r, err := decode(k.AppendTo(nil), v.AppendTo(nil), true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The comparison sees a changed field, a record that is missing, another order and another partition; not the ids and
// times that two runs cannot share.
func TestCompare(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	id := func(n int) string { return fmt.Sprintf("c-%08x-0000-4000-8000-000000000000", n) }
	dump := func(n int, records ...Record) []Record {
		Normalize(records, now, now.Add(time.Minute))
		return records
	}
	kafka := func() []Record {
		return dump(1, offsetRecord(t, 4, 5, now.UnixMilli()+7, id(1)), offsetRecord(t, 1, 6, now.UnixMilli()+8, id(1)))
	}
	for _, c := range []struct {
		name   string
		kohort []Record
		want   string
	}{
		{"the same", dump(2, offsetRecord(t, 3, 5, now.UnixMilli(), id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(2))), ""},
		{"an offset", dump(2, offsetRecord(t, 3, 4, now.UnixMilli(), id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(2))), `g, record 0, value.data.offset: Kafka "5", Kohort "4"`},
		{"another id", dump(2, offsetRecord(t, 3, 5, now.UnixMilli(), id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(3))), `record 1, value.data.metadata`},
		{"a time of long ago", dump(2, offsetRecord(t, 3, 5, 1, id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(2))), `value.data.commitTimestamp: Kafka "<now>", Kohort "1"`},
		{"a record less", dump(2, offsetRecord(t, 3, 5, now.UnixMilli(), id(2))), `g, record 1, key.type: Kafka "1", Kohort ""`},
		{"a version", dump(2, offsetRecord(t, 2, 5, now.UnixMilli(), id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(2))), `value.version: Kafka "4", Kohort "2"`},
	} {
		differences, fields := Compare(kafka(), c.kohort)
		var lines []string
		for _, d := range differences {
			if !d.Deliberate() {
				lines = append(lines, d.String())
			}
		}
		if got := strings.Join(lines, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) || fields < 15 {
			t.Errorf("%s: %d fields, %s", c.name, fields, got)
		}
	}
	elsewhere := dump(2, offsetRecord(t, 3, 5, now.UnixMilli(), id(2)), offsetRecord(t, 1, 6, now.UnixMilli(), id(2)))
	elsewhere[0].Partition = 1
	if differences, _ := Compare(kafka(), elsewhere); !strings.Contains(fmt.Sprint(differences), "partition") {
		t.Errorf("another partition: %v", differences)
	}
}

// What a formatter prints is taken apart as the decoded record is, and a printed field that is not so is seen.
func TestFormatterOutput(t *testing.T) {
	const printed = `{"key":{"type":1,"data":{"group":"g","topic":"t","partition":2}},"value":{"version":3,"data":{"offset":5,"leaderEpoch":1,"metadata":"m","commitTimestamp":1700000000000}}}`
	records, err := Printed([]byte(printed + strings.Replace(printed, `"offset":5`, `"offset":6`, 1)))
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	offsets, groups := Formatters()[0], Formatters()[1]
	want := []Record{offsetRecord(t, 3, 5, 1_700_000_000_000, "m"), offsetRecord(t, 3, 6, 1_700_000_000_000, "m")}
	if lines, fields := offsets.Unlike(records, want); len(lines) != 0 || fields != 18 {
		t.Errorf("%d fields, %q", fields, lines)
	}
	if lines, _ := offsets.Unlike(records, append(want[:1:1], offsetRecord(t, 3, 7, 1_700_000_000_000, "m"))); len(lines) != 1 {
		t.Errorf("another offset: %q", lines)
	}
	if lines, _ := offsets.Unlike(records[:1], want); len(lines) != 1 {
		t.Errorf("a record less: %q", lines)
	}
	if lines, fields := groups.Unlike(records, want); len(lines) != 0 || fields != 0 {
		t.Errorf("records of another kind: %d fields, %q", fields, lines)
	}
}
