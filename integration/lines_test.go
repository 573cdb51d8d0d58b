package integration

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// lines keeps the lines that a process writes, and wakes those who wait for one.
type lines struct {
	mu      sync.Mutex
	partial string
	all     []string
	ended   bool
	other   *lines        // shown as well when a wait fails
	more    chan struct{} // closed and replaced whenever something changes
}

func newLines() *lines { return &lines{more: make(chan struct{})} }

// Write takes what the process wrote. It keeps nothing of p.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := strings.Split(l.partial+string(p), "\n")
	l.partial = whole[len(whole)-1]
	l.all = append(l.all, whole[:len(whole)-1]...)
	l.wake()
	return len(p), nil
}

// end says that nothing more will come.
func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.partial != "" {
		l.all, l.partial = append(l.all, l.partial), ""
	}
	l.ended = true
	l.wake()
}

func (l *lines) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

func (l *lines) snapshot() (all []string, ended bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all, l.ended, l.more
}

// text returns everything so far, or the end of it if it is long.
func (l *lines) text() string {
	if l == nil {
		return ""
	}
	all, _, _ := l.snapshot()
	if n := len(all); n > 60 {
		all = all[n-60:]
	}
	return strings.Join(all, "\n")
}

// whole returns everything so far.
func (l *lines) whole() []string {
	all, _, _ := l.snapshot()
	return all
}

// count returns how many lines there are; with from it tells new lines from old ones.
func (l *lines) count() int {
	all, _, _ := l.snapshot()
	return len(all)
}

// wait returns the first line after the first `from` ones that matches. It fails the test when the deadline passes, or
// the process ends, without one.
func (l *lines) wait(t testing.TB, within time.Duration, from int, what string, match func(string) bool) string {
	t.Helper()
	deadline := time.After(within)
	for i := from; ; {
		all, ended, more := l.snapshot()
		for ; i < len(all); i++ {
			if match(all[i]) {
				return all[i]
			}
		}
		if ended {
			t.Fatalf("the process ended without %s:\n%s\n%s", what, l.text(), l.other.text())
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("no %s within %v:\n%s\n%s", what, within, l.text(), l.other.text())
		}
	}
}
