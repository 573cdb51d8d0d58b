package partitionlog

import (
	"fmt"
	"math"
)

// retainedBatches is how many batches of a producer can be told from new ones.
// Source: Kafka, ProducerStateEntry.NUM_BATCHES_TO_RETAIN.
const retainedBatches = 5

// sentBatch is what is remembered of a batch of an idempotent producer.
type sentBatch struct {
	baseSequence, lastSequence int32
	baseOffset                 int64
}

// producer is the state of one producer id in one partition.
//
// Invariant: 1 <= count <= retainedBatches; batches[:count] are in sequence.
type producer struct {
	epoch   int16
	count   int8
	batches [retainedBatches]sentBatch
	lastMs  int64 // when the last batch was appended, by the broker's clock
}

// producers is what one partition knows about its producers.
//
// Two layers, since several batches of a producer may share a turn: known is what was applied, staged is what this
// turn adds to it. Only apply writes known; staged is dropped at the end of each turn, whatever became of it.
//
// Deviation: Kafka forgets a producer by the timestamp of its last batch; we go by the time of its append, so that a
// producer of old timestamps keeps its protection. State survives trims and compaction, as in Kafka (KIP-360).
//
// Owner: the store's loop.
type producers struct {
	known  map[int64]*producer
	staged map[int64]producer
}

// find returns the newest state of a producer.
func (p *producers) find(id int64) (producer, bool) {
	if s, ok := p.staged[id]; ok {
		return s, true
	}
	if k, ok := p.known[id]; ok {
		return *k, true
	}
	return producer{}, false
}

// stage checks a batch and counts it for the rest of the turn. A duplicate is answered with the offset of the
// original and changes nothing.
//
// Errors: ErrInvalidProducerEpoch, ErrOutOfOrderSequence.
// Source: Kafka, UnifiedLog.analyzeAndValidateProducerState and ProducerAppendInfo.
func (p *producers) stage(b Batch) (original int64, duplicate bool, err error) {
	id := b.ProducerID()
	state, known := p.find(id)
	if known {
		if offset, ok := state.duplicate(b); ok {
			return offset, true, nil
		}
		if err := state.check(b); err != nil {
			return 0, false, err
		}
	}
	state.add(b, 0)
	if p.staged == nil {
		p.staged = make(map[int64]producer)
	}
	p.staged[id] = state
	return 0, false, nil
}

// apply counts a batch for good.
func (p *producers) apply(b Batch, nowMs int64) {
	if p.known == nil {
		p.known = make(map[int64]*producer)
	}
	state := p.known[b.ProducerID()]
	if state == nil {
		state = &producer{}
		p.known[b.ProducerID()] = state
	}
	state.add(b, nowMs)
}

// unstage forgets what this turn added.
func (p *producers) unstage() {
	clear(p.staged)
}

// expire forgets producers that were silent for too long.
//
// Source: Kafka's producer.id.expiration.ms.
func (p *producers) expire(before int64) (changed bool) {
	for id, state := range p.known {
		if state.lastMs <= before {
			delete(p.known, id)
			changed = true
		}
	}
	return changed
}

// duplicate finds a batch with the same epoch and the same sequence range.
func (p *producer) duplicate(b Batch) (baseOffset int64, ok bool) {
	if b.ProducerEpoch() != p.epoch {
		return 0, false
	}
	first, last := b.BaseSequence(), b.LastSequence()
	for _, sent := range p.batches[:p.count] {
		if sent.baseSequence == first && sent.lastSequence == last {
			return sent.baseOffset, true
		}
	}
	return 0, false
}

// check says whether a batch may follow. A producer that is not known at all may begin with any sequence: its
// earlier records may have been deleted.
func (p *producer) check(b Batch) error {
	epoch, first := b.ProducerEpoch(), b.BaseSequence()
	if epoch < p.epoch {
		return fmt.Errorf("%w: producer %d has epoch %d, last seen was %d", ErrInvalidProducerEpoch, b.ProducerID(), epoch, p.epoch)
	}
	if epoch > p.epoch {
		if first != 0 {
			return fmt.Errorf("%w: producer %d begins epoch %d with sequence %d instead of 0", ErrOutOfOrderSequence, b.ProducerID(), epoch, first)
		}
		return nil
	}
	if last := p.lastSequence(); !inSequence(last, first) {
		return fmt.Errorf("%w: producer %d sent sequence %d after %d", ErrOutOfOrderSequence, b.ProducerID(), first, last)
	}
	return nil
}

func (p *producer) lastSequence() int32 { return p.batches[p.count-1].lastSequence }

// inSequence knows that sequences wrap to 0 after the largest int32.
func inSequence(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == math.MaxInt32
}

// add counts a batch. One that does not follow begins a new history: its producer had been forgotten when the batch
// was accepted, and a recovery that still remembers it must come to the same end.
func (p *producer) add(b Batch, nowMs int64) {
	if p.count > 0 && (p.epoch != b.ProducerEpoch() || !inSequence(p.lastSequence(), b.BaseSequence())) {
		p.count = 0
	}
	if p.count == retainedBatches {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = sentBatch{b.BaseSequence(), b.LastSequence(), b.BaseOffset()}
	p.count++
	p.epoch, p.lastMs = b.ProducerEpoch(), nowMs
}
