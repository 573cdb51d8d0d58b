package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// group is a group as a broker describes it, of the classic or of the consumer protocol.
type group struct {
	Name         string   `json:"group"`
	State        string   `json:"state"`
	Type         string   `json:"type"`
	ProtocolType string   `json:"protocolType"`
	Protocol     string   `json:"protocol"`
	Generation   *int32   `json:"generation,omitempty"`
	Members      []member `json:"members"`
	topics       []string // that members have subscribed to, as far as they say so
}

// member is one member of a group.
type member struct {
	ID         string       `json:"memberId"`
	InstanceID *string      `json:"instanceId,omitempty"`
	ClientID   string       `json:"clientId"`
	Host       string       `json:"host"`
	Assigned   []assignment `json:"assigned"`
}

// assignment is what a member has of one topic.
type assignment struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

// String returns an assignment as it is also written on the command line: topic:0,1.
func (a assignment) String() string {
	numbers := make([]string, len(a.Partitions))
	for i, partition := range a.Partitions {
		numbers[i] = strconv.Itoa(int(partition))
	}
	return a.Topic + ":" + strings.Join(numbers, ",")
}

// who says which member it is, for people.
func (m *member) who() string {
	name := m.ClientID
	if m.InstanceID != nil {
		name = *m.InstanceID
	}
	return fmt.Sprintf("%s at %s", name, strings.TrimPrefix(m.Host, "/"))
}

// live tells whether the group has or awaits members, so that its offsets are theirs to move.
func (g *group) live() bool { return g.State != "Empty" && g.State != "Dead" }

// dead is the state of a group that does not exist.
const dead = "Dead"

// describe returns a group; one that does not exist has the state Dead and no members.
func (s *session) describe(name string) (*group, error) {
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("describe group %q", name)
	described, err := s.admin.DescribeGroups(ctx, name)
	if err != nil {
		return nil, s.asked(what, kmsg.DescribeGroups, err)
	}
	d := described[name]
	if d.Err != nil && !errors.Is(d.Err, kerr.GroupIDNotFound) {
		return nil, s.asked(what, kmsg.DescribeGroups, d.Err)
	}
	if d.Err == nil && d.State != dead {
		return classicGroup(&d), nil
	}
	if s.lacks(kmsg.ConsumerGroupDescribe) {
		return &group{Name: name, State: dead}, nil
	}
	modern, err := s.admin.DescribeConsumerGroups(ctx, name)
	if err != nil {
		return nil, s.asked(what, kmsg.ConsumerGroupDescribe, err)
	}
	switch g := modern[name]; {
	case g.Err == nil:
		return consumerGroup(&g), nil
	case errors.Is(g.Err, kerr.GroupIDNotFound):
		return &group{Name: name, State: dead}, nil
	default:
		return nil, s.asked(what, kmsg.ConsumerGroupDescribe, g.Err)
	}
}

// existing returns a group that must be there.
func (s *session) existing(name string) (*group, error) {
	g, err := s.describe(name)
	if err == nil && g.State == dead {
		return nil, fmt.Errorf("there is no group %q at %s; `kohort groups list` shows those that are there", name, s.addr)
	}
	return g, err
}

// classicGroup is a group of the classic protocol.
func classicGroup(d *kadm.DescribedGroup) *group {
	g := &group{Name: d.Group, State: d.State, Type: "classic", ProtocolType: d.ProtocolType, Protocol: d.Protocol, Members: []member{}}
	for i := range d.Members {
		m := &d.Members[i]
		assigned := []assignment{}
		if a, ok := m.Assigned.AsConsumer(); ok {
			for _, topic := range a.Topics {
				assigned = append(assigned, assignment{topic.Topic, topic.Partitions})
			}
		}
		g.Members = append(g.Members, member{m.MemberID, m.InstanceID, m.ClientID, m.ClientHost, ordered(assigned)})
		if subscription, ok := m.Join.AsConsumer(); ok {
			g.topics = append(g.topics, subscription.Topics...)
		}
	}
	return g
}

// consumerGroup is a group of the consumer protocol (KIP-848), which Kafka has. Its epoch is the generation.
func consumerGroup(d *kadm.DescribedConsumerGroup) *group {
	g := &group{
		Name: d.Group, State: d.State, Type: "consumer", ProtocolType: "consumer", Protocol: d.AssignorName,
		Generation: &d.Epoch, Members: []member{},
	}
	for i := range d.Members {
		m := &d.Members[i]
		assigned := []assignment{}
		for topic, partitions := range m.Assignment {
			assigned = append(assigned, assignment{topic, slices.Collect(maps.Keys(partitions))})
		}
		g.Members = append(g.Members, member{m.MemberID, m.InstanceID, m.ClientID, m.ClientHost, ordered(assigned)})
	}
	g.topics = d.SubscribedTopics()
	return g
}

// ordered sorts topics, and the partitions of each.
func ordered(assigned []assignment) []assignment {
	slices.SortFunc(assigned, func(a, b assignment) int { return strings.Compare(a.Topic, b.Topic) })
	for i := range assigned {
		slices.Sort(assigned[i].Partitions)
	}
	return assigned
}

// refusal says that a group is live, who is in it, and what to do.
func (g *group) refusal(what string) error {
	names := make([]string, len(g.Members))
	for i := range g.Members {
		names[i] = g.Members[i].who()
	}
	in := "members are joining it"
	if len(names) > 0 {
		in = "in it: " + strings.Join(names, ", ")
	}
	return fmt.Errorf("group %q is live (%s), so %s; %s; stop them and try again (one that was killed stays until its session ends)",
		g.Name, g.State, what, in)
}
