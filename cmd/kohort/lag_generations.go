package main

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/offsetslog"
)

// generationLimit is how long the offsets topic may be read for one look.
const generationLimit = 5 * time.Second

// groupKey is the kind of key under which Kafka keeps a classic group.
// Source: GroupMetadataKey.json.
const groupKey = 2

// generations reads the generations of classic groups from __consumer_offsets, for no request asks for them. Where the
// topic cannot be read they stay absent.
type generations struct {
	s        *session
	client   *kgo.Client // nil until the first look, and where the topic cannot be read
	broken   bool
	flags    *lagCommand
	count    int32
	reads    map[int32]bool  // partitions that are read
	position map[int32]int64 // next offset of each
	known    map[string]int32
}

// newGenerations returns one that has read nothing yet.
func newGenerations(s *session, flags *lagCommand) *generations {
	return &generations{s: s, flags: flags, reads: map[int32]bool{}, position: map[int32]int64{}, known: map[string]int32{}}
}

// close ends the reading.
func (g *generations) close() {
	if g.client != nil {
		g.client.Close()
	}
}

// fill sets the generations of groups, as far as they can be read in time.
func (g *generations) fill(views []*lagView) {
	if g.broken || len(views) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(g.s.ctx, generationLimit)
	defer cancel()
	if g.client == nil && !g.begin(ctx) {
		g.broken = true
		return
	}
	added := map[int32]kgo.Offset{}
	for _, v := range views {
		partition := offsetslog.PartitionFor(v.Name, g.count)
		if v.Type == "classic" && !g.reads[partition] {
			g.reads[partition] = true
			added[partition] = kgo.NewOffset().AtStart()
		}
	}
	if len(added) > 0 {
		g.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{offsetslog.Topic: added})
	}
	g.catchUp(ctx)
	for _, v := range views {
		if generation, ok := g.known[v.Name]; ok && v.Type == "classic" {
			v.Generation = &generation
		}
	}
}

// begin opens the topic.
func (g *generations) begin(ctx context.Context) bool {
	topics, err := g.s.admin.ListTopicsWithInternal(ctx, offsetslog.Topic)
	if err != nil || topics[offsetslog.Topic].Err != nil || len(topics[offsetslog.Topic].Partitions) == 0 {
		return false
	}
	g.count = int32(len(topics[offsetslog.Topic].Partitions))
	g.client, err = g.flags.client(g.s.w, kgo.KeepControlRecords(), kgo.FetchMaxWait(250*time.Millisecond))
	return err == nil
}

// catchUp reads to where the partitions end now.
func (g *generations) catchUp(ctx context.Context) {
	starts, err := g.s.admin.ListStartOffsets(ctx, offsetslog.Topic)
	if err != nil {
		return
	}
	ends, err := g.s.admin.ListEndOffsets(ctx, offsetslog.Topic)
	if err != nil {
		return
	}
	for ctx.Err() == nil && !g.reached(starts, ends) {
		fetches := g.client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) {
			g.position[r.Partition] = r.Offset + 1
			if !r.Attrs.IsControl() {
				g.apply(r.Key, r.Value)
			}
		})
	}
}

// reached tells whether every partition has been read to its end.
func (g *generations) reached(starts, ends kadm.ListedOffsets) bool {
	for partition := range g.reads {
		end := ends[offsetslog.Topic][partition].Offset
		if g.position[partition] < end && starts[offsetslog.Topic][partition].Offset < end {
			return false
		}
	}
	return true
}

// apply notes the generation that a record of the topic tells, or forgets that of a deleted group.
func (g *generations) apply(key, value []byte) {
	var k kmsg.GroupMetadataKey
	if len(key) < 2 || binary.BigEndian.Uint16(key) != groupKey || k.ReadFrom(key) != nil {
		return
	}
	var v kmsg.GroupMetadataValue
	switch {
	case value == nil:
		delete(g.known, k.Group)
	case v.ReadFrom(value) == nil:
		g.known[k.Group] = v.Generation
	}
}
