package partitionlog

import (
	"slices"
	"sync"
	"sync/atomic"
)

// watchers are the channels that want to know when a partition moves.
type watchers struct {
	count    atomic.Int32 // so that the loop passes unwatched partitions without a lock
	mu       sync.Mutex
	channels []chan<- struct{}
}

// Watch sends to ch, without blocking, whenever the high watermark or the log start moves and when the partition is
// gone or offline. Give it a capacity of one and look at the partition again after each message.
func (p *Partition) Watch(ch chan<- struct{}) {
	w := &p.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	w.channels = append(w.channels, ch)
	w.count.Store(int32(len(w.channels)))
}

// Unwatch ends one Watch of ch.
func (p *Partition) Unwatch(ch chan<- struct{}) {
	w := &p.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.channels, ch); i >= 0 {
		last := len(w.channels) - 1
		w.channels[i] = w.channels[last]
		w.channels[last] = nil
		w.channels = w.channels[:last]
	}
	w.count.Store(int32(len(w.channels)))
}

func (w *watchers) notify() {
	if w.count.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.channels {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
