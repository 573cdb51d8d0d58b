package offsetslog

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// History is what the offsets topic of another broker comes to: the newest fact for each key, with transactions
// resolved. Kohort's own coordinator writes no transactions, so Load does without.
//
// Owner: one goroutine.
// Source: OffsetMetadataManager.java, replay and replayEndTransactionMarker.
type History struct {
	groups  map[string]*coordinator.GroupRecord
	offsets map[offsetKey]committed
	// pending are offsets of transactions that have not ended, by producer id.
	pending map[int64]map[offsetKey]committed
	others  map[string]*Other
	records int
	aborted int
}

type offsetKey struct {
	group, topic string
	partition    int32
}

// committed is an offset, and where its record lies. A group has all of its records in one partition.
type committed struct {
	record *coordinator.OffsetRecord
	at     int64
}

// Other is a family of records that a history counts and does not keep.
type Other struct {
	Family  string
	Records int
	Groups  map[string]bool // names of those that have a record which is no tombstone
}

// Group is one group of a history.
type Group struct {
	Name         string
	ProtocolType string // "" for a group that only has offsets
	Generation   int32
	Members      int
	Offsets      int
}

// NewHistory returns a history without facts.
func NewHistory() *History {
	return &History{
		groups: map[string]*coordinator.GroupRecord{}, offsets: map[offsetKey]committed{},
		pending: map[int64]map[offsetKey]committed{}, others: map[string]*Other{},
	}
}

// Replay adds a batch. Those of a partition come in the order of their offsets, one partition after the other. bad is
// told of each record that cannot be read; it is left out.
//
// Errors: of a batch whose records cannot be had at all.
func (h *History) Replay(b partitionlog.Batch, bad func(offset int64, err error)) error {
	return b.Records(func(r partitionlog.Record) error {
		h.records++
		at := b.BaseOffset() + int64(r.OffsetDelta)
		if b.IsControl() {
			if commit, known := Marker(r.Key); known {
				h.end(b.ProducerID(), commit)
			}
			return nil
		}
		record, err := Decode(r.Key, r.Value)
		switch record := record.(type) {
		case *coordinator.GroupRecord:
			h.group(record)
		case *coordinator.OffsetRecord:
			h.offset(record, at, b)
		default:
			if err == nil {
				h.other(r.Key, r.Value)
			}
		}
		if err != nil {
			bad(at, err)
		}
		return nil
	})
}

// Marker reads the key of a control record: whether it ends a transaction, and how.
//
// Source: ControlRecordType.java.
func Marker(key []byte) (commit, known bool) {
	if len(key) < 4 {
		return false, false
	}
	kind := binary.BigEndian.Uint16(key[2:])
	return kind == 1, kind <= 1
}

func (h *History) group(r *coordinator.GroupRecord) {
	if r.Tombstone {
		delete(h.groups, r.Group)
		return
	}
	h.groups[r.Group] = r
}

// offset takes an offset in, at once or when its transaction is committed. A tombstone also ends what is pending.
func (h *History) offset(r *coordinator.OffsetRecord, at int64, b partitionlog.Batch) {
	key := offsetKey{r.Group, r.Topic, r.Partition}
	switch id := b.ProducerID(); {
	case r.Tombstone:
		delete(h.offsets, key)
		for _, pending := range h.pending {
			delete(pending, key)
		}
	case b.IsTransactional():
		if h.pending[id] == nil {
			h.pending[id] = map[offsetKey]committed{}
		}
		h.pending[id][key] = committed{r, at}
	default:
		h.offsets[key] = committed{r, at}
	}
}

// end ends a transaction. Of a pending offset and one that was committed beside it, the later record wins, wherever
// the marker is.
func (h *History) end(producerID int64, commit bool) {
	for key, pending := range h.pending[producerID] {
		if !commit {
			h.aborted++
			continue
		}
		if now, ok := h.offsets[key]; !ok || now.at < pending.at {
			h.offsets[key] = pending
		}
	}
	delete(h.pending, producerID)
}

// other counts a record of a group that is not classic. Every such key begins with its kind and the group.
func (h *History) other(key, value []byte) {
	family := familyOf(binary.BigEndian.Uint16(key))
	o := h.others[family]
	if o == nil {
		o = &Other{Family: family, Groups: map[string]bool{}}
		h.others[family] = o
	}
	o.Records++
	if len(key) >= 4 && value != nil {
		if n := int(binary.BigEndian.Uint16(key[2:])); n <= len(key)-4 {
			o.Groups[string(key[4:4+n])] = true
		}
	}
}

// familyOf names the groups that a kind of key belongs to.
//
// Source: CoordinatorRecordType.java.
func familyOf(kind uint16) string {
	switch {
	case kind >= 3 && kind <= 8, kind == 16:
		return "consumer groups (KIP-848)"
	case kind >= 9 && kind <= 15:
		return "share groups"
	case kind >= 17 && kind <= 23:
		return "streams groups"
	}
	return fmt.Sprintf("unknown kind %d", kind)
}

// Records is how many records were replayed.
func (h *History) Records() int { return h.records }

// Uncommitted is how many offsets belong to transactions that were aborted, and to ones that have not ended.
func (h *History) Uncommitted() (aborted, open int) {
	for _, pending := range h.pending {
		open += len(pending)
	}
	return h.aborted, open
}

// Others returns what was counted and not kept, by name.
func (h *History) Others() []*Other {
	return slices.SortedFunc(maps.Values(h.others), func(a, b *Other) int { return cmp.Compare(a.Family, b.Family) })
}

// Groups returns the groups that there are at the end, by name. One that only has offsets is one, too.
func (h *History) Groups() []Group {
	groups := map[string]*Group{}
	for name, r := range h.groups {
		groups[name] = &Group{Name: name, ProtocolType: r.ProtocolType, Generation: r.Generation, Members: len(r.Members)}
	}
	for key := range h.offsets {
		if groups[key.group] == nil {
			groups[key.group] = &Group{Name: key.group}
		}
		groups[key.group].Offsets++
	}
	all := make([]Group, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, *groups[name])
	}
	return all
}
