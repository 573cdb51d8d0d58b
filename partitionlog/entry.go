package partitionlog

import "fmt"

// entryKind tells the kinds of entries of the command log apart. The numbers are on disk.
type entryKind byte

const (
	entryAppend           entryKind = 1  // topic id, partition, batch
	entryTrim             entryKind = 2  // topic id, partition, new log start
	entryCreateTopic      entryKind = 3  // topic id, name, partitions, internal, overrides
	entryCreatePartitions entryKind = 4  // topic id, new total
	entryTopicConfig      entryKind = 5  // topic id, overrides
	entryGroupConfig      entryKind = 6  // group, overrides
	entryBeginDelete      entryKind = 7  // topic id
	entryFinishDelete     entryKind = 8  // topic id
	entryLeaderEpoch      entryKind = 9  // epoch
	entryProducerIDs      entryKind = 10 // first id that is not handed out yet
	entrySkip             entryKind = 11 // topic id, partition, new next offset
)

// A frame is the time of its turn, then entries.
//
//	Shape:
//	| time of the turn, ms (8) | kind (1) | fields | kind (1) | fields | ...
//
// The time is part of the frame because apply needs one (producer expiry, segment age) and must come to the same end
// in a recovery.
const frameHeader = 8

// entryOverhead is the most that an append, and a skip before it, add to its batch.
const entryOverhead = frameHeader + 1 + 16 + 5 + 5 + 1 + 16 + 5 + 10

// frameBytes is the size at which a frame is closed; a larger batch is a frame of its own.
const frameBytes = 1 << 20

func (e *encoder) append(p *Partition, b Batch) {
	e.byte(byte(entryAppend))
	e.id(p.id)
	e.uint(uint64(p.index))
	e.bytes(b)
}

func (e *encoder) trim(p *Partition, logStart int64) {
	e.byte(byte(entryTrim))
	e.id(p.id)
	e.uint(uint64(p.index))
	e.uint(uint64(logStart))
}

func (e *encoder) createTopic(id [16]byte, spec TopicSpec) {
	e.byte(byte(entryCreateTopic))
	e.id(id)
	e.string(spec.Name)
	e.uint(uint64(spec.Partitions))
	e.bool(spec.Internal)
	e.pairs(spec.Overrides)
}

func (e *encoder) createPartitions(id [16]byte, total int32) {
	e.byte(byte(entryCreatePartitions))
	e.id(id)
	e.uint(uint64(total))
}

func (e *encoder) topicConfig(id [16]byte, overrides map[string]string) {
	e.byte(byte(entryTopicConfig))
	e.id(id)
	e.pairs(overrides)
}

func (e *encoder) groupConfig(group string, overrides map[string]string) {
	e.byte(byte(entryGroupConfig))
	e.string(group)
	e.pairs(overrides)
}

func (e *encoder) topicStep(kind entryKind, id [16]byte) {
	e.byte(byte(kind))
	e.id(id)
}

func (e *encoder) leaderEpoch(epoch int32) {
	e.byte(byte(entryLeaderEpoch))
	e.uint(uint64(epoch))
}

func (e *encoder) producerIDs(next int64) {
	e.byte(byte(entryProducerIDs))
	e.uint(uint64(next))
}

// entry is a decoded entry; kind says which fields count.
type entry struct {
	kind      entryKind
	id        [16]byte
	partition int32
	batch     Batch // aliases the frame
	number    int64 // log start, next offset, total, epoch or producer id
	name      string
	internal  bool
	overrides map[string]string
}

// entry decodes the next entry.
func (d *decoder) entry() (e entry, err error) {
	e.kind = entryKind(d.byte())
	switch e.kind {
	case entryAppend:
		e.id, e.partition, e.batch = d.id(), int32(d.uint()), d.bytes()
		if d.err == nil && len(e.batch) < batchOverhead {
			d.fail()
		}
	case entryTrim, entrySkip:
		e.id, e.partition, e.number = d.id(), int32(d.uint()), int64(d.uint())
	case entryCreateTopic:
		e.id, e.name, e.number, e.internal, e.overrides = d.id(), d.string(), int64(d.uint()), d.bool(), d.pairs()
	case entryCreatePartitions:
		e.id, e.number = d.id(), int64(d.uint())
	case entryTopicConfig:
		e.id, e.overrides = d.id(), d.pairs()
	case entryGroupConfig:
		e.name, e.overrides = d.string(), d.pairs()
	case entryBeginDelete, entryFinishDelete:
		e.id = d.id()
	case entryLeaderEpoch, entryProducerIDs:
		e.number = int64(d.uint())
	default:
		return e, fmt.Errorf("%w: entry of unknown kind %d", ErrDamaged, e.kind)
	}
	return e, d.err
}
