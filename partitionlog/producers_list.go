package partitionlog

import (
	"cmp"
	"slices"
)

// ProducerState is what a partition remembers of an idempotent producer.
type ProducerState struct {
	ID           int64
	Epoch        int16
	LastSequence int32
	LastMs       int64 // when its last batch was appended, by the broker's clock
}

// Producers returns the producers that a partition remembers, by their id.
//
// Errors: ErrClosed; ErrUnknownTopic when the topic is gone.
func (s *Store) Producers(p *Partition) ([]ProducerState, error) {
	var list []ProducerState
	err := s.run(func() error {
		if t := s.catalog.byTopicID(p.id); t == nil {
			return ErrUnknownTopic
		}
		for id, known := range p.loop.producers.known {
			last := known.batches[known.count-1]
			list = append(list, ProducerState{id, known.epoch, last.lastSequence, known.lastMs})
		}
		return nil
	})
	slices.SortFunc(list, func(a, b ProducerState) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}
