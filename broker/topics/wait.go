package topics

import (
	"context"
	"time"

	"github.com/kohort/kohort/partitionlog"
)

// Wait calls ready until it returns true, once at the beginning and then whenever something moved in one of the
// partitions, and in the end when the time is over. It returns what ready returned last.
//
// It is called again after the partitions are watched, so that nothing that moves in between is missed.
func Wait(ctx context.Context, atMost time.Duration, partitions []*partitionlog.Partition, ready func() bool) bool {
	if ready() {
		return true
	}
	if atMost <= 0 {
		return false
	}
	moved := make(chan struct{}, 1)
	for _, p := range partitions {
		p.Watch(moved)
		defer p.Unwatch(moved)
	}
	if ready() {
		return true
	}
	over := time.NewTimer(atMost)
	defer over.Stop()
	for {
		select {
		case <-moved:
			if ready() {
				return true
			}
		case <-over.C:
			return ready()
		case <-ctx.Done():
			return ready()
		}
	}
}
