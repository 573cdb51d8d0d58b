package main

import (
	"errors"
	"fmt"
	"time"
)

// defaultPatience is how long something may take before a line says that it is still going on.
const defaultPatience = 2 * time.Second

// during calls fn, and tells on standard error every two seconds that it is still at it.
func (s *session) during(what string, fn func()) { s.w.during(what, fn) }

// during calls fn, and tells on standard error every two seconds that it is still at it.
func (w *world) during(what string, fn func()) {
	patience := w.patience
	if patience == 0 {
		patience = defaultPatience
	}
	start := time.Now()
	done, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		ticker := time.NewTicker(patience)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(w.stderr, "kohort: still %s (%v)\n", what, time.Since(start).Round(patience))
			case <-done:
				return
			}
		}
	}()
	fn()
	close(done)
	<-told
}

// errNotSeen is what a signal makes of a look.
var errNotSeen = errors.New("stopped by a signal; nothing was changed")

// look is during for what only reads: a signal ends it at once, and with it the program.
func (w *world) look(what string, do func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.during(what, do)
	}()
	select {
	case <-done:
		return nil
	case <-w.signals:
		return errNotSeen
	}
}
