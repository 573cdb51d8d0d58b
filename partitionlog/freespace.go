package partitionlog

import (
	"fmt"
	"time"
)

// freeInterval is how long an answer about free space is believed. At full speed a disk takes a few hundred
// megabytes in it at most, which the floor allows for.
const freeInterval = 100 * time.Millisecond

// checkFreeBytes looks whether the disk is nearly full. An unanswered question changes nothing.
func (s *Store) checkFreeBytes() {
	if s.journal == nil {
		return
	}
	now := s.config.Now()
	if since := now.Sub(s.freeChecked); since >= 0 && since < freeInterval {
		return
	}
	s.freeChecked = now
	free, err := s.config.FS.FreeBytes(s.config.Dir)
	if err != nil {
		return
	}
	s.freeBytes = free
	full := free < s.config.MinFreeBytes
	if full == s.diskFull.Load() {
		return
	}
	s.diskFull.Store(full)
	kind := EventDiskHealed
	if full {
		kind = EventDiskFull
	}
	s.config.Observe(Event{Kind: kind, Bytes: free})
}

func (s *Store) diskFullError() error {
	return fmt.Errorf("%w: %d bytes are free, %d are needed; make room on the disk of %q", ErrDiskFull, s.freeBytes, s.config.MinFreeBytes, s.config.Dir)
}

// DiskFull reports whether appends that are not urgent are refused at present. A coordinator asks before it acts, so
// that it need not take back what the store would refuse.
//
// Asking makes the loop look again, since while all is refused it may have no other reason to.
func (s *Store) DiskFull() bool {
	if !s.diskFull.Load() {
		return false
	}
	s.AppendAsync(func() {})
	return true
}
