package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetKeys are the kinds of keys under which Kafka keeps a committed offset.
// Source: OffsetCommitKey.json.
const offsetKeys = 1

// committedOffset is a committed offset, as the offsets topic holds it. A tombstone has no offset.
type committedOffset struct {
	Kind        string `json:"kind"`
	Group       string `json:"group"`
	Topic       string `json:"topic"`
	Partition   int32  `json:"partition"`
	Tombstone   bool   `json:"tombstone,omitempty"`
	Offset      int64  `json:"offset"`
	LeaderEpoch int32  `json:"leaderEpoch"`
	Metadata    string `json:"metadata,omitempty"`
	CommittedAt string `json:"committedAt,omitempty"`
}

// String is one line for people.
func (o *committedOffset) String() string {
	line := fmt.Sprintf("offset of %q for %s", o.Group, place{o.Topic, o.Partition})
	if o.Tombstone {
		return line + ": deleted"
	}
	line += fmt.Sprintf(" = %d   committed %s", o.Offset, o.CommittedAt)
	if o.LeaderEpoch >= 0 {
		line += fmt.Sprintf("   leader epoch %d", o.LeaderEpoch)
	}
	if o.Metadata != "" {
		line += fmt.Sprintf("   metadata %q", o.Metadata)
	}
	return line
}

// storedGroup is a classic group, as the offsets topic holds it.
type storedGroup struct {
	Kind         string   `json:"kind"`
	Group        string   `json:"group"`
	Tombstone    bool     `json:"tombstone,omitempty"`
	ProtocolType string   `json:"protocolType,omitempty"`
	Generation   int32    `json:"generation"`
	Protocol     *string  `json:"protocol,omitempty"`
	Leader       *string  `json:"leader,omitempty"`
	Members      []member `json:"members,omitempty"`
}

// String is one line for people.
func (g *storedGroup) String() string {
	line := fmt.Sprintf("group %q", g.Group)
	if g.Tombstone {
		return line + ": deleted"
	}
	line += fmt.Sprintf("   generation %d   %s", g.Generation, count(len(g.Members), "member"))
	if g.Protocol != nil {
		line += "   " + *g.Protocol
	}
	for i := range g.Members {
		m := &g.Members[i]
		owns := make([]string, len(m.Assigned))
		for j, a := range m.Assigned {
			owns[j] = a.String()
		}
		line += fmt.Sprintf("   %s (%s) owns %s", m.ID, strings.TrimPrefix(m.Host, "/"), or(strings.Join(owns, " ")))
	}
	return line
}

// decoded returns what a record of the offsets topic says, or nil if it is of a kind that is not known here.
func decoded(key, value []byte) any {
	if len(key) < 2 {
		return nil
	}
	switch kind := binary.BigEndian.Uint16(key); {
	case kind <= offsetKeys:
		return decodedOffset(key, value)
	case kind == groupKey:
		return decodedGroup(key, value)
	}
	return nil
}

// decodedOffset decodes a committed offset.
func decodedOffset(key, value []byte) any {
	var k kmsg.OffsetCommitKey
	var v kmsg.OffsetCommitValue
	if k.ReadFrom(key) != nil || (value != nil && v.ReadFrom(value) != nil) {
		return nil
	}
	o := &committedOffset{Kind: "offset", Group: k.Group, Topic: k.Topic, Partition: k.Partition, Tombstone: value == nil, LeaderEpoch: -1}
	if value != nil {
		o.Offset, o.Metadata, o.CommittedAt = v.Offset, v.Metadata, moment(v.CommitTimestamp)
		if v.Version >= 3 {
			o.LeaderEpoch = v.LeaderEpoch
		}
	}
	return o
}

// decodedGroup decodes a group.
func decodedGroup(key, value []byte) any {
	var k kmsg.GroupMetadataKey
	var v kmsg.GroupMetadataValue
	if k.ReadFrom(key) != nil || (value != nil && v.ReadFrom(value) != nil) {
		return nil
	}
	g := &storedGroup{Kind: "group", Group: k.Group, Tombstone: value == nil}
	if value == nil {
		return g
	}
	g.ProtocolType, g.Generation, g.Protocol, g.Leader = v.ProtocolType, v.Generation, v.Protocol, v.Leader
	for i := range v.Members {
		m := &v.Members[i]
		shown := member{ID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.ClientHost, Assigned: []assignment{}}
		var a kmsg.ConsumerMemberAssignment
		if v.ProtocolType == "consumer" && a.ReadFrom(m.Assignment) == nil {
			for _, topic := range a.Topics {
				shown.Assigned = append(shown.Assigned, assignment{topic.Topic, topic.Partitions})
			}
		}
		shown.Assigned = ordered(shown.Assigned)
		g.Members = append(g.Members, shown)
	}
	return g
}
