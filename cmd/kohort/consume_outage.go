package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// outage is a time in which the broker cannot be reached. Who reads goes on afterwards, in a group as the same member if
// its session is not over.
type outage struct {
	*session
	patience time.Duration // how long one may last; 0 for ever
	since    time.Time     // zero while there is none
}

// patience is how long `kohort consume` bears an outage: a reading that has an end must end.
func (c *consumeCommand) patience() time.Duration {
	if c.Exit || c.Count > 0 {
		return requestLimit
	}
	return 0
}

// over takes the error of a poll, and tells whether there were records in it. It returns the error if that is no outage,
// or one that lasts too long.
func (o *outage) over(err error, records bool) error {
	switch {
	case err == nil && records:
		o.since = time.Time{}
		return nil
	case err == nil:
		return nil
	case !unreached(err):
		return err
	case o.since.IsZero():
		o.since = time.Now()
		fmt.Fprintf(o.w.stderr, "kohort: %s cannot be reached (%s); trying again\n", o.addr, sentence(err))
	case o.patience > 0 && time.Since(o.since) > o.patience:
		return err
	}
	return nil
}

// unreached tells whether an error is about the way to the broker, or is an answer that says to try again.
func unreached(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || kerr.IsRetriable(err)
}
