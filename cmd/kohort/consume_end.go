package main

import (
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// silence is how long nothing may come from a partition whose last records no consumer sees (markers of transactions,
// compacted ones) before its end counts as reached.
const silence = 3 * time.Second

// endWatch knows when everything has been read that was there at the start.
//
// Owner: the client's callbacks and the loop that reads; hence the lock.
type endWatch struct {
	*session
	group string

	mu       sync.Mutex
	ends     map[place]int64
	starts   map[place]int64
	assigned map[place]bool
	position map[place]int64
	heard    time.Time
	joined   bool
}

// note remembers where the logs end now, and where the reading begins: where the group is, or else where --from says.
func (e *endWatch) note(topics []string, from string) error {
	edges, err := e.edges(topics)
	if err != nil {
		return err
	}
	committed := map[place]int64{}
	if e.group != "" {
		if committed, err = e.committed(e.group); err != nil {
			return err
		}
	}
	listed, err := e.timestamped(fromTime(from), topics)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ends, e.starts, e.heard = map[place]int64{}, map[place]int64{}, time.Now()
	for topic, partitions := range edges.ends {
		for partition := range partitions {
			p := place{topic, partition}
			start, end, err := edges.of(p)
			if err != nil {
				return err
			}
			e.ends[p], e.starts[p] = *end, max(*start, fromOffset(from, *end))
			if found, ok := listed.Lookup(topic, partition); ok && found.Err == nil {
				e.starts[p] = max(*start, found.Offset)
			}
			if offset, ok := committed[p]; ok {
				e.starts[p] = max(offset, *start)
			}
		}
	}
	return nil
}

// fromTime returns the time that --from names, if it names one.
func fromTime(from string) *target {
	t := &target{}
	if _, err := strconv.ParseInt(from, 10, 64); err != nil && from != "earliest" && from != "latest" {
		t.time, _ = parseTime("--from", from) // it was understood before
	}
	return t
}

// fromOffset returns the offset that --from names in a log with an end; 0 if it does not name one.
func fromOffset(from string, end int64) int64 {
	if from == "latest" {
		return end
	}
	n, err := strconv.ParseInt(from, 10, 64)
	switch {
	case err != nil:
		return 0
	case n < 0:
		return end + n
	}
	return n
}

// assign adds partitions that are read.
func (e *endWatch) assign(places []place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.assigned == nil {
		e.assigned = map[place]bool{}
	}
	for _, p := range places {
		e.assigned[p] = true
	}
	e.joined, e.heard = true, time.Now()
}

// revoke takes partitions away.
func (e *endWatch) revoke(places []place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range places {
		delete(e.assigned, p)
	}
}

// passed notes that a record was printed.
func (e *endWatch) passed(r *kgo.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.position == nil {
		e.position = map[place]int64{}
	}
	e.position[place{r.Topic, r.Partition}] = r.Offset + 1
	e.heard = time.Now()
}

// beyond tells whether a record came after the end was noted.
func (e *endWatch) beyond(r *kgo.Record) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	end, ok := e.ends[place{r.Topic, r.Partition}]
	if ok && r.Offset >= end {
		e.raise(place{r.Topic, r.Partition}, end)
	}
	return ok && r.Offset >= end
}

// raise notes that a partition's end was seen.
func (e *endWatch) raise(p place, end int64) {
	if e.position == nil {
		e.position = map[place]int64{}
	}
	e.position[p] = max(e.position[p], end)
}

// reached tells whether all partitions that are read have been read to the noted end, or nothing has come for long.
func (e *endWatch) reached() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.joined {
		return false
	}
	for p := range e.assigned {
		if max(e.position[p], e.starts[p]) < e.ends[p] {
			return time.Since(e.heard) > silence
		}
	}
	return true
}

// placesOf returns the partitions of a map, as the client has it.
func placesOf(partitions map[string][]int32) []place {
	var places []place
	for topic, numbers := range partitions {
		for _, n := range numbers {
			places = append(places, place{topic, n})
		}
	}
	return places
}

// topicNames returns the topics of selections.
func topicNames(selections []selection) []string {
	names := make([]string, len(selections))
	for i, sel := range selections {
		names[i] = sel.topic
	}
	return names
}
