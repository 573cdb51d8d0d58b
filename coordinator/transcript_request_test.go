package coordinator

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// sender is the client that a command speaks for, or nil.
func (r *runner) sender(a arguments) *client {
	if len(a.words) == 0 {
		return nil
	}
	switch a.verb {
	case "join", "sync", "heartbeat", "commit", "leave":
	default:
		return nil
	}
	name := a.words[0]
	if name == "-" {
		return nil
	}
	if r.clients[name] == nil {
		r.clients[name] = &client{name: name, generation: -1}
	}
	return r.clients[name]
}

// request builds the body of a command.
func (r *runner) request(a arguments) kmsg.Request {
	group := a.str("group", "g")
	if group == "empty" {
		group = ""
	}
	c := r.sender(a)
	if c == nil {
		c = &client{generation: -1}
	}
	memberID := r.memberID(a.str("member", c.memberID))
	instance := a.optional("instance", c.instance)
	generation := int32(a.num("generation", int(c.generation)))
	switch a.verb {
	case "join":
		c.instance = instance
		return r.joinRequest(a, group, memberID, instance)
	case "sync":
		return r.syncRequest(a, group, memberID, instance, generation)
	case "heartbeat":
		return &kmsg.HeartbeatRequest{Version: int16(a.num("v", 4)), Group: group, Generation: generation, MemberID: memberID, InstanceID: instance}
	case "leave":
		return r.leaveRequest(a, group)
	case "commit":
		return r.commitRequest(a, group, memberID, instance, generation)
	case "fetch":
		asked := kmsg.OffsetFetchRequestGroup{Group: group, MemberEpoch: -1}
		if len(a.words) == 0 || a.words[0] != "*" {
			asked.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
			for _, p := range a.words {
				topic, partition := splitPartition(p)
				asked.Topics = append(asked.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: topic, Partitions: []int32{partition}})
			}
		}
		return &kmsg.OffsetFetchRequest{Version: 9, Groups: []kmsg.OffsetFetchRequestGroup{asked}}
	case "delete-offsets":
		req := &kmsg.OffsetDeleteRequest{Group: group}
		for _, p := range a.words {
			topic, partition := splitPartition(p)
			req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{
				Topic: topic, Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}},
			})
		}
		return req
	case "delete-groups":
		return &kmsg.DeleteGroupsRequest{Version: 2, Groups: a.words}
	case "describe":
		return &kmsg.DescribeGroupsRequest{Version: int16(a.num("v", 6)), Groups: a.words, IncludeAuthorizedOperations: a.str("operations", "") == "true"}
	case "list":
		return &kmsg.ListGroupsRequest{Version: 5, StatesFilter: list(a.str("states", "")), TypesFilter: list(a.str("types", ""))}
	}
	panic("unknown command " + a.verb)
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(s, "_", " "), ",")
}

// memberID resolves a client's name, "old(A)" for the id that it had before, or takes the word as it is.
func (r *runner) memberID(word string) string {
	if word == "none" {
		return ""
	}
	if rest, ok := strings.CutPrefix(word, "<"); ok {
		want := strings.TrimSuffix(rest, ">")
		for id, name := range r.names {
			if name == want {
				return id
			}
		}
		panic("no member id is called " + word)
	}
	if c := r.clients[word]; c != nil {
		return c.memberID
	}
	return word
}

func (r *runner) joinRequest(a arguments, group, memberID string, instance *string) kmsg.Request {
	req := &kmsg.JoinGroupRequest{
		Version:                int16(a.num("v", 9)),
		Group:                  group,
		SessionTimeoutMillis:   int32(a.duration("session", 10*time.Second).Milliseconds()),
		RebalanceTimeoutMillis: int32(a.duration("rebalance", 5*time.Second).Milliseconds()),
		MemberID:               memberID,
		InstanceID:             instance,
		ProtocolType:           a.str("type", "consumer"),
		Reason:                 a.optional("reason", nil),
	}
	if req.ProtocolType == "empty" {
		req.ProtocolType = ""
	}
	if req.Version == 0 {
		req.RebalanceTimeoutMillis = -1
	}
	protocols := a.str("protocols", "range:M")
	if protocols == "none" {
		return req
	}
	for _, p := range strings.Split(protocols, ",") {
		name, metadata, _ := strings.Cut(p, ":")
		req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: bytesOf(metadata)})
	}
	return req
}

