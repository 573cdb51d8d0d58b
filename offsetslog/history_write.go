package offsetslog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// historyBatch is the size at which a batch of a history is closed; much below what a journal's frame holds.
//
// Units: bytes before compression.
const historyBatch = 256 << 10

// Write appends the facts of a history to an offsets topic, each to the partition that this topic's number of
// partitions gives its group.
//
// Deviation: the leader epochs of committed offsets are not kept. They name epochs of the other broker's partitions;
// a client that compares them with this broker's lower ones would take all it says for stale, and wait forever.
//
// Units: nowMs is the time of the records, in milliseconds since the epoch.
// Errors: what the store says; what was appended before stays.
func (h *History) Write(store *partitionlog.Store, topic *partitionlog.Topic, nowMs int64) error {
	n := int32(len(topic.Partitions))
	records := make([][]coordinator.Record, n)
	for _, name := range slices.Sorted(maps.Keys(h.groups)) {
		p := PartitionFor(name, n)
		records[p] = append(records[p], h.groups[name])
	}
	keys := slices.SortedFunc(maps.Keys(h.offsets), func(a, b offsetKey) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	for _, key := range keys {
		r := *h.offsets[key].record
		r.LeaderEpoch = -1
		p := PartitionFor(key.group, n)
		records[p] = append(records[p], &r)
	}
	encoder := NewEncoder(partitionlog.None)
	for i, p := range topic.Partitions {
		for j, r := range records[i] {
			encoder.Add(r, nowMs)
			if encoder.Size() < historyBatch && j < len(records[i])-1 {
				continue
			}
			a := &partitionlog.Append{Partition: p, Records: encoder.Take(), Origin: partitionlog.OriginCoordinator}
			if store.Append(a); a.Err != nil {
				return a.Err
			}
		}
	}
	return nil
}
