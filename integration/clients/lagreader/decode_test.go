package lagreader_test

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kohort/kohort/integration/clients/lagreader"
)

// bytesOf writes int16, int32, int64, strings, byte slices and null (nil) as the formats do, apart from any library.
func bytesOf(parts ...any) []byte {
	var b []byte
	for _, part := range parts {
		switch part := part.(type) {
		case int16:
			b = binary.BigEndian.AppendUint16(b, uint16(part))
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(part))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(part))
		case string:
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(part))), part...)
		case []byte:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...)
		case nil:
			b = append(b, 0xff, 0xff)
		}
	}
	return b
}

func TestOffsets(t *testing.T) {
	const at, epoch, committed, expires = int64(42), int32(7), int64(1700000000000), int64(1700000600000)
	base := lagreader.Offset{Group: "g", Topic: "orders", Partition: 3, At: at, LeaderEpoch: -1, Metadata: "note", Committed: committed, Expires: -1}
	expiring, epoched := base, base
	expiring.Expires, epoched.LeaderEpoch = expires, epoch
	for name, c := range map[string]struct {
		value []byte
		want  lagreader.Offset
	}{
		"v0": {bytesOf(int16(0), at, "note", committed), base},
		"v1": {bytesOf(int16(1), at, "note", committed, expires), expiring},
		"v2": {bytesOf(int16(2), at, "note", committed), base},
		"v3": {bytesOf(int16(3), at, epoch, "note", committed), epoched},
	} {
		for keyVersion := range int16(2) {
			got, err := lagreader.Decode(bytesOf(keyVersion, "g", "orders", int32(3)), c.value)
			if err != nil || got.Group != nil || got.Offset == nil || *got.Offset != c.want {
				t.Errorf("%s with key v%d: got %+v, %v; want %+v", name, keyVersion, got.Offset, err, c.want)
			}
		}
		if _, err := lagreader.Decode(bytesOf(int16(1), "g", "orders", int32(3)), c.value[:len(c.value)-1]); err == nil {
			t.Errorf("%s: a value without its last byte passes", name)
		}
	}
}

func TestGroups(t *testing.T) {
	const generation, since, rebalance, session = int32(5), int64(1700000000000), int32(60000), int32(45000)
	subscription, assignment := []byte{1, 2}, []byte{3}
	key := bytesOf(int16(2), "g")
	for name, c := range map[string]struct {
		value     []byte
		since     int64
		rebalance int32
		instance  string
	}{
		"v0": {bytesOf(int16(0), "consumer", generation, "range", "m-1", int32(1), "m-1", "app", "/10.0.0.1", session, subscription, assignment), -1, session, ""},
		"v1": {bytesOf(int16(1), "consumer", generation, "range", "m-1", int32(1), "m-1", "app", "/10.0.0.1", rebalance, session, subscription, assignment), -1, rebalance, ""},
		"v2": {bytesOf(int16(2), "consumer", generation, "range", "m-1", since, int32(1), "m-1", "app", "/10.0.0.1", rebalance, session, subscription, assignment), since, rebalance, ""},
		"v3": {bytesOf(int16(3), "consumer", generation, "range", "m-1", since, int32(1), "m-1", "seat", "app", "/10.0.0.1", rebalance, session, subscription, assignment), since, rebalance, "seat"},
	} {
		want := lagreader.Group{
			Name: "g", ProtocolType: "consumer", Protocol: "range", Leader: "m-1", Generation: generation, Since: c.since,
			Members: []lagreader.Member{{
				ID: "m-1", Instance: c.instance, ClientID: "app", Host: "/10.0.0.1", RebalanceTimeout: c.rebalance, SessionTimeout: session,
				Subscription: subscription, Assignment: assignment,
			}},
		}
		got, err := lagreader.Decode(key, c.value)
		if err != nil || got.Offset != nil || got.Group == nil || !reflect.DeepEqual(*got.Group, want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got.Group, err, want)
		}
		if _, err := lagreader.Decode(key, c.value[:len(c.value)-1]); err == nil {
			t.Errorf("%s: a value without its last byte passes", name)
		}
	}
	got, err := lagreader.Decode(key, bytesOf(int16(3), "consumer", generation, nil, nil, since, int32(0)))
	if err != nil || got.Group == nil || got.Group.Protocol != "" || got.Group.Leader != "" || len(got.Group.Members) != 0 {
		t.Errorf("an empty group: got %+v, %v", got.Group, err)
	}
}

func TestIgnored(t *testing.T) {
	for name, key := range map[string][]byte{
		"an offset's tombstone": bytesOf(int16(1), "g", "orders", int32(3)),
		"a group's tombstone":   bytesOf(int16(2), "g"),
		"another protocol's":    bytesOf(int16(3), "g"),
	} {
		if got, err := lagreader.Decode(key, nil); err != nil || got != (lagreader.Entry{}) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	offset, group := bytesOf(int16(1), "g", "orders", int32(3)), bytesOf(int16(2), "g")
	for _, key := range [][]byte{offset, group} {
		for _, version := range []int16{4, 5, -1} {
			if _, err := lagreader.Decode(key, append(bytesOf(version), make([]byte, 60)...)); !errors.Is(err, lagreader.ErrVersion) || !strings.Contains(err.Error(), "g: ") {
				t.Errorf("value version %d: %v", version, err)
			}
		}
		if _, err := lagreader.Decode(key, []byte{}); err == nil {
			t.Error("an empty value passes")
		}
		if _, err := lagreader.Decode(key[:len(key)-1], nil); err == nil {
			t.Error("a key without its last byte passes")
		}
	}
	if _, err := lagreader.Decode([]byte{0}, nil); err == nil {
		t.Error("a key of one byte passes")
	}
}
