package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicsCommand is `kohort topics`.
type topicsCommand struct {
	List     topicsListCommand     `cmd:"" help:"List the topics."`
	Create   topicsCreateCommand   `cmd:"" help:"Create topics."`
	Describe topicsDescribeCommand `cmd:"" help:"Show the partitions of topics and their offsets."`
	Delete   topicsDeleteCommand   `cmd:"" help:"Delete topics and everything in them."`
	Config   topicsConfigCommand   `cmd:"" help:"Show a topic's properties, or set some."`
}

// unknownTopic tells whether an error says that there is no such topic.
func unknownTopic(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.InvalidTopicException)
}

// noTopic says that a topic does not exist.
func (s *session) noTopic(name string) error {
	return fmt.Errorf("there is no topic %q at %s; `kohort topics list` shows those that are there, `kohort topics create %s` makes it",
		name, s.addr, name)
}

// topicsListCommand is `kohort topics list`.
type topicsListCommand struct {
	clientFlags
	Internal bool `short:"i" help:"Show internal topics, too."`
}

// listedTopic is a line of `kohort topics list`.
type listedTopic struct {
	Topic      string `json:"topic"`
	Partitions int    `json:"partitions"`
	Replicas   int    `json:"replicas"`
	Internal   bool   `json:"internal"`
}

// Run lists the topics.
func (c *topicsListCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	list := []listedTopic{}
	s.during("listing topics", func() {
		ctx, cancel := s.request()
		defer cancel()
		topics, listErr := s.admin.ListTopicsWithInternal(ctx)
		if err = listErr; err != nil {
			err = s.asked("list topics", kmsg.Metadata, err)
		}
		for _, topic := range topics.Sorted() {
			if topic.Err == nil && (c.Internal || !topic.IsInternal) {
				list = append(list, listedTopic{topic.Topic, len(topic.Partitions), topic.Partitions.NumReplicas(), topic.IsInternal})
			}
		}
	})
	if err != nil {
		return err
	}
	if len(list) == 0 && !s.json {
		fmt.Fprintf(w.stderr, "kohort: there are no topics at %s\n", s.addr)
		return nil
	}
	t := newTable("TOPIC", "PARTITIONS", "REPLICAS")
	for _, topic := range list {
		t.add(topic.Topic, strconv.Itoa(topic.Partitions), strconv.Itoa(topic.Replicas))
	}
	return s.show(list, t)
}

// topicsDescribeCommand is `kohort topics describe`.
type topicsDescribeCommand struct {
	clientFlags
	Topics []string `arg:"" name:"topic" help:"Topics to describe."`
}

// describedPartition is a line of `kohort topics describe`.
type describedPartition struct {
	Topic       string  `json:"topic"`
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"`
	LeaderEpoch int32   `json:"leaderEpoch"`
	Replicas    []int32 `json:"replicas"`
	Start       *int64  `json:"start"`
	End         *int64  `json:"end"`
	Error       string  `json:"error,omitempty"`
}

// Run describes topics.
func (c *topicsDescribeCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	var list []describedPartition
	s.during("describing topics", func() { list, err = s.describeTopics(c.Topics) })
	if err != nil {
		return err
	}
	t := newTable("TOPIC", "PARTITION", "LEADER", "EPOCH", "REPLICAS", "START", "END", "RECORDS AT MOST")
	for i := range list {
		p := &list[i]
		most := absent
		if p.Start != nil && p.End != nil {
			most = strconv.FormatInt(*p.End-*p.Start, 10)
		}
		t.add(p.Topic, number(&p.Partition), number(&p.Leader), number(&p.LeaderEpoch), strconv.Itoa(len(p.Replicas)),
			number(p.Start), number(p.End), most)
	}
	return s.show(list, t)
}

// describeTopics returns the partitions of topics.
func (s *session) describeTopics(names []string) ([]describedPartition, error) {
	topics, err := s.topics(names...)
	if err != nil {
		return nil, err
	}
	e, err := s.edges(names)
	if err != nil {
		return nil, err
	}
	list := []describedPartition{}
	for _, topic := range topics.Sorted() {
		for _, p := range topic.Partitions.Sorted() {
			d := describedPartition{
				Topic: p.Topic, Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas,
			}
			if d.Start, d.End, err = e.of(place{p.Topic, p.Partition}); err != nil {
				d.Error = err.Error()
			}
			list = append(list, d)
		}
	}
	return list, nil
}
