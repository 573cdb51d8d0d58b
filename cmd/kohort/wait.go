package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// waitPause is the time between two looks of `kohort wait`.
const waitPause = 50 * time.Millisecond

// waitCommand is `kohort wait`.
type waitCommand struct {
	clientFlags
	Group   string        `placeholder:"GROUP" help:"Wait for this group; unless given, for the broker."`
	Members int           `default:"-1" placeholder:"N" help:"Wait until the group is stable with so many members, and they own every partition of their topics; 0: until it is empty."`
	Lag     int64         `default:"-1" placeholder:"N" help:"Wait until the group has committed something and lags by at most N."`
	Timeout time.Duration `default:"30s" placeholder:"TIME" help:"Give up after this time, with exit code 1."`
}

// waited is what `kohort wait` prints as JSON.
type waited struct {
	Broker  string `json:"broker"`
	Group   string `json:"group,omitempty"`
	State   string `json:"state,omitempty"`
	Members *int   `json:"members,omitempty"`
	Lag     *int64 `json:"lag,omitempty"`
}

// Run waits. The exit code is 0 when it came true, 1 when it did not in time.
func (c *waitCommand) Run(w *world) error {
	if c.Group == "" && (c.Members >= 0 || c.Lag >= 0) {
		return errors.New("--members and --lag belong to a group; name it with --group GROUP")
	}
	s, err := c.prepare(w, kgo.RetryTimeout(time.Second), kgo.RequestRetries(1), kgo.DialTimeout(time.Second))
	if err != nil {
		return err
	}
	defer s.close()
	stopped := s.ctx
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(stopped, c.Timeout)
	defer cancel()
	var seen waited
	missing := errors.New("nothing answered")
	w.during("waiting for "+c.subject(s), func() {
		for s.ctx.Err() == nil {
			now, err := c.look(s)
			if err == nil {
				seen, missing = now, nil
				return
			}
			if s.ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) { // else it is no answer, but the end of the wait
				missing = err
			}
			select {
			case <-s.ctx.Done():
			case <-time.After(waitPause):
			}
		}
	})
	switch {
	case missing == nil:
	case stopped.Err() != nil:
		return fmt.Errorf("waiting for %s was stopped by a signal", c.subject(s))
	default:
		return fmt.Errorf("waited %v for %s in vain: %w", c.Timeout, c.subject(s), missing)
	}
	if s.json {
		return w.printJSON(seen)
	}
	return nil
}

// subject says what is waited for.
func (c *waitCommand) subject(s *session) string {
	text := "the broker at " + s.addr
	if c.Group != "" {
		text = fmt.Sprintf("group %q", c.Group)
	}
	switch {
	case c.Members > 0:
		text += " to be stable with " + count(c.Members, "member")
	case c.Members == 0:
		text += " to be empty"
	}
	if c.Lag >= 0 {
		text += fmt.Sprintf(" to lag by at most %d", c.Lag)
	}
	return text
}

// look returns what there is, and what is missing of that which is waited for.
func (c *waitCommand) look(s *session) (waited, error) {
	seen := waited{Broker: s.addr, Group: c.Group}
	if err := s.client.Ping(s.ctx); err != nil {
		return seen, s.unreachable(err)
	}
	if c.Group == "" {
		return seen, nil
	}
	g, err := s.describe(c.Group)
	if err != nil {
		return seen, err
	}
	members := len(g.Members)
	seen.State, seen.Members = g.State, &members
	switch {
	case c.Members > 0 && (g.State != "Stable" || members != c.Members):
		return seen, fmt.Errorf("it is %s with %s", g.State, count(members, "member"))
	case c.Members == 0 && g.State != "Empty" && g.State != dead:
		return seen, fmt.Errorf("it is %s with %s", g.State, count(members, "member"))
	case c.Members < 0 && g.State == dead:
		return seen, errors.New("there is no such group")
	case c.Members > 0:
		if err := s.owned(g); err != nil {
			return seen, err
		}
	}
	if c.Lag < 0 {
		return seen, nil
	}
	v, err := s.lagOf(g)
	if err != nil {
		return seen, err
	}
	lag, err := v.whole()
	if err != nil {
		return seen, err
	}
	if seen.Lag = &lag; lag > c.Lag {
		return seen, fmt.Errorf("it lags by %d", lag)
	}
	return seen, nil
}

// whole returns the lag if it is known of every partition.
func (v *lagView) whole() (int64, error) {
	if len(v.Partitions) == 0 {
		return 0, errors.New("it has committed nothing and owns no partition")
	}
	for _, p := range v.Partitions {
		if p.Error == "" && p.Lag == nil {
			return 0, fmt.Errorf("it has committed nothing for %s", place{p.Topic, p.Partition})
		}
	}
	if v.Lag == nil {
		return 0, errors.New("none of its topics exists")
	}
	return *v.Lag, nil
}

// owned returns an error that names a partition which no member has. Members that hand partitions over to each other are
// stable in between, while nobody has them.
func (s *session) owned(g *group) error {
	if len(g.topics) == 0 {
		return nil // it shares no topics, or does not say which
	}
	ctx, cancel := s.request()
	defer cancel()
	topics, err := s.admin.ListTopicsWithInternal(ctx, g.topics...)
	if err != nil {
		return s.asked("look up topics", kmsg.Metadata, err)
	}
	owners := map[place]bool{}
	for i := range g.Members {
		for _, a := range g.Members[i].Assigned {
			for _, partition := range a.Partitions {
				owners[place{a.Topic, partition}] = true
			}
		}
	}
	for _, topic := range topics.Sorted() {
		for _, p := range topic.Partitions.Sorted() {
			if at := (place{p.Topic, p.Partition}); !owners[at] {
				return fmt.Errorf("it is %s with %s, none of which owns %s", g.State, count(len(g.Members), "member"), at)
			}
		}
	}
	return nil
}
