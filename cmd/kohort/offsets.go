package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// edges are the first and the next offsets of partitions.
type edges struct{ starts, ends kadm.ListedOffsets }

// edges asks where the logs of topics begin and end.
func (s *session) edges(topics []string) (*edges, error) {
	e := &edges{}
	if len(topics) == 0 {
		return e, nil
	}
	ctx, cancel := s.request()
	defer cancel()
	var err error
	if e.starts, err = s.admin.ListStartOffsets(ctx, topics...); err != nil {
		return nil, s.asked("list offsets", kmsg.ListOffsets, err)
	}
	if e.ends, err = s.admin.ListEndOffsets(ctx, topics...); err != nil {
		return nil, s.asked("list offsets", kmsg.ListOffsets, err)
	}
	return e, nil
}

// of returns a partition's edges.
func (e *edges) of(p place) (start, end *int64, err error) {
	first, found := e.starts.Lookup(p.topic, p.partition)
	last, foundEnd := e.ends.Lookup(p.topic, p.partition)
	switch {
	case !found || !foundEnd:
		return nil, nil, kerr.UnknownTopicOrPartition
	case first.Err != nil || last.Err != nil:
		return nil, nil, errors.Join(first.Err, last.Err)
	}
	return &first.Offset, &last.Offset, nil
}

// lagView is a group with where it is in each partition.
type lagView struct {
	group
	Lag        *int64          `json:"lag"`
	LagSeconds *int64          `json:"lagSeconds,omitempty"`
	Partitions []*lagPartition `json:"partitions"`
}

// lagPartition is where a group is in one partition. Lag is nil where nothing is committed.
type lagPartition struct {
	Topic      string `json:"topic"`
	Partition  int32  `json:"partition"`
	Committed  *int64 `json:"committed"`
	Start      *int64 `json:"start"`
	End        *int64 `json:"end"`
	Lag        *int64 `json:"lag"`
	LagSeconds *int64 `json:"lagSeconds,omitempty"`
	MemberID   string `json:"memberId,omitempty"`
	ClientID   string `json:"clientId,omitempty"`
	Host       string `json:"host,omitempty"`
	Error      string `json:"error,omitempty"`
}

// committed returns what a group has committed.
func (s *session) committed(name string) (map[place]int64, error) {
	ctx, cancel := s.request()
	defer cancel()
	what := fmt.Sprintf("fetch the offsets of group %q", name)
	responses, err := s.admin.FetchOffsets(ctx, name)
	if err != nil {
		return nil, s.asked(what, kmsg.OffsetFetch, err)
	}
	offsets := map[place]int64{}
	for _, r := range responses.Sorted() {
		if r.Err != nil {
			return nil, s.asked(fmt.Sprintf("%s for %s", what, place{r.Topic, r.Partition}), kmsg.OffsetFetch, r.Err)
		}
		if r.At >= 0 {
			offsets[place{r.Topic, r.Partition}] = r.At
		}
	}
	return offsets, nil
}

// lagOf asks what a group has committed, and where the logs of those partitions and of its assignments end.
func (s *session) lagOf(g *group) (*lagView, error) {
	offsets, err := s.committed(g.Name)
	if err != nil {
		return nil, err
	}
	owners := map[place]*member{}
	var places []place
	for i := range g.Members {
		for _, a := range g.Members[i].Assigned {
			for _, partition := range a.Partitions {
				owners[place{a.Topic, partition}] = &g.Members[i]
				places = append(places, place{a.Topic, partition})
			}
		}
	}
	for p := range offsets {
		places = append(places, p)
	}
	places = sortPlaces(places)
	e, err := s.edges(topicsOf(places))
	if err != nil {
		return nil, err
	}
	v := &lagView{group: *g, Partitions: []*lagPartition{}}
	for _, p := range places {
		row := &lagPartition{Topic: p.topic, Partition: p.partition}
		if owner := owners[p]; owner != nil {
			row.MemberID, row.ClientID, row.Host = owner.ID, owner.ClientID, owner.Host
		}
		if row.Start, row.End, err = e.of(p); err != nil {
			row.Error = err.Error()
		}
		if offset, ok := offsets[p]; ok {
			row.Committed = &offset
		}
		row.measure()
		v.Partitions = append(v.Partitions, row)
	}
	v.Lag = v.total()
	return v, nil
}

// measure computes the lag. A member that has committed nothing lags behind an empty log by nothing, and else by a
// number that only its own configuration knows.
func (p *lagPartition) measure() {
	switch {
	case p.End == nil:
	case p.Committed != nil:
		lag := max(0, *p.End-max(*p.Committed, *p.Start))
		p.Lag = &lag
	case *p.End == *p.Start:
		p.Lag = new(int64)
	}
}

// topicsOf returns the topics of sorted partitions.
func topicsOf(places []place) []string {
	var topics []string
	for _, p := range places {
		topics = append(topics, p.topic)
	}
	return slices.Compact(topics)
}

// total returns the lag over all partitions whose topic exists, or nil if that of one is not known.
func (v *lagView) total() *int64 {
	for _, p := range v.Partitions {
		if p.Lag == nil && p.Error == "" {
			return nil
		}
	}
	return sum(v.Partitions, func(p *lagPartition) *int64 { return p.Lag })
}

// sum adds up what there is, and returns nil where there is nothing.
func sum(partitions []*lagPartition, of func(*lagPartition) *int64) *int64 {
	var total *int64
	for _, p := range partitions {
		if n := of(p); n != nil {
			if total == nil {
				total = new(int64)
			}
			*total += *n
		}
	}
	return total
}

// table returns the partitions as a table, with the lag in seconds if it was measured.
func (v *lagView) table(seconds bool) *table {
	head := []string{"TOPIC", "PARTITION", "COMMITTED", "END", "LAG"}
	if seconds {
		head = append(head, "SECONDS")
	}
	t := newTable(append(head, "CLIENT", "HOST", "MEMBER")...)
	for _, p := range v.Partitions {
		row := []string{p.Topic, number(&p.Partition), number(p.Committed), number(p.End), number(p.Lag)}
		if seconds {
			row = append(row, number(p.LagSeconds))
		}
		client := or(p.ClientID)
		if p.Error != "" {
			client = p.Error
		}
		t.add(append(row, client, or(p.Host), or(p.MemberID))...)
	}
	return t
}
