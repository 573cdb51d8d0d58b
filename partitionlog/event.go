package partitionlog

import (
	"fmt"
	"time"
)

// EventKind says what an Event reports.
type EventKind int8

// Kinds of events.
const (
	EventRecovered        EventKind = iota // start-up is finished: Count entries replayed in Took
	EventTornTail                          // Bytes of an unfinished frame were cut off the journal
	EventSlowSync                          // a journal write took more than 100 ms
	EventSlowCheckpoint                    // a checkpoint took more than 100 ms
	EventCheckpointFailed                  // the table could not be written; the old one stays valid, the journal grows
	EventReload                            // a journal write went wrong and a new incarnation has begun
	EventOffline                           // a segment write went wrong: the partition is offline until restart
	EventDiskFull                          // free space fell below the floor; appends are refused
	EventDiskHealed                        // free space is back
	EventCompacted                         // a partition was compacted: Count records dropped, Bytes reclaimed
	EventFailed                            // the store gives up
)

// Event is something that an operator may want to read.
type Event struct {
	Kind      EventKind
	Topic     string
	Partition int32
	Took      time.Duration
	Bytes     int64
	Count     int64
	Err       error
}

// slow is the bound above which a sync or a checkpoint is worth an event.
const slow = 100 * time.Millisecond

// String is the one text form of an event.
func (e Event) String() string {
	where := fmt.Sprintf("%s-%d", e.Topic, e.Partition)
	switch e.Kind {
	case EventRecovered:
		return fmt.Sprintf("recovered: %d entries replayed in %v", e.Count, e.Took)
	case EventTornTail:
		return fmt.Sprintf("journal: cut %d bytes of an unfinished frame", e.Bytes)
	case EventSlowSync:
		return fmt.Sprintf("journal: a write of %d bytes took %v", e.Bytes, e.Took)
	case EventSlowCheckpoint:
		return fmt.Sprintf("checkpoint took %v", e.Took)
	case EventCheckpointFailed:
		return fmt.Sprintf("checkpoint went wrong: %v", e.Err)
	case EventReload:
		return fmt.Sprintf("journal write went wrong, began incarnation %d: %v", e.Count, e.Err)
	case EventOffline:
		return fmt.Sprintf("%s is offline until restart: %v", where, e.Err)
	case EventDiskFull:
		return fmt.Sprintf("disk nearly full: %d bytes free, appends are refused", e.Bytes)
	case EventDiskHealed:
		return fmt.Sprintf("disk has space again: %d bytes free", e.Bytes)
	case EventCompacted:
		return fmt.Sprintf("%s compacted: %d records and %d bytes dropped in %v", where, e.Count, e.Bytes, e.Took)
	case EventFailed:
		return fmt.Sprintf("store gives up: %v", e.Err)
	}
	return fmt.Sprintf("event %d", e.Kind)
}
