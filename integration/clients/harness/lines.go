package harness

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// Lines keeps the lines that a process writes, and wakes those who wait for one.
type Lines struct {
	mu      sync.Mutex
	partial string
	all     []string
	ended   bool
	more    chan struct{} // closed and replaced whenever something changes
}

func newLines() *Lines { return &Lines{more: make(chan struct{})} }

// Write takes what the process wrote. It keeps nothing of p.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := strings.Split(l.partial+string(p), "\n")
	l.partial = whole[len(whole)-1]
	l.all = append(l.all, whole[:len(whole)-1]...)
	l.wake()
	return len(p), nil
}

// end says that nothing more will come.
func (l *Lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.partial != "" {
		l.all, l.partial = append(l.all, l.partial), ""
	}
	l.ended = true
	l.wake()
}

func (l *Lines) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

// Snapshot returns all lines so far, whether there will be more, and a channel that is closed when something changes.
func (l *Lines) Snapshot() (all []string, ended bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all, l.ended, l.more
}

// Text returns everything so far, or the end of it if it is long.
func (l *Lines) Text() string {
	all, _, _ := l.Snapshot()
	if n := len(all); n > 40 {
		all = all[n-40:]
	}
	return strings.Join(all, "\n")
}

// Count returns how many lines there are; with from it tells new lines from old ones.
func (l *Lines) Count() int {
	all, _, _ := l.Snapshot()
	return len(all)
}

// Wait returns the first line after the first `from` ones that matches, or fails the test at the deadline or the end of
// the process.
func (l *Lines) Wait(t testing.TB, from int, within time.Duration, what string, match func(string) bool) string {
	t.Helper()
	deadline := time.After(within)
	for i := from; ; {
		all, ended, more := l.Snapshot()
		for ; i < len(all); i++ {
			if match(all[i]) {
				return all[i]
			}
		}
		if ended {
			t.Fatalf("the process ended without %s:\n%s", what, l.Text())
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("no %s within %v:\n%s", what, within, l.Text())
		}
	}
}
