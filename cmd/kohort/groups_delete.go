package main

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupsDeleteCommand is `kohort groups delete`.
type groupsDeleteCommand struct {
	clientFlags
	Groups []string `arg:"" name:"group" help:"Groups to delete, with all that they committed."`
}

// deleted is a line of what was deleted.
type deleted struct {
	Group     string `json:"group,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Partition *int32 `json:"partition,omitempty"`
}

// Run deletes groups.
func (c *groupsDeleteCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	done := []deleted{}
	for _, name := range c.Groups {
		s.during("deleting group "+name, func() { err = s.deleteGroup(name) })
		if err != nil {
			break
		}
		done = append(done, deleted{Group: name})
	}
	t := newTable("DELETED")
	for _, d := range done {
		t.add(d.Group)
	}
	if len(done) == 0 && err != nil {
		return err
	}
	return errors.Join(s.show(done, t), err)
}

// deleteGroup deletes one group.
func (s *session) deleteGroup(name string) error {
	ctx, cancel := s.request()
	defer cancel()
	resp, err := s.admin.DeleteGroup(ctx, name)
	switch {
	case err == nil && resp.Err == nil:
		return nil
	case err == nil:
		err = resp.Err
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return fmt.Errorf("there is no group %q at %s; `kohort groups list` shows those that are there", name, s.addr)
	case errors.Is(err, kerr.NonEmptyGroup):
		if g, describeErr := s.describe(name); describeErr == nil {
			return g.refusal("it cannot be deleted")
		}
	}
	return s.asked(fmt.Sprintf("delete group %q", name), kmsg.DeleteGroups, err)
}

// groupsDeleteOffsetsCommand is `kohort groups delete-offsets`.
type groupsDeleteOffsetsCommand struct {
	clientFlags
	Group  string   `arg:"" help:"Group whose offsets are deleted."`
	Topics []string `arg:"" name:"topic" help:"TOPIC, or TOPIC:0,1 for some of its partitions."`
}

// Run deletes committed offsets.
func (c *groupsDeleteOffsetsCommand) Run(w *world) error {
	selections, err := parseSelections(c.Topics)
	if err != nil {
		return err
	}
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	var done []deleted
	s.during("deleting offsets of group "+c.Group, func() { done, err = s.deleteOffsets(c.Group, selections) })
	if err != nil {
		return err
	}
	t := newTable("TOPIC", "PARTITION", "OFFSET")
	for _, d := range done {
		t.add(d.Topic, number(d.Partition), "deleted")
	}
	return s.show(done, t)
}

// deleteOffsets deletes what a group committed for the selected partitions.
func (s *session) deleteOffsets(name string, selections []selection) ([]deleted, error) {
	if _, err := s.existing(name); err != nil {
		return nil, err
	}
	partitions, err := s.expand(selections)
	if err != nil {
		return nil, err
	}
	set := kadm.TopicsSet{}
	for _, p := range partitions {
		set.Add(p.topic, p.partition)
	}
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("delete offsets of group %q", name)
	responses, err := s.admin.DeleteOffsets(ctx, name, set)
	if err != nil {
		return nil, s.asked(what, kmsg.OffsetDelete, err)
	}
	done := []deleted{}
	for _, p := range partitions {
		err := responses[p.topic][p.partition]
		if errors.Is(err, kerr.GroupSubscribedToTopic) {
			return nil, fmt.Errorf("%s: its members are subscribed to topic %q; stop them and try again", what, p.topic)
		}
		if err != nil {
			return nil, s.asked(fmt.Sprintf("%s for %s", what, p), kmsg.OffsetDelete, err)
		}
		done = append(done, deleted{Group: name, Topic: p.topic, Partition: &p.partition})
	}
	return done, nil
}
