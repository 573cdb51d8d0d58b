package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// maxWait is shorter than the default of 10 s: a Reader ends only when its last fetch has been answered, and a rebalance
// waits for that, so with the default a member may lose its place.
const maxWait = 500 * time.Millisecond

// startOffset translates auto.offset.reset.
func startOffset(args lines.Args) int64 {
	switch args["reset"] {
	case "":
		return 0 // the default
	case "earliest":
		return kafka.FirstOffset
	case "latest":
		return kafka.LastOffset
	}
	lines.Fail(fmt.Errorf("kafka-go has no reset %q", args["reset"]))
	return 0
}

// dialer carries the client id, which nothing else does.
func dialer(args lines.Args) *kafka.Dialer {
	if args["client"] == "" {
		return nil
	}
	return &kafka.Dialer{Timeout: 10 * time.Second, DualStack: true, ClientID: args["client"]}
}

// balancers returns the strategies; nil is the default, range and round robin.
func balancers(args lines.Args) []kafka.GroupBalancer {
	switch args["strategy"] {
	case "cooperative":
		lines.Fail(errors.New("kafka-go has no cooperative strategy"))
	case "eager":
		return []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}
	}
	return nil
}

// ownership follows what a Reader owns by its diary, for it has no other way to tell.
type ownership struct {
	mu    sync.Mutex
	owned map[int]bool
	diary kafka.Logger
}

// owns finds the partitions in a subscription.
var owns = regexp.MustCompile(`partition:(\d+)\}`)

// Printf is the Reader's logger.
func (o *ownership) Printf(format string, args ...any) {
	o.diary.Printf(format, args...)
	line := fmt.Sprintf(format, args...)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case strings.HasPrefix(line, "subscribed to topics and partitions"):
		clear(o.owned)
		for _, match := range owns.FindAllStringSubmatch(line, -1) {
			o.owned[int(lines.Number(match[1]))] = true
		}
		tell(o.list())
	case strings.HasPrefix(line, "stopped heartbeat") && len(o.owned) > 0:
		clear(o.owned)
		tell(nil)
	}
}

func (o *ownership) list() []int {
	return slices.Collect(maps.Keys(o.owned))
}

func tell(owned []int) {
	var partitions []int32
	for _, p := range owned {
		partitions = append(partitions, int32(p))
	}
	lines.Assigned(partitions)
}

// consumeReader is a member as the manual's first example: ReadMessage, which commits, or FetchMessage and CommitMessages.
func consumeReader(args lines.Args) {
	own := &ownership{owned: map[int]bool{}, diary: diary()}
	config := kafka.ReaderConfig{
		Brokers: strings.Split(args["bootstrap"], ","), GroupID: args["group"], Topic: args["topic"],
		StartOffset: startOffset(args), Dialer: dialer(args), GroupBalancers: balancers(args), Logger: own,
		MaxWait: maxWait,
	}
	config.SessionTimeout, _ = args.Millis("session_ms")
	config.HeartbeatInterval, _ = args.Millis("heartbeat_ms")
	config.CommitInterval, _ = args.Millis("auto_ms")
	r := kafka.NewReader(config)
	read := r.ReadMessage
	if args["commit"] == "manual" {
		read = r.FetchMessage
	}
	commands, last := lines.Commands(), map[int]kafka.Message{}
	ctx, cancel := context.WithCancel(context.Background())
	messages := readOn(ctx, read)
	for readerCommands(r, client(args), args, own, commands, last) {
		select {
		case m := <-messages:
			m.tell(last)
		case <-time.After(100 * time.Millisecond):
		}
	}
	cancel()
	for m := range messages { // the last one may be committed
		m.tell(last)
	}
	if err := r.Close(); err != nil {
		lines.Error(err)
	}
	lines.Emit("closed", nil)
}

// message is what one call of ReadMessage or FetchMessage gave.
type message struct {
	kafka.Message
	err error
}

func (m message) tell(last map[int]kafka.Message) {
	switch {
	case m.err == nil:
		lines.Record(int32(m.Partition), m.Offset, m.Key, m.Value, m.Time)
		last[m.Partition] = m.Message
	case errors.Is(m.err, io.EOF):
		lines.Fail(m.err)
	case !errors.Is(m.err, context.Canceled):
		lines.Error(m.err)
	}
}

// readOn reads until the context ends, and then closes the channel. A call that is given a time limit instead may lose a
// message: ReadMessage fetches it, and then finds no time left to commit it.
func readOn(ctx context.Context, read func(context.Context) (kafka.Message, error)) <-chan message {
	messages := make(chan message)
	go func() {
		defer close(messages)
		for ctx.Err() == nil {
			m, err := read(ctx)
			messages <- message{m, err}
		}
	}()
	return messages
}

// readerCommands does the commands that have come; it returns false after `close`.
func readerCommands(r *kafka.Reader, c *kafka.Client, args lines.Args, own *ownership, commands <-chan []string, last map[int]kafka.Message) bool {
	for {
		var words []string
		select {
		case words = <-commands:
		default:
			return true
		}
		own.mu.Lock()
		owned := own.list()
		own.mu.Unlock()
		switch words[0] {
		case "close":
			return false
		case "commit":
			var messages []kafka.Message
			next := map[int]int64{}
			for _, p := range owned {
				if m, ok := last[p]; ok {
					messages, next[p] = append(messages, m), m.Offset+1
				}
			}
			if err := r.CommitMessages(context.Background(), messages...); err != nil {
				lines.Emit("commit_failed", lines.Fields{"error": err.Error()})
				continue
			}
			lines.Emit("committed", lines.Fields{"offsets": next})
		case "committed":
			offsets, err := committedOffsets(c, args["group"], args["topic"], owned)
			answer("offsets", offsets, err)
		default:
			lines.Error(fmt.Errorf("a Reader has no %s", words[0]))
		}
	}
}

// answer writes offsets, or what went wrong.
func answer(event string, offsets map[int]int64, err error) {
	if err != nil {
		lines.Error(err)
		return
	}
	lines.Emit(event, lines.Fields{"offsets": offsets})
}
