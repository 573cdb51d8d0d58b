package broker

import (
	"context"
	"fmt"
)

// Checkpoint returns when the table on disk holds everything that was acknowledged before the call, so that a start, on
// the data directory or on a copy of it, has only what came later to replay. The broker serves meanwhile. In memory there
// is nothing to do.
//
// Errors: what the disk says; partitionlog.ErrClosed of a broker that was closed; the context's, and then the checkpoint
// goes on by itself.
func (b *Broker) Checkpoint(ctx context.Context) error {
	outcome := make(chan error, 1)
	go func() { outcome <- b.store.Checkpoint() }() // ends when the store has answered, as it also does on Close
	select {
	case err := <-outcome:
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
