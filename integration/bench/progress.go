package main

import (
	"fmt"
	"os"
	"time"
)

// progress says on standard error what runs, and about how long all will still take.
type progress struct {
	since       time.Time
	rounds      int
	total, done int // loads on servers
	idle        bool
}

func newProgress(list []measure, rounds int, idle bool) *progress {
	p := &progress{since: time.Now(), rounds: rounds, idle: idle}
	for round := range rounds {
		for _, m := range list {
			p.total += len(m.in(round, os.Getenv("KAFKA") == "1"))
		}
	}
	return p
}

func (p *progress) elapsed() time.Duration { return time.Since(p.since).Round(time.Second) }

// say prints a line before a measure of n loads.
func (p *progress) say(round int, name string, n int) {
	left := "?"
	if p.done > 0 {
		rest := p.elapsed() / time.Duration(p.done) * time.Duration(p.total-p.done)
		if p.idle {
			rest += *idleTime
		}
		left = rest.Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "%6v, about %6s left: round %d of %d, %s\n", p.elapsed(), left, round+1, p.rounds, name)
	p.done += n
}
