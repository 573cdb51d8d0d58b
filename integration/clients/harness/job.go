package harness

import (
	"slices"
	"sync"
	"testing"
)

// T is what a job runs with.
type T = testing.T

// Job is one thing that one client does against a broker of its own.
type Job struct {
	Client  string // as docs/clients.md names it
	Version string
	Name    string
	Run     func(t *T)
}

// spoken is what each test's clients have asked of its brokers, in which versions.
type spoken struct {
	mu   sync.Mutex
	said map[string]map[string][]int16 // test, api, versions
}

var versions = spoken{said: map[string]map[string][]int16{}}

func (s *spoken) note(test string, asked map[string][]int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said[test] == nil {
		s.said[test] = map[string][]int16{}
	}
	for api, v := range asked {
		s.said[test][api] = append(s.said[test][api], v...)
	}
}

// Spoken returns the apis that the clients of the tests, each named by t.Name(), have called, with the versions in order.
func Spoken(tests ...string) map[string][]int16 {
	versions.mu.Lock()
	defer versions.mu.Unlock()
	all := map[string][]int16{}
	for _, test := range tests {
		for api, v := range versions.said[test] {
			all[api] = append(all[api], v...)
			slices.Sort(all[api])
			all[api] = slices.Compact(all[api])
		}
	}
	return all
}
