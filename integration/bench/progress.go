package main

import (
	"fmt"
	"os"
	"time"
)

// progress says on standard error what runs, and about how long all will still take.
type progress struct {
	since, first time.Time // of all, and of the first load that counts
	rounds       int
	total, done  int // loads on servers, weighed
	idle         int // minutes with idle members, to come
}

// weight is about how many ordinary loads a measure of a server takes as long as.
func (m measure) weight(servers []string) (n int) {
	for _, name := range servers {
		switch {
		case m.times == 0:
			n++
		case name == kafka:
			n += 60
		default:
			n += 10
		}
	}
	return n
}

func newProgress(list []measure, rounds, idle int) *progress {
	p := &progress{since: time.Now(), rounds: rounds, idle: idle}
	for round := range rounds {
		for _, m := range list {
			p.total += m.weight(m.in(round, os.Getenv("KAFKA") == "1"))
		}
	}
	return p
}

func (p *progress) elapsed() time.Duration { return time.Since(p.since).Round(time.Second) }

// say prints a line before a measure of that weight.
func (p *progress) say(round int, name string, weight int) {
	left := "?"
	if p.done == 0 {
		p.first = time.Now()
	} else {
		rest := time.Since(p.first) / time.Duration(p.done) * time.Duration(p.total-p.done)
		left = (rest + time.Duration(p.idle)*(*idleTime)).Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "%6v, about %6s left: round %d of %d, %s\n", p.elapsed(), left, round+1, p.rounds, name)
	p.done += weight
}

// sayIdle prints a line before idle members.
func (p *progress) sayIdle(name string) {
	fmt.Fprintf(os.Stderr, "%6v, about %6v left: %s\n", p.elapsed(), time.Duration(p.idle)*(*idleTime), name)
	p.idle--
}
