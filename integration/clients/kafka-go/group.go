package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// member is a member by ConsumerGroup: a goroutine and a Reader for each partition, in each generation.
type member struct {
	args  lines.Args
	topic string

	gate    sync.Mutex // held between two records: while a command is done, and while it holds
	gen     *kafka.Generation
	readers map[int]*kafka.Reader
	next    map[int]int64 // after the last record printed, of the partitions owned
}

func consumeGroup(args lines.Args) {
	if args["commit"] != "manual" {
		lines.Fail(errors.New("a ConsumerGroup commits nothing by itself"))
	}
	config := kafka.ConsumerGroupConfig{
		ID: args["group"], Brokers: strings.Split(args["bootstrap"], ","), Topics: []string{args["topic"]},
		StartOffset: startOffset(args), Dialer: dialer(args), GroupBalancers: balancers(args), Logger: diary(),
	}
	config.SessionTimeout, _ = args.Millis("session_ms")
	config.HeartbeatInterval, _ = args.Millis("heartbeat_ms")
	group, err := kafka.NewConsumerGroup(config)
	if err != nil {
		lines.Fail(err)
	}
	m := &member{args: args, topic: args["topic"], readers: map[int]*kafka.Reader{}, next: map[int]int64{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			gen, err := group.Next(ctx)
			switch {
			case ctx.Err() != nil || errors.Is(err, kafka.ErrGroupClosed):
				return
			case err != nil:
				lines.Error(err)
			default:
				m.begin(gen)
			}
		}
	}()
	m.obey(lines.Commands())
	cancel()
	<-done
	if err := group.Close(); err != nil {
		lines.Error(err)
	}
	lines.Emit("closed", nil)
}

// begin starts a generation.
func (m *member) begin(gen *kafka.Generation) {
	m.gate.Lock()
	defer m.gate.Unlock()
	m.gen = gen
	for _, assigned := range gen.Assignments[m.topic] {
		r := kafka.NewReader(kafka.ReaderConfig{
			Brokers: strings.Split(m.args["bootstrap"], ","), Topic: m.topic, Partition: assigned.ID, Dialer: dialer(m.args), ErrorLogger: diary(),
			MaxWait: maxWait,
		})
		if err := r.SetOffset(assigned.Offset); err != nil {
			lines.Error(err)
		}
		m.readers[assigned.ID] = r
		gen.Start(func(ctx context.Context) { m.read(ctx, r) })
	}
	tell(m.owned())
	gen.Start(func(ctx context.Context) {
		<-ctx.Done()
		m.end(gen)
	})
}

// read reads a partition until its generation ends.
func (m *member) read(ctx context.Context, r *kafka.Reader) {
	defer r.Close()
	for {
		msg, err := r.FetchMessage(ctx)
		m.gate.Lock()
		switch {
		case ctx.Err() != nil || errors.Is(err, kafka.ErrGenerationEnded):
			m.gate.Unlock()
			return
		case err != nil:
			lines.Error(err)
		default:
			lines.Record(int32(msg.Partition), msg.Offset, msg.Key, msg.Value, msg.Time)
			m.next[msg.Partition] = msg.Offset + 1
		}
		m.gate.Unlock()
	}
}

// end forgets a generation; while it waits for the gate, the next one does not begin.
func (m *member) end(gen *kafka.Generation) {
	m.gate.Lock()
	defer m.gate.Unlock()
	if m.gen == gen {
		m.gen = nil
		clear(m.readers)
		clear(m.next)
		tell(nil)
	}
}

func (m *member) owned() []int {
	return slices.Collect(maps.Keys(m.readers))
}

// obey does the commands until `close`, each between two records.
func (m *member) obey(commands <-chan []string) {
	holding := false
	for words := range commands {
		if !holding {
			m.gate.Lock()
		}
		switch words[0] {
		case "close":
			m.gate.Unlock()
			return
		case "hold":
			holding = true
			lines.Emit("holding", nil)
		case "go":
			holding = false
			lines.Emit("going", nil)
		default:
			m.command(words)
		}
		if !holding {
			m.gate.Unlock()
		}
	}
}

func (m *member) command(words []string) {
	switch words[0] {
	case "commit":
		if err := m.commit(); err != nil {
			lines.Emit("commit_failed", lines.Fields{"error": err.Error()})
			return
		}
		lines.Emit("committed", lines.Fields{"offsets": m.next})
	case "committed":
		offsets, err := committedOffsets(client(m.args), m.args["group"], m.topic, m.owned())
		answer("offsets", offsets, err)
	case "seek":
		to := map[int]int64{int(lines.Number(words[1])): lines.Number(words[2])}
		answer("sought", to, m.seek(to))
	case "seek_time":
		to, err := listOffsets(client(m.args), m.topic, m.owned(), byTime(lines.Number(words[1])))
		ends, err2 := listOffsets(client(m.args), m.topic, m.owned(), kafka.LastOffsetOf)
		for p, offset := range to {
			if offset < 0 {
				to[p] = ends[p]
			}
		}
		answer("sought", to, errors.Join(err, err2, m.seek(to)))
	default:
		lines.Error(fmt.Errorf("unknown command %s", words[0]))
	}
}

// commit commits in the generation that the records were read in.
func (m *member) commit() error {
	if m.gen == nil {
		return kafka.ErrGenerationEnded
	}
	if len(m.next) == 0 {
		return nil
	}
	return m.gen.CommitOffsets(map[string]map[int]int64{m.topic: m.next})
}

func (m *member) seek(to map[int]int64) error {
	for p, offset := range to {
		r, ok := m.readers[p]
		if !ok {
			return fmt.Errorf("partition %d is not owned", p)
		}
		if err := r.SetOffset(offset); err != nil {
			return err
		}
	}
	return nil
}
