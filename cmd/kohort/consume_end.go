package main

import (
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

// note remembers where the logs begin and end now, and where the group is.
func (e *endWatch) note(topics []string) error {
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
			e.ends[p], e.starts[p] = *end, *start
			if offset, ok := committed[p]; ok {
				e.starts[p] = max(offset, *start)
			}
		}
	}
	return nil
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
