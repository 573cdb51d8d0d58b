package broker

import (
	"fmt"
	"time"
)

// lastAnswers is how long Close waits for connections to write what they owe.
const lastAnswers = time.Second

// closing reports whether Close has begun.
func (b *Broker) closing() bool { return b.ctx.Err() != nil }

// Close stops the broker: connections get their last answers, and everything is on disk when it returns. It takes less
// than two seconds, also with parked requests and peers that do not read.
//
// Errors: what the broker failed of, or else what the last checkpoint ran into. It may be called again, and returns the
// same.
func (b *Broker) Close() error {
	b.once.Do(func() {
		b.cancel()
		_ = b.listener.Close() // an error means that it was closed
		b.groups.Close()
		b.unblockReads()
		if !b.waitConns(lastAnswers) {
			b.closeConns()
			b.wait.Wait()
		}
		err := b.store.Close()
		if failed := b.failed.Load(); failed != nil {
			err = *failed
		}
		b.err = err
		close(b.done)
	})
	<-b.done
	return b.err
}

// Wait returns when the broker has been closed or has failed.
func (b *Broker) Wait() error {
	<-b.done
	return b.err
}

// Done is closed when the broker has been closed or has failed.
func (b *Broker) Done() <-chan struct{} { return b.done }

// fail closes the broker because it cannot go on. It returns at once, for it is called by those that Close waits for.
func (b *Broker) fail(err error) {
	err = fmt.Errorf("the broker stops: %w", err)
	if b.failed.CompareAndSwap(nil, &err) {
		b.log.Error().Err(err).Msg("the broker cannot go on")
		go func() { _ = b.Close() }() // Wait returns the error
	}
}

// watch turns the store's end into the broker's.
func (b *Broker) watch() {
	select {
	case <-b.store.Failed():
		b.fail(b.store.Err())
	case <-b.ctx.Done():
	}
}

// unblockReads ends the wait for a next request on every connection.
func (b *Broker) unblockReads() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		_ = c.net.SetReadDeadline(longAgo) // fails only on a socket that is closed
	}
}

func (b *Broker) closeConns() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		_ = c.net.Close() // what it owes is lost; it does not read
	}
}

// waitConns waits for the connections' goroutines.
func (b *Broker) waitConns(atMost time.Duration) bool {
	all := make(chan struct{})
	go func() { b.wait.Wait(); close(all) }()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-all:
		return true
	case <-timer.C:
		return false
	}
}
