package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// lagCommand is `kohort lag`.
type lagCommand struct {
	clientFlags
	Groups   []string      `arg:"" optional:"" name:"group" help:"Groups to show, partition by partition; all, a line each, unless given."`
	Watch    bool          `short:"w" help:"Show it again and again, until Ctrl-C."`
	Interval time.Duration `default:"1s" placeholder:"TIME" help:"Time between two looks."`
}

// lagLooker looks at groups; it remembers between two looks what does not change.
type lagLooker struct {
	*session
	ages        *ages
	generations *generations
}

// Run shows lag.
func (c *lagCommand) Run(w *world) error {
	s, err := c.open(w, kgo.FetchMaxPartitionBytes(1024), kgo.FetchMaxWait(250*time.Millisecond))
	if err != nil {
		return err
	}
	defer s.close()
	looker := &lagLooker{session: s, ages: newAges(s), generations: newGenerations(s, c)}
	defer looker.generations.close()
	if !c.Watch {
		var views []*lagView
		s.during("measuring lag", func() { views, err = looker.look(c.Groups) })
		if err != nil {
			return err
		}
		return c.print(s, w.stdout, views)
	}
	for {
		views, err := looker.look(c.Groups)
		if s.ctx.Err() != nil {
			return nil
		}
		var screen bytes.Buffer
		if err == nil {
			err = c.print(s, &screen, views)
		}
		if err != nil {
			fmt.Fprintf(&screen, "kohort: %s\n", sentence(err))
		}
		if _, err := io.WriteString(w.stdout, w.screen(screen.String())); err != nil {
			return err
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(c.Interval):
		}
	}
}

// look measures groups: those that are named, or all.
func (l *lagLooker) look(names []string) ([]*lagView, error) {
	named := len(names) > 0
	if !named {
		ctx, cancel := l.request()
		defer cancel()
		listed, err := l.admin.ListGroups(ctx)
		if err != nil {
			return nil, l.asked("list groups", kmsg.ListGroups, err)
		}
		names = listed.Groups()
	}
	views := []*lagView{}
	for _, name := range names {
		g, err := l.describe(name)
		if named && err == nil && g.State == dead {
			g, err = l.existing(name)
		}
		if err != nil {
			return nil, err
		}
		if g.State == dead {
			continue // it went since it was listed
		}
		v, err := l.lagOf(g)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	l.ages.measure(views)
	l.generations.fill(views)
	return views, nil
}

// print shows groups: a line each, and below it the partitions of those that were named.
func (c *lagCommand) print(s *session, out io.Writer, views []*lagView) error {
	if s.json {
		w := *s.w
		w.stdout = out
		return w.printJSON(views)
	}
	if len(views) == 0 {
		_, err := fmt.Fprintf(out, "there are no groups at %s\n", s.addr)
		return err
	}
	t := newTable("GROUP", "STATE", "GENERATION", "MEMBERS", "PARTITIONS", "COMMITTED", "END", "LAG", "SECONDS")
	for _, v := range views {
		committed := sum(v.Partitions, func(p *lagPartition) *int64 { return p.Committed })
		end := sum(v.Partitions, func(p *lagPartition) *int64 { return p.End })
		t.add(v.Name, v.State, number(v.Generation), strconv.Itoa(len(v.Members)), strconv.Itoa(len(v.Partitions)),
			number(committed), number(end), number(v.Lag), number(v.LagSeconds))
	}
	if err := t.write(out, s.w.width()); err != nil || len(c.Groups) == 0 {
		return err
	}
	for _, v := range views {
		fmt.Fprintf(out, "\n%s\n", v.Name)
		if err := v.table(true).write(out, s.w.width()); err != nil {
			return err
		}
	}
	return nil
}

// screen returns a text so that it takes the place of the last one on a terminal, cut to its height; elsewhere the
// texts follow each other.
func (w *world) screen(text string) string {
	file, ok := w.stdout.(*os.File)
	if !ok {
		return text + "\n"
	}
	_, height, ok := terminalSize(file)
	if !ok {
		return text + "\n"
	}
	return "\x1b[H\x1b[2J" + fit(text, height)
}

// fit cuts a text to so many lines, the last of which is left free.
func fit(text string, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if most := height - 1; most > 1 && len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("... and %s more; name groups, or use -o json", count(left, "line")))
	}
	return strings.Join(lines, "\n") + "\n"
}
