package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ageLimit is how long a look may wait for the records that it needs.
const ageLimit = 3 * time.Second

// ages knows when the first record was written that a group has not committed: lag in seconds is its age.
type ages struct {
	s     *session
	known map[place]recordTime
}

// recordTime is when the first record at or after an offset was written.
type recordTime struct {
	from int64
	at   time.Time
}

// newAges returns one that knows nothing yet.
func newAges(s *session) *ages { return &ages{s: s, known: map[place]recordTime{}} }

// measure sets the lag in seconds wherever there is a lag. What cannot be read in time stays absent.
func (a *ages) measure(views []*lagView) {
	wanted := map[place]map[int64]bool{}
	for _, v := range views {
		for _, p := range v.Partitions {
			if from, ok := p.next(); ok {
				at := place{p.Topic, p.Partition}
				if wanted[at] == nil {
					wanted[at] = map[int64]bool{}
				}
				wanted[at][from] = true
			}
		}
	}
	times := map[place]map[int64]time.Time{}
	for len(wanted) > 0 { // a round reads one offset of each partition; several groups may want several
		round := map[place]int64{}
		for at, offsets := range wanted {
			for from := range offsets {
				round[at] = from
				delete(offsets, from)
				break
			}
			if len(offsets) == 0 {
				delete(wanted, at)
			}
		}
		for at, found := range a.read(round) {
			if times[at] == nil {
				times[at] = map[int64]time.Time{}
			}
			times[at][found.from] = found.at
		}
	}
	for _, v := range views {
		for _, p := range v.Partitions {
			from, lags := p.next()
			written, found := times[place{p.Topic, p.Partition}][from]
			switch {
			case p.Lag != nil && *p.Lag == 0:
				p.LagSeconds = new(int64)
			case lags && found:
				seconds := max(0, int64(time.Since(written).Seconds()))
				p.LagSeconds = &seconds
			}
			if p.LagSeconds != nil && v.Lag != nil && (v.LagSeconds == nil || *v.LagSeconds < *p.LagSeconds) {
				v.LagSeconds = p.LagSeconds
			}
		}
	}
}

// next returns the offset from which on a group has not committed, if there are records.
func (p *lagPartition) next() (int64, bool) {
	if p.Lag == nil || *p.Lag == 0 || p.Committed == nil {
		return 0, false
	}
	return max(*p.Committed, *p.Start), true
}

// read returns when the first records at or after some offsets were written, as far as they come in time.
func (a *ages) read(round map[place]int64) map[place]recordTime {
	found := map[place]recordTime{}
	offsets := map[string]map[int32]kgo.Offset{}
	partitions := map[string][]int32{}
	for at, from := range round {
		if known, ok := a.known[at]; ok && known.from == from {
			found[at] = known
			continue
		}
		if offsets[at.topic] == nil {
			offsets[at.topic] = map[int32]kgo.Offset{}
		}
		offsets[at.topic][at.partition] = kgo.NewOffset().At(from)
		partitions[at.topic] = append(partitions[at.topic], at.partition)
	}
	if len(offsets) == 0 {
		return found
	}
	a.s.client.AddConsumePartitions(offsets)
	defer a.s.client.RemoveConsumePartitions(partitions)
	ctx, cancel := context.WithTimeout(a.s.ctx, ageLimit)
	defer cancel()
	for len(found) < len(round) && ctx.Err() == nil {
		a.s.client.PollFetches(ctx).EachPartition(func(p kgo.FetchTopicPartition) {
			at := place{p.Topic, p.Partition}
			if _, done := found[at]; done || len(p.Records) == 0 {
				return
			}
			found[at] = recordTime{round[at], p.Records[0].Timestamp}
			a.known[at] = found[at]
		})
	}
	return found
}
