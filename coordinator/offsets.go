package coordinator

import (
	"slices"
	"strings"
)

// topicOffsets are the committed offsets of one group for one topic, ascending by partition.
//
// A sorted slice costs 48 bytes an offset beside the metadata string, is searched without hashing, and is walked in a
// fixed order. Inserting in the middle moves what follows; that happens once per partition of a topic, and partitions are
// thousands at most.
type topicOffsets struct {
	topic      string
	partitions []committed
}

// committed is one committed offset.
//
// Units: timestamps are milliseconds since the epoch; -1 means none.
type committed struct {
	partition       int32
	leaderEpoch     int32
	offset          int64
	commitTimestamp int64
	expireTimestamp int64
	metadata        string
}

// topic returns the group's offsets for a topic, or nil.
func (g *group) topic(name string) *topicOffsets {
	i, ok := g.searchTopic(name)
	if !ok {
		return nil
	}
	return g.offsets[i]
}

// topicFor returns the group's offsets for a topic, adding an empty entry if there is none.
func (g *group) topicFor(c *Core, name string) *topicOffsets {
	i, ok := g.searchTopic(name)
	if !ok {
		g.offsets = slices.Insert(g.offsets, i, &topicOffsets{topic: c.intern(name)})
	}
	return g.offsets[i]
}

// searchTopic returns where a topic is, or would have to be put. The last topic is tried first: it is the only one of
// most groups, and the one that a sorted log asks for.
func (g *group) searchTopic(name string) (int, bool) {
	n := len(g.offsets)
	if n == 0 {
		return 0, false
	}
	if order := strings.Compare(name, g.offsets[n-1].topic); order >= 0 {
		return n - 1 + order, order == 0
	}
	return slices.BinarySearchFunc(g.offsets, name, func(t *topicOffsets, name string) int {
		return strings.Compare(t.topic, name)
	})
}

// deleteOffset forgets an offset, if there is one. A topic without offsets goes too.
func (g *group) deleteOffset(topic string, partition int32) {
	i, ok := g.searchTopic(topic)
	if !ok {
		return
	}
	t := g.offsets[i]
	j, ok := t.search(partition)
	if !ok {
		return
	}
	t.partitions = slices.Delete(t.partitions, j, j+1)
	if len(t.partitions) == 0 {
		g.offsets = slices.Delete(g.offsets, i, i+1)
	}
}

// committed returns an offset of the group, or nil. It is valid until the next record is applied.
func (g *group) committed(topic string, partition int32) *committed {
	t := g.topic(topic)
	if t == nil {
		return nil
	}
	return t.get(partition)
}

func (t *topicOffsets) get(partition int32) *committed {
	if t == nil {
		return nil
	}
	i, ok := t.search(partition)
	if !ok {
		return nil
	}
	return &t.partitions[i]
}

func (t *topicOffsets) put(o committed) {
	i, ok := t.search(o.partition)
	if ok {
		t.partitions[i] = o
		return
	}
	t.partitions = slices.Insert(t.partitions, i, o)
}

// search returns where a partition is, or would have to be put.
func (t *topicOffsets) search(partition int32) (int, bool) {
	low, high := 0, len(t.partitions)
	if high > 0 && partition > t.partitions[high-1].partition {
		return high, false
	}
	for low < high {
		middle := int(uint(low+high) >> 1)
		if t.partitions[middle].partition < partition {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(t.partitions) && t.partitions[low].partition == partition
}
