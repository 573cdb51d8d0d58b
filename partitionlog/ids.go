package partitionlog

import (
	"encoding/base64"
	"strconv"
)

// producerIDBlock is how many producer ids one entry reserves; a crash loses what is left of a block.
// Source: Kafka, ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE.
const producerIDBlock = 1000

// NextProducerID returns an id that was never returned before, by this process or an earlier one.
//
// Errors: ErrStorage, ErrClosed.
func (s *Store) NextProducerID() (int64, error) {
	s.ids.Lock()
	defer s.ids.Unlock()
	if s.ids.next == s.ids.end {
		var first int64
		err := s.run(func() error {
			first = s.producerIDs
			s.frame.producerIDs(first + producerIDBlock)
			return nil
		})
		if err != nil {
			return 0, err
		}
		s.ids.next, s.ids.end = first, first+producerIDBlock
	}
	s.ids.next++
	return s.ids.next - 1, nil
}

// formatID prints a UUID the way Kafka does: 22 characters of URL-safe base64.
func formatID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func parseID(text string) (id [16]byte, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	copy(id[:], b)
	return id, true
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }
