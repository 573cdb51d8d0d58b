package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupsResetCommand is `kohort groups reset-offsets`.
type groupsResetCommand struct {
	clientFlags
	Group     string   `arg:"" help:"Group whose offsets are moved. It must have no members."`
	Topic     []string `short:"t" sep:"none" placeholder:"TOPIC[:0,1]" help:"Topic, or some of its partitions. May be repeated."`
	AllTopics bool     `help:"Every partition for which the group has committed an offset."`
	resetTarget
	DryRun  bool `xor:"do" help:"Show what would be done, and do nothing. This is so unless --execute is given."`
	Execute bool `xor:"do" help:"Do it."`
	Export  bool `help:"Print the plan as CSV, which --from-file reads, and kafka-consumer-groups too."`
}

// resetLine is one partition of the plan.
type resetLine struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed"`
	To        int64  `json:"to"`
	Note      string `json:"note,omitempty"`
}

// resetPlan is what is printed as JSON.
type resetPlan struct {
	Group    string      `json:"group"`
	Executed bool        `json:"executed"`
	Offsets  []resetLine `json:"offsets"`
}

// Run shows where the offsets would be moved, and moves them if told to.
func (c *groupsResetCommand) Run(w *world) error {
	target, err := c.parse()
	if err != nil {
		return err
	}
	if c.AllTopics == (len(c.Topic) > 0) && c.FromFile == "" {
		return errors.New("which partitions? give --topic TOPIC (or TOPIC:0,1), which may be repeated, or --all-topics")
	}
	selections, err := parseSelections(c.Topic)
	if err != nil {
		return err
	}
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	var lines []resetLine
	s.during("planning the reset of group "+c.Group, func() { lines, err = s.planReset(c.Group, selections, target) })
	if err != nil {
		return err
	}
	if c.Execute {
		s.during("moving the offsets of group "+c.Group, func() { err = s.commit(c.Group, lines) })
		if err != nil {
			return err
		}
	}
	if err := c.print(s, lines); err != nil {
		return err
	}
	if !c.Execute {
		fmt.Fprintln(w.stderr, "kohort: nothing was changed; add --execute to do it")
	}
	return nil
}

// print shows the plan.
func (c *groupsResetCommand) print(s *session, lines []resetLine) error {
	if c.Export {
		for _, line := range lines {
			fmt.Fprintf(s.w.stdout, "%s,%d,%d\n", line.Topic, line.Partition, line.To)
		}
		return nil
	}
	t := newTable("TOPIC", "PARTITION", "COMMITTED", "NEW", "NOTE")
	for _, line := range lines {
		t.add(line.Topic, number(&line.Partition), number(line.Committed), strconv.FormatInt(line.To, 10), line.Note)
	}
	return s.show(resetPlan{Group: c.Group, Executed: c.Execute, Offsets: lines}, t)
}

// planReset finds out which offset each partition gets. It refuses while the group is live.
func (s *session) planReset(name string, selections []selection, target *target) ([]resetLine, error) {
	g, err := s.describe(name)
	if err != nil {
		return nil, err
	}
	if g.live() {
		return nil, g.refusal("its offsets are its own to move")
	}
	committed, err := s.committed(name)
	if err != nil {
		return nil, err
	}
	places, err := s.resetPlaces(name, selections, target, committed)
	if err != nil {
		return nil, err
	}
	e, err := s.edges(topicsOf(places))
	if err != nil {
		return nil, err
	}
	asked, err := s.timestamped(target, topicsOf(places))
	if err != nil {
		return nil, err
	}
	lines := []resetLine{}
	for _, p := range places {
		start, end, err := e.of(p)
		if err != nil {
			return nil, s.asked(fmt.Sprintf("list the offsets of %s", p), kmsg.ListOffsets, err)
		}
		line := resetLine{Topic: p.topic, Partition: p.partition}
		if offset, ok := committed[p]; ok {
			line.Committed = &offset
		}
		if err := target.apply(&line, *start, *end, asked); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// resetPlaces returns the partitions to move: those of the command line, of the file, or all that are committed.
func (s *session) resetPlaces(name string, selections []selection, target *target, committed map[place]int64) ([]place, error) {
	if len(selections) > 0 {
		places, err := s.expand(selections)
		if target.file == nil || err != nil {
			return places, err
		}
		var listed []place
		for _, p := range places {
			if _, ok := target.file[p]; ok {
				listed = append(listed, p)
			}
		}
		return listed, nil
	}
	var places []place
	if target.file != nil {
		for p := range target.file {
			places = append(places, p)
		}
		return sortPlaces(places), nil
	}
	for p := range committed {
		places = append(places, p)
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("group %q has committed nothing at %s, so --all-topics are none; name topics with --topic", name, s.addr)
	}
	return sortPlaces(places), nil
}

// commit writes the plan's offsets, as one who is no member.
func (s *session) commit(name string, lines []resetLine) error {
	offsets := kadm.Offsets{}
	for _, line := range lines {
		offsets.AddOffset(line.Topic, line.Partition, line.To, -1)
	}
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("move the offsets of group %q", name)
	responses, err := s.admin.CommitOffsets(ctx, name, offsets)
	if err != nil {
		return s.asked(what, kmsg.OffsetCommit, err)
	}
	for _, r := range responses.Sorted() {
		if r.Err == nil {
			continue
		}
		if g, describeErr := s.describe(name); describeErr == nil && g.live() {
			return g.refusal("its offsets are its own to move")
		}
		return s.asked(fmt.Sprintf("%s for %s", what, place{r.Topic, r.Partition}), kmsg.OffsetCommit, r.Err)
	}
	return nil
}

// readFile reads a file that was named on the command line.
func readFile(flag, path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, cmp.Or(errors.Unwrap(err), err))
	}
	return text, nil
}