// bytesOf reads metadata: sub(t+u) is a real subscription to the topics t and u, other words are taken as they are.
func bytesOf(word string) []byte {
	topics, ok := strings.CutPrefix(word, "sub(")
	if !ok {
		return []byte(word)
	}
	return subscriptionTo(strings.Split(strings.TrimSuffix(topics, ")"), "+")...)
}

func subscriptionTo(topics ...string) []byte {
	b := []byte{0, 3}
	b = binary.BigEndian.AppendUint32(b, uint32(len(topics)))
	for _, t := range topics {
		b = binary.BigEndian.AppendUint16(b, uint16(len(t)))
		b = append(b, t...)
	}
	b = append(b, 0xff, 0xff, 0xff, 0xff) // no user data
	b = append(b, 0, 0, 0, 0)             // version 1: no owned partitions
	b = append(b, 0xff, 0xff, 0xff, 0xff) // version 2: generation -1
	return append(b, 0xff, 0xff)          // version 3: no rack
}

func (r *runner) syncRequest(a arguments, group, memberID string, instance *string, generation int32) kmsg.Request {
	consumer, protocol := "consumer", "range"
	if g := r.core.groups[group]; g != nil && g.protocol != "" {
		protocol = g.protocol
	}
	req := &kmsg.SyncGroupRequest{
		Version: int16(a.num("v", 5)), Group: group, Generation: generation, MemberID: memberID, InstanceID: instance,
		ProtocolType: a.optional("type", &consumer), Protocol: a.optional("protocol", &protocol),
	}
	if assign := a.str("assign", ""); assign != "" {
		for _, part := range strings.Split(assign, ",") {
			name, assignment, _ := strings.Cut(part, ":")
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{
				MemberID: r.memberID(name), MemberAssignment: []byte(assignment),
			})
		}
	}
	return req
}

func (r *runner) leaveRequest(a arguments, group string) kmsg.Request {
	req := &kmsg.LeaveGroupRequest{Version: int16(a.num("v", 5)), Group: group}
	reason := a.optional("reason", nil)
	for _, word := range a.words {
		m := kmsg.LeaveGroupRequestMember{MemberID: r.memberID(word), Reason: reason}
		if c := r.clients[word]; c != nil && c.memberID != "" {
			m.InstanceID = c.instance
		}
		req.Members = append(req.Members, m)
	}
	if len(a.words) == 0 {
		req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{
			MemberID: r.memberID(a.str("member", "none")), InstanceID: a.optional("instance", nil), Reason: reason,
		})
	}
	return req
}

func (r *runner) commitRequest(a arguments, group, memberID string, instance *string, generation int32) kmsg.Request {
	req := &kmsg.OffsetCommitRequest{
		Version: int16(a.num("v", 9)), Group: group, Generation: generation, MemberID: memberID, InstanceID: instance,
		RetentionTimeMillis: a.duration("retention", -time.Millisecond).Milliseconds(),
	}
	metadata := a.optional("metadata", nil)
	if metadata != nil {
		// "x*4096" is a long string.
		if word, times, ok := strings.Cut(*metadata, "*"); ok {
			n, _ := strconv.Atoi(times)
			long := strings.Repeat(word, n)
			metadata = &long
		}
	}
	for _, word := range a.words[1:] {
		p, offset, _ := strings.Cut(word, "=")
		topic, partition := splitPartition(p)
		n, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			panic(err)
		}
		cp := kmsg.OffsetCommitRequestTopicPartition{
			Partition: partition, Offset: n, LeaderEpoch: int32(a.num("epoch", -1)), Metadata: metadata,
		}
		if last := len(req.Topics) - 1; last >= 0 && req.Topics[last].Topic == topic {
			req.Topics[last].Partitions = append(req.Topics[last].Partitions, cp)
			continue
		}
		req.Topics = append(req.Topics, kmsg.OffsetCommitRequestTopic{
			Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{cp},
		})
	}
	return req
}

func splitPartition(s string) (string, int32) {
	i := strings.LastIndexByte(s, '-')
	n, err := strconv.Atoi(s[i+1:])
	if err != nil {
		panic(fmt.Sprintf("%s is no partition", s))
	}
	return s[:i], int32(n)
}
