package partitionlog

import "time"

func (s *Store) compactAll(now time.Time) error { return nil }
