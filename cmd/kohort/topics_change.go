package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicsCreateCommand is `kohort topics create`.
type topicsCreateCommand struct {
	clientFlags
	Topics     []string `arg:"" name:"topic" help:"Topics to create."`
	Partitions int32    `short:"p" default:"-1" placeholder:"N" help:"Number of partitions; the broker's default unless given."`
	Replicas   int16    `short:"r" default:"-1" placeholder:"N" help:"Number of replicas; the broker's default unless given."`
	Config     []string `short:"c" sep:"none" placeholder:"NAME=VALUE" help:"A property of the topics. May be repeated."`
}

// Run creates topics.
func (c *topicsCreateCommand) Run(w *world) error {
	set, err := properties(c.Config)
	if err != nil {
		return err
	}
	if last := c.Topics[len(c.Topics)-1]; len(c.Topics) == 2 && isNumber(last) {
		return fmt.Errorf("%q would be a topic, too; partitions are given with -p %s", last, last)
	}
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	list := []listedTopic{}
	s.during("creating topics", func() { list, err = s.createTopics(c, set) })
	t := newTable("CREATED", "PARTITIONS", "REPLICAS")
	for _, topic := range list {
		t.add(topic.Topic, strconv.Itoa(topic.Partitions), strconv.Itoa(topic.Replicas))
	}
	if len(list) == 0 {
		return err
	}
	return errors.Join(s.show(list, t), err)
}

// isNumber tells whether a name is a number, which may be meant as one.
func isNumber(name string) bool {
	_, err := strconv.ParseUint(name, 10, 31)
	return err == nil
}

// createTopics creates topics and returns those that now exist.
func (s *session) createTopics(c *topicsCreateCommand, set map[string]*string) ([]listedTopic, error) {
	ctx, cancel := s.request()
	defer cancel()
	responses, err := s.admin.CreateTopics(ctx, c.Partitions, c.Replicas, set, c.Topics...)
	if err != nil {
		return nil, s.asked("create topics", kmsg.CreateTopics, err)
	}
	list := []listedTopic{}
	var errs []error
	for _, r := range responses.Sorted() {
		switch {
		case r.Err == nil:
			list = append(list, listedTopic{r.Topic, int(r.NumPartitions), int(r.ReplicationFactor), false})
		case errors.Is(r.Err, kerr.TopicAlreadyExists):
			errs = append(errs, fmt.Errorf("topic %q exists already; `kohort topics describe %s` shows it", r.Topic, r.Topic))
		default:
			errs = append(errs, s.refused(fmt.Sprintf("create topic %q", r.Topic), kmsg.CreateTopics, r.Err, r.ErrMessage))
		}
	}
	slices.SortFunc(list, func(a, b listedTopic) int { return strings.Compare(a.Topic, b.Topic) })
	return list, errors.Join(errs...)
}

// refused returns an error with the broker's own words, if it has any.
func (s *session) refused(what string, key kmsg.Key, err error, message string) error {
	if message != "" && s.ctx.Err() == nil {
		return fmt.Errorf("%s: %s answers: %s", what, s.addr, strings.TrimSuffix(message, "."))
	}
	return s.asked(what, key, err)
}

// properties reads NAME=VALUE.
func properties(args []string) (map[string]*string, error) {
	set := map[string]*string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("a property is given as NAME=VALUE, for example retention.ms=60000, and not %q", arg)
		}
		set[name] = &value
	}
	return set, nil
}

// topicsDeleteCommand is `kohort topics delete`.
type topicsDeleteCommand struct {
	clientFlags
	Topics []string `arg:"" name:"topic" help:"Topics to delete."`
}

// Run deletes topics.
func (c *topicsDeleteCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	done := []deleted{}
	s.during("deleting topics", func() {
		ctx, cancel := s.request()
		defer cancel()
		responses, deleteErr := s.admin.DeleteTopics(ctx, c.Topics...)
		if deleteErr != nil {
			err = s.asked("delete topics", kmsg.DeleteTopics, deleteErr)
			return
		}
		var errs []error
		for _, r := range responses.Sorted() {
			switch {
			case r.Err == nil:
				done = append(done, deleted{Topic: r.Topic})
			case unknownTopic(r.Err):
				errs = append(errs, fmt.Errorf("there is no topic %q at %s", r.Topic, s.addr))
			default:
				errs = append(errs, s.refused(fmt.Sprintf("delete topic %q", r.Topic), kmsg.DeleteTopics, r.Err, r.ErrMessage))
			}
		}
		err = errors.Join(errs...)
	})
	t := newTable("DELETED")
	for _, d := range done {
		t.add(d.Topic)
	}
	if len(done) == 0 {
		return err
	}
	return errors.Join(s.show(done, t), err)
}

// topicsConfigCommand is `kohort topics config`.
type topicsConfigCommand struct {
	clientFlags
	Topic  string   `arg:"" help:"Topic to look at or to change."`
	Set    []string `sep:"none" placeholder:"NAME=VALUE" help:"Set a property. May be repeated."`
	Delete []string `placeholder:"NAME" help:"Take a property back to the broker's default. May be repeated."`
}

// configLine is a line of `kohort topics config`.
type configLine struct {
	Name   string  `json:"name"`
	Value  *string `json:"value"`
	Source string  `json:"source"`
}

// Run shows the properties of a topic, after it has changed those that it was told to.
func (c *topicsConfigCommand) Run(w *world) error {
	set, err := properties(c.Set)
	if err != nil {
		return err
	}
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	list := []configLine{}
	s.during("asking for the configuration of "+c.Topic, func() {
		if err = s.alterTopic(c, set); err == nil {
			list, err = s.topicConfig(c.Topic)
		}
	})
	if err != nil {
		return err
	}
	t := newTable("PROPERTY", "VALUE", "SOURCE")
	for _, line := range list {
		value := "(not set)"
		if line.Value != nil {
			value = *line.Value
		}
		t.add(line.Name, value, line.Source)
	}
	return s.show(list, t)
}

// alterTopic changes properties, if there are any to change.
func (s *session) alterTopic(c *topicsConfigCommand, set map[string]*string) error {
	if _, err := s.topics(c.Topic); err != nil {
		return err
	}
	var changes []kadm.AlterConfig
	for name, value := range set {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: value})
	}
	for _, name := range c.Delete {
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: name})
	}
	if len(changes) == 0 {
		return nil
	}
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("change the configuration of topic %q", c.Topic)
	responses, err := s.admin.AlterTopicConfigs(ctx, changes, c.Topic)
	if err != nil {
		return s.asked(what, kmsg.IncrementalAlterConfigs, err)
	}
	for _, r := range responses {
		if r.Err != nil {
			return s.refused(what, kmsg.IncrementalAlterConfigs, r.Err, r.ErrMessage)
		}
	}
	return nil
}

// topicConfig returns the properties of a topic, sorted.
func (s *session) topicConfig(topic string) ([]configLine, error) {
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("read the configuration of topic %q", topic)
	resources, err := s.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, s.asked(what, kmsg.DescribeConfigs, err)
	}
	list := []configLine{}
	for _, r := range resources {
		if r.Err != nil {
			return nil, s.refused(what, kmsg.DescribeConfigs, r.Err, r.ErrMessage)
		}
		for _, config := range r.Configs {
			list = append(list, configLine{config.Key, config.Value, config.Source.String()})
		}
	}
	slices.SortFunc(list, func(a, b configLine) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
