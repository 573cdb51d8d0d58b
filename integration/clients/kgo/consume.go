package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// member is a member of a group, between two polls.
type member struct {
	cl    *kgo.Client
	topic string
	group string

	// gate is held by whoever may not be interrupted by a rebalance: the loop outside of its poll, also while it holds.
	// A careful user does so; BlockRebalanceOnPoll alone covers only polls that returned something.
	gate  sync.Mutex
	owned map[int32]bool
	next  map[int32]int64 // after the last record printed, of the partitions owned
}

// options returns what the arguments ask for; everything else keeps kgo's defaults.
func (m *member) options(args lines.Args) []kgo.Opt {
	auto := args["commit"] != "manual"
	options := []kgo.Opt{
		kgo.ConsumerGroup(m.group), kgo.ConsumeTopics(m.topic), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) { m.assigned(added[m.topic]) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, cl *kgo.Client, lost map[string][]int32) {
			if auto { // as the manual says: whoever brings a callback commits in it
				if err := cl.CommitUncommittedOffsets(ctx); err != nil {
					lines.Error(err)
				}
			}
			m.lost(lost[m.topic])
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { m.lost(lost[m.topic]) }),
	}
	if !auto {
		options = append(options, kgo.DisableAutoCommit())
	}
	if d, ok := args.Millis("auto_ms"); ok {
		options = append(options, kgo.AutoCommitInterval(d))
	}
	if d, ok := args.Millis("session_ms"); ok {
		options = append(options, kgo.SessionTimeout(d))
	}
	if d, ok := args.Millis("heartbeat_ms"); ok {
		options = append(options, kgo.HeartbeatInterval(d))
	}
	if instance := args["instance"]; instance != "" {
		options = append(options, kgo.InstanceID(instance))
	}
	if client := args["client"]; client != "" {
		options = append(options, kgo.ClientID(client))
	}
	if args["group_protocol"] == "consumer" {
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	return append(append(options, strategy(args)...), reset(args)...)
}

func strategy(args lines.Args) []kgo.Opt {
	switch args["strategy"] {
	case "eager":
		return []kgo.Opt{kgo.Balancers(kgo.RangeBalancer())}
	case "cooperative":
		return []kgo.Opt{kgo.Balancers(kgo.CooperativeStickyBalancer())}
	}
	return nil
}

// reset translates auto.offset.reset as kgo's manual does.
func reset(args lines.Args) []kgo.Opt {
	both := func(o kgo.Offset) []kgo.Opt { return []kgo.Opt{kgo.ConsumeStartOffset(o), kgo.ConsumeResetOffset(o)} }
	if d, ok := args.Lookback(); ok {
		return both(kgo.NewOffset().AfterMilli(time.Now().Add(-d).UnixMilli()))
	}
	switch args["reset"] {
	case "earliest":
		return both(kgo.NewOffset().AtStart())
	case "latest":
		return both(kgo.NewOffset().AtEnd())
	case "none":
		return []kgo.Opt{kgo.ConsumeStartOffset(kgo.NewOffset().AtCommitted()), kgo.ConsumeResetOffset(kgo.NoResetOffset())}
	}
	return nil
}

func (m *member) assigned(added []int32) {
	m.gate.Lock()
	defer m.gate.Unlock()
	for _, p := range added {
		m.owned[p] = true
	}
	m.tell()
}

func (m *member) lost(lost []int32) {
	m.gate.Lock()
	defer m.gate.Unlock()
	if len(lost) == 0 {
		return
	}
	for _, p := range lost {
		delete(m.owned, p)
		delete(m.next, p)
	}
	m.tell()
}

func (m *member) tell() {
	lines.Assigned(slices.Collect(maps.Keys(m.owned)))
}

func consume(args lines.Args) {
	m := &member{topic: args["topic"], group: args["group"], owned: map[int32]bool{}, next: map[int32]int64{}}
	m.gate.Lock()
	m.cl = connect(args, m.options(args)...)
	commands := lines.Commands()
	for {
		m.gate.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), pollTime)
		fetches := m.cl.PollRecords(ctx, 500)
		cancel()
		m.gate.Lock()
		m.print(fetches)
		more := m.between(commands)
		m.cl.AllowRebalance()
		if !more {
			break
		}
	}
	m.gate.Unlock()
	m.cl.CloseAllowingRebalance()
	lines.Emit("closed", nil)
}

// print writes what a poll returned.
func (m *member) print(fetches kgo.Fetches) {
	for _, e := range fetches.Errors() {
		if !quiet(e.Err) {
			lines.Error(fmt.Errorf("%w (partition %d)", e.Err, e.Partition))
		}
	}
	fetches.EachRecord(func(r *kgo.Record) {
		lines.Record(r.Partition, r.Offset, r.Key, r.Value, r.Timestamp)
		m.next[r.Partition] = r.Offset + 1
	})
}

// between does the commands that have come, and waits for more while it holds; it returns false after `close`.
func (m *member) between(commands <-chan []string) bool {
	holding := false
	for {
		var words []string
		if holding {
			words = <-commands
		} else {
			select {
			case words = <-commands:
			default:
				return true
			}
		}
		switch words[0] {
		case "close":
			return false
		case "hold":
			holding = true
			lines.Emit("holding", nil)
		case "go":
			holding = false
			lines.Emit("going", nil)
		default:
			m.command(words)
		}
	}
}

func (m *member) command(words []string) {
	ctx := context.Background()
	switch words[0] {
	case "commit":
		if err := m.commit(ctx); err != nil {
			lines.Emit("commit_failed", lines.Fields{"error": err.Error()})
			return
		}
		lines.Emit("committed", lines.Fields{"offsets": m.next})
	case "committed":
		offsets, err := kadm.NewClient(m.cl).FetchOffsets(ctx, m.group)
		if err == nil {
			err = offsets.Error()
		}
		result := map[int32]int64{}
		for p := range m.owned {
			result[p] = -1
			if o, ok := offsets.Lookup(m.topic, p); ok {
				result[p] = o.At
			}
		}
		answer("offsets", result, err)
	case "seek":
		p, offset := int32(lines.Number(words[1])), lines.Number(words[2])
		m.seek(map[int32]int64{p: offset})
		answer("sought", map[int32]int64{p: offset}, nil)
	case "seek_time":
		listed, err := kadm.NewClient(m.cl).ListOffsetsAfterMilli(ctx, lines.Number(words[1]), m.topic)
		if err == nil {
			err = listed.Error()
		}
		to := map[int32]int64{}
		for p := range m.owned {
			if o, ok := listed.Lookup(m.topic, p); ok && err == nil {
				to[p] = o.Offset
			}
		}
		m.seek(to)
		answer("sought", to, err)
	default:
		lines.Error(fmt.Errorf("unknown command %s", words[0]))
	}
}

// answer writes offsets, or what went wrong.
func answer(event string, offsets map[int32]int64, err error) {
	if err != nil {
		lines.Error(err)
		return
	}
	lines.Emit(event, lines.Fields{"offsets": offsets})
}

// commit commits what was read, in the generation that the client believes to be in.
func (m *member) commit(ctx context.Context) error {
	return commitOffsets(ctx, m.cl, m.topic, m.next)
}

// seek moves the next fetch.
func (m *member) seek(to map[int32]int64) {
	set := map[int32]kgo.EpochOffset{}
	for p, offset := range to {
		set[p] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	m.cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{m.topic: set})
}
