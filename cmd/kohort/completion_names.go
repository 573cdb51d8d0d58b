package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// namesLimit is how long somebody who pressed Tab waits.
const namesLimit = time.Second

// namesCommand is `kohort completion-names`, which the completion of a shell runs when a group or a topic may follow.
type namesCommand struct {
	clientFlags
	Kind string `arg:"" enum:"groups,topics" help:"groups or topics."`
}

// Run prints names, a line each. Where no broker answers there are none, and nothing is said: somebody is typing.
func (c *namesCommand) Run(w *world) error {
	s, err := c.prepare(w)
	if err != nil {
		return nil
	}
	defer s.close()
	ctx, cancel := context.WithTimeout(s.ctx, namesLimit)
	defer cancel()
	var names []string
	if c.Kind == "groups" {
		groups, _ := s.admin.ListGroups(ctx)
		names = groups.Groups()
	} else {
		topics, _ := s.admin.ListTopics(ctx)
		names = topics.Names()
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintln(w.stdout, name)
	}
	return nil
}
