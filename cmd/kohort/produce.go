package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// longestLine is the longest line that `kohort produce` reads.
const longestLine = 64 << 20

// produceRetries is how often a batch is tried again: about half a minute. (The client's own time limit counts from the
// record's timestamp, which may be years old.)
const produceRetries = 15

// produceCommand is `kohort produce`.
type produceCommand struct {
	clientFlags
	Topic        string   `arg:"" help:"Topic to write to; made if the broker makes topics by itself."`
	Values       []string `arg:"" optional:"" name:"value" help:"Values, a record each; unless given, the lines of standard input."`
	Key          *string  `short:"k" placeholder:"KEY" help:"Key of every record."`
	KeySeparator string   `short:"K" placeholder:"TEXT" help:"Each line is a key, this separator, and a value."`
	Partition    int32    `short:"p" default:"-1" placeholder:"N" help:"Partition; chosen by the key unless given."`
	Header       []string `short:"H" sep:"none" placeholder:"NAME=VALUE" help:"Header of every record. May be repeated."`
	Format       string   `short:"f" enum:"text,json,hex" default:"text" help:"Form of the records: text, json (as consume prints them) or hex."`
}

// written is where the records of one partition went.
type written struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	First     int64  `json:"first"`
	Last      int64  `json:"last"`
	Records   int    `json:"records"`
}

// producing collects answers.
type producing struct {
	mu    sync.Mutex
	parts map[int32]*written
	err   error
}

// Run writes records.
func (c *produceCommand) Run(w *world) error {
	opts := []kgo.Opt{
		kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(2), kgo.RecordRetries(produceRetries),
		kgo.ProducerLinger(5 * time.Millisecond), kgo.ProducerBatchMaxBytes(1 << 20),
	}
	if c.Partition >= 0 {
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	s, err := c.open(w, opts...)
	if err != nil {
		return err
	}
	defer s.close()
	p := &producing{parts: map[int32]*written{}}
	s.during("writing to "+c.Topic, func() {
		err = c.each(w, func(r *kgo.Record) error {
			s.client.Produce(s.ctx, r, p.answered)
			return cmp.Or(s.ctx.Err(), p.failed())
		})
		err = errors.Join(err, s.client.Flush(s.ctx))
	})
	if failed := p.failed(); failed != nil {
		return c.explain(s, failed)
	}
	list := []*written{}
	t := newTable("TOPIC", "PARTITION", "FIRST", "LAST", "RECORDS")
	for _, part := range p.parts {
		list = append(list, part)
	}
	slices.SortFunc(list, func(a, b *written) int { return cmp.Compare(a.Partition, b.Partition) })
	for _, part := range list {
		t.add(part.Topic, number(&part.Partition), number(&part.First), number(&part.Last), fmt.Sprint(part.Records))
	}
	switch {
	case err != nil && len(list) == 0:
		return err
	case len(list) == 0 && !s.json:
		fmt.Fprintln(w.stderr, "kohort: there was nothing to write: standard input has no line")
		return nil
	}
	return errors.Join(s.show(list, t), err)
}

// explain says why a record was not written.
func (c *produceCommand) explain(s *session, err error) error {
	switch {
	case unknownTopic(err):
		return s.noTopic(c.Topic)
	case c.Partition >= 0 && errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("topic %q has no partition %d", c.Topic, c.Partition)
	}
	if c.Partition >= 0 {
		if _, expandErr := s.expand([]selection{{c.Topic, []int32{c.Partition}}}); expandErr != nil {
			return expandErr
		}
	}
	return s.asked(fmt.Sprintf("write to topic %q", c.Topic), kmsg.Produce, err)
}

// each calls fn with every record that the command line or standard input holds.
func (c *produceCommand) each(w *world, fn func(*kgo.Record) error) error {
	if _, err := properties(c.Header); err != nil {
		return fmt.Errorf("--header: %w", err)
	}
	one := func(line string) error {
		r, err := c.record(line)
		if err != nil {
			return err
		}
		r.Topic, r.Partition = c.Topic, max(0, c.Partition)
		if c.Key != nil {
			r.Key = []byte(*c.Key)
		}
		for _, arg := range c.Header {
			name, value, _ := strings.Cut(arg, "=")
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
		}
		return fn(r)
	}
	for _, value := range c.Values {
		if err := one(value); err != nil {
			return err
		}
	}
	if len(c.Values) > 0 || w.stdin == nil {
		return nil
	}
	if onTerminal(w.stdin) {
		w.tell("each line is a record; Ctrl-D ends")
	}
	lines := bufio.NewScanner(w.stdin)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	for n := 1; lines.Scan(); n++ {
		if err := one(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	return nil
}

// record reads one line.
func (c *produceCommand) record(line string) (*kgo.Record, error) {
	if c.Format == "json" {
		return fromJSON(line)
	}
	return fromText(line, c.Format, c.KeySeparator)
}

// answered notes where a record went, or why it did not.
func (p *producing) answered(r *kgo.Record, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.err = cmp.Or(p.err, err)
		return
	}
	part := p.parts[r.Partition]
	if part == nil {
		part = &written{Topic: r.Topic, Partition: r.Partition, First: r.Offset}
		p.parts[r.Partition] = part
	}
	part.First, part.Last, part.Records = min(part.First, r.Offset), max(part.Last, r.Offset), part.Records+1
}

// failed returns why the first record that failed did.
func (p *producing) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
