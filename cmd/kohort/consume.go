package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// endPause is how often `kohort consume --exit` looks whether the end is reached while nothing comes.
const endPause = 200 * time.Millisecond

// consumeCommand is `kohort consume`.
type consumeCommand struct {
	clientFlags
	Topics []string `arg:"" name:"topic" help:"TOPIC; TOPIC:0,1 for some of its partitions, without a group only."`
	Group  string   `short:"g" placeholder:"GROUP" help:"Join this group, and commit what was printed."`
	memberFlags
	From   string   `default:"earliest" placeholder:"WHERE" help:"earliest, latest, an offset, -N for the last N, or a time; earliest unless given. A group uses it where it has no offset."`
	Count  int64    `short:"n" placeholder:"N" help:"End after so many records."`
	Exit   bool     `short:"e" help:"End where the logs ended at the start; else go on until Ctrl-C."`
	Format string   `short:"f" enum:"text,json,hex" default:"text" help:"Form of the records: text, json (a line each) or hex. -o json is the same as json."`
	With   []string `placeholder:"COLUMN" help:"Print these before the value: topic, partition, offset, timestamp, key, headers."`
	Each   string   `placeholder:"COMMAND" help:"Give each record to this shell command, as a line on its standard input. A group commits it once the command has succeeded."`
}

// Run prints records.
func (c *consumeCommand) Run(w *world) error {
	form := c.Format
	if c.Output == "json" {
		form = "json"
	}
	for _, name := range c.With {
		if !slices.Contains(strings.Split(withColumns, ","), name) {
			return fmt.Errorf("--with takes some of %s, and not %q", withColumns, name)
		}
	}
	selections, err := parseSelections(c.Topics)
	if err != nil {
		return err
	}
	from, err := parseFrom(c.From)
	if err != nil {
		return err
	}
	end := &endWatch{group: c.Group}
	opts, err := c.options(w, selections, from, end)
	if err != nil {
		return err
	}
	// A fetch that began before all partitions were known keeps the rest waiting: for half a second, and not for five.
	s, err := c.open(w, append(opts, kgo.FetchMaxWait(500*time.Millisecond))...)
	if err != nil {
		return err
	}
	defer s.close()
	end.session = s
	if c.Exit {
		s.during("looking where the logs end", func() { err = end.note(topicNames(selections), c.From) })
		if err != nil {
			return err
		}
	}
	if !c.Exit && c.Count == 0 {
		w.tell("reading until Ctrl-C; --exit ends where the log ends now")
		return c.read(s, &printer{form, c.With}, end) // it has no end to wait for
	}
	s.during("reading from "+strings.Join(c.Topics, ", "), func() { err = c.read(s, &printer{form, c.With}, end) })
	return err
}

// options returns what the client needs to know. They need the topics' partitions, which an own session looks up.
func (c *consumeCommand) options(w *world, selections []selection, from kgo.Offset, end *endWatch) ([]kgo.Opt, error) {
	s, err := c.open(w)
	if err != nil {
		return nil, err
	}
	defer s.close()
	places, err := s.expand(selections)
	if err != nil {
		return nil, err
	}
	if c.Group == "" {
		assigned := map[string]map[int32]kgo.Offset{}
		for _, p := range places {
			if assigned[p.topic] == nil {
				assigned[p.topic] = map[int32]kgo.Offset{}
			}
			assigned[p.topic][p.partition] = from
		}
		end.assign(places)
		return []kgo.Opt{kgo.ConsumePartitions(assigned)}, nil
	}
	for _, sel := range selections {
		if sel.partitions != nil {
			return nil, fmt.Errorf("a group shares all partitions of topic %q; name no partitions, or leave out --group", sel.topic)
		}
	}
	opts := []kgo.Opt{
		kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(topicNames(selections)...), kgo.ConsumeResetOffset(from), kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) { end.assign(placesOf(added)) }),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { end.revoke(placesOf(lost)) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { end.revoke(placesOf(lost)) }),
	}
	return append(opts, c.memberFlags.options()...), nil
}

// read prints what comes, until the signal, the count or the end. A group's commit follows what was printed.
func (c *consumeCommand) read(s *session, p *printer, end *endWatch) error {
	out := bufio.NewWriter(s.w.stdout)
	outage := &outage{session: s, patience: c.patience()}
	var printed int64
	for s.ctx.Err() == nil && (c.Count == 0 || printed < c.Count) && !(c.Exit && end.reached()) {
		ctx, cancel := s.ctx, context.CancelFunc(func() {})
		if c.Exit {
			ctx, cancel = context.WithTimeout(s.ctx, endPause)
		}
		fetches := s.client.PollRecords(ctx, c.most(printed))
		cancel()
		if err := outage.over(fetchError(fetches), fetches.NumRecords() > 0); err != nil {
			return s.asked("read from "+strings.Join(c.Topics, ", "), kmsg.Fetch, err)
		}
		var done []*kgo.Record
		for r := range fetches.RecordsAll() {
			line, err := p.line(r)
			if err != nil {
				return err
			}
			if c.Exit && end.beyond(r) {
				continue // it came after the end was noted, and will be read next time
			}
			if c.Each != "" {
				err = c.hand(s, r, line)
			} else {
				_, err = out.WriteString(line)
			}
			if err != nil {
				return err
			}
			done = append(done, r)
			end.passed(r)
			printed++
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		if err := c.commit(s, done); err != nil {
			return err
		}
		s.client.AllowRebalance()
	}
	s.client.AllowRebalance()
	if c.Group != "" {
		ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
		defer cancel()
		if err := s.client.LeaveGroupContext(ctx); err != nil {
			return fmt.Errorf("leave group %q: %w; it counts this member until its session ends", c.Group, err)
		}
	}
	return nil
}

// most returns how many records the next poll may give: a group must not take what it will not print, and gives way to
// a rebalance after each record on which it works.
func (c *consumeCommand) most(printed int64) int {
	const batch = 10_000
	switch {
	case c.Each != "":
		return 1
	case c.Count > 0:
		return int(min(batch, c.Count-printed))
	}
	return batch
}

// commit commits what was printed.
func (c *consumeCommand) commit(s *session, printed []*kgo.Record) error {
	if c.Group == "" || len(printed) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingLimit) // also after the signal: it was printed
	defer cancel()
	if err := s.client.CommitRecords(ctx, printed...); err != nil {
		if fenced(err) {
			return c.removed(err)
		}
		return s.asked(fmt.Sprintf("commit to group %q", c.Group), kmsg.OffsetCommit, err)
	}
	return nil
}

// fetchError returns the first error that is not the end of waiting.
func fetchError(fetches kgo.Fetches) error {
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
			return e.Err
		}
	}
	return nil
}

// parseFrom reads where to begin.
func parseFrom(text string) (kgo.Offset, error) {
	switch text {
	case "earliest":
		return kgo.NewOffset().AtStart(), nil
	case "latest":
		return kgo.NewOffset().AtEnd(), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 0 {
			return kgo.NewOffset().AtEnd().Relative(n), nil
		}
		return kgo.NewOffset().At(n), nil
	}
	at, err := parseTime("--from", text)
	if err != nil {
		return kgo.Offset{}, fmt.Errorf("--from takes earliest, latest, an offset, -N or a time as 2026-11-29T20:00:00Z, and not %q", text)
	}
	return kgo.NewOffset().AfterMilli(at.UnixMilli()), nil
}
