package lagreader

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// topic is what the reader follows.
const topic = "__consumer_offsets"

// place is a partition of a group's.
type place struct {
	topic     string
	partition int32
}

// Reader follows the topic until its context ends or it is closed.
type Reader struct {
	ctx    context.Context
	cancel context.CancelFunc
	cl     *kgo.Client
	adm    *kadm.Client
	done   chan struct{}

	mu      sync.Mutex
	offsets map[string]map[place]int64 // by group
	groups  map[string]Group
	next    map[int32]int64 // what comes next, by partition of the topic
	moved   chan struct{}   // closed when next has changed
	errs    []error
}

// Follow reads the topic from its start, and goes on with what comes. The topic has to be there, as an internal one.
func Follow(ctx context.Context, addr string) (*Reader, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.KeepControlRecords(), kgo.ClientID("lagreader"))
	if err != nil {
		return nil, err
	}
	r := &Reader{
		cl: cl, adm: kadm.NewClient(cl), done: make(chan struct{}), moved: make(chan struct{}),
		offsets: map[string]map[place]int64{}, groups: map[string]Group{}, next: map[int32]int64{},
	}
	if err := r.begin(ctx); err != nil {
		cl.Close()
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	go r.run()
	return r, nil
}

// begin finds the partitions and their first offsets.
func (r *Reader) begin(ctx context.Context) error {
	topics, err := r.adm.ListTopicsWithInternal(ctx)
	if err != nil {
		return err
	}
	if !topics[topic].IsInternal {
		return fmt.Errorf("no internal topic %s among %v", topic, topics.Names())
	}
	starts, err := r.adm.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return err
	}
	from := map[int32]kgo.Offset{}
	for partition, start := range starts[topic] {
		r.next[partition] = start.Offset
		from[partition] = kgo.NewOffset().At(start.Offset)
	}
	r.cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	return nil
}

func (r *Reader) run() {
	defer close(r.done)
	for r.ctx.Err() == nil {
		fetches := r.cl.PollFetches(r.ctx)
		r.mu.Lock()
		for _, e := range fetches.Errors() {
			if r.ctx.Err() == nil {
				r.errs = append(r.errs, e.Err)
			}
		}
		fetches.EachRecord(r.take)
		close(r.moved)
		r.moved = make(chan struct{})
		r.mu.Unlock()
	}
}

// take takes in a record.
func (r *Reader) take(record *kgo.Record) {
	r.next[record.Partition] = record.Offset + 1
	if record.Attrs.IsControl() {
		return
	}
	entry, err := Decode(record.Key, record.Value)
	switch {
	case err != nil:
		r.errs = append(r.errs, fmt.Errorf("%s-%d offset %d: %w", topic, record.Partition, record.Offset, err))
	case entry.Offset != nil:
		o := entry.Offset
		if r.offsets[o.Group] == nil {
			r.offsets[o.Group] = map[place]int64{}
		}
		r.offsets[o.Group][place{o.Topic, o.Partition}] = o.At
	case entry.Group != nil:
		r.groups[entry.Group.Name] = *entry.Group
	}
}

// CatchUp waits until everything has been read that the topic has now.
func (r *Reader) CatchUp(ctx context.Context) error {
	ends, err := r.adm.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	for {
		r.mu.Lock()
		behind := ""
		for partition, end := range ends[topic] {
			if r.next[partition] < end.Offset {
				behind = fmt.Sprintf("%s-%d: has read to %d of %d", topic, partition, r.next[partition], end.Offset)
			}
		}
		moved := r.moved
		r.mu.Unlock()
		if behind == "" {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), errors.New(behind))
		case <-r.done:
			return errors.Join(errors.New("the reader has ended"), r.Err())
		}
	}
}

// Lag returns, for each partition of which the group has committed an offset, how far the end is from it. A topic that
// has gone is left out; when the ends cannot be asked for, the result is nil and Err tells why.
func (r *Reader) Lag(group string) map[string]map[int32]int64 {
	r.mu.Lock()
	committed := map[place]int64{}
	set := kadm.TopicsSet{}
	for at, offset := range r.offsets[group] {
		committed[at] = offset
		set.Add(at.topic, at.partition)
	}
	r.mu.Unlock()
	lag := map[string]map[int32]int64{}
	if len(committed) == 0 {
		return lag
	}
	ends, err := r.adm.ListEndOffsets(r.ctx, set.Topics()...)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs = append(r.errs, err)
		return nil
	}
	for at, offset := range committed {
		end, ok := ends.Lookup(at.topic, at.partition)
		if !ok || end.Err != nil {
			continue
		}
		if lag[at.topic] == nil {
			lag[at.topic] = map[int32]int64{}
		}
		lag[at.topic][at.partition] = end.Offset - offset
	}
	return lag
}

// Group returns what the topic says last of a group.
func (r *Reader) Group(name string) (Group, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok := r.groups[name]
	return g, ok
}

// Err returns what went wrong so far: fetches that failed, and records that could not be decoded.
func (r *Reader) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}

// Close ends the reader.
func (r *Reader) Close() {
	r.cancel()
	<-r.done
	r.cl.Close()
}
