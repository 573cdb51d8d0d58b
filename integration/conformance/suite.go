package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is a target that somebody started.
type Server interface {
	Target
	Close() error
}

// Result is what became of one scenario on one target.
type Result struct {
	Transcript Transcript
	Err        error
}

// Suite runs scenarios on live servers: those with the same settings on one server, many at once.
type Suite struct {
	Start    func(ctx context.Context, settings map[string]string) (Server, error)
	Parallel int
	Limit    time.Duration // for one scenario
	Progress func(text string)
	Nonce    string
}

// Run runs all scenarios and returns their results by name.
func (s *Suite) Run(ctx context.Context, scenarios []*Scenario) map[string]Result {
	results := map[string]Result{}
	groups := map[string][]*Scenario{}
	for _, sc := range scenarios {
		key := settingsText(sc.Settings)
		if sc.Alone {
			key = "\x00alone " + sc.Name
		}
		groups[key] = append(groups[key], sc)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		group := groups[key]
		began := time.Now()
		server, err := s.Start(ctx, group[0].Settings)
		if err != nil {
			for _, sc := range group {
				results[sc.Name] = Result{Err: err}
			}
			continue
		}
		s.Progress(fmt.Sprintf("started in %.1f s for %d scenarios with %s", time.Since(began).Seconds(), len(group), orFixture(key)))
		var steady, restarting []*Scenario
		for _, sc := range group {
			if slices.ContainsFunc(sc.Steps, func(st *Step) bool { return st.Kind == Restart }) {
				restarting = append(restarting, sc)
			} else {
				steady = append(steady, sc)
			}
		}
		s.together(ctx, steady, server, results)
		s.together(ctx, restarting, &rendezvous{Server: server, running: len(restarting)}, results)
		if err := server.Close(); err != nil {
			s.Progress("stopping: " + err.Error())
		}
		s.Progress(fmt.Sprintf("done after %.1f s", time.Since(began).Seconds()))
	}
	return results
}

func orFixture(key string) string {
	if key == "" {
		return "the fixture's settings"
	}
	return strings.TrimPrefix(key, "\x00")
}

func settingsText(settings map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		parts = append(parts, name+"="+settings[name])
	}
	return strings.Join(parts, " ")
}

// together runs scenarios at the same time. Those that restart the server must all run at once, for they meet there.
func (s *Suite) together(ctx context.Context, scenarios []*Scenario, t Target, results map[string]Result) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	meet, meets := t.(*rendezvous)
	places := make(chan struct{}, s.Parallel)
	if meets {
		places = make(chan struct{}, len(scenarios)+1)
	}
	for _, sc := range scenarios {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			limited, cancel := context.WithTimeout(ctx, s.Limit)
			defer cancel()
			transcript, err := Run(limited, sc, t, s.Nonce)
			if meets {
				meet.leave()
			}
			mu.Lock()
			defer mu.Unlock()
			results[sc.Name] = Result{transcript, err}
		})
	}
	wait.Wait()
}

// rendezvous restarts a server when every scenario that still runs asks for it.
type rendezvous struct {
	Server
	mu      sync.Mutex
	running int
	waiting []chan error
}

// Restart waits for the others.
func (r *rendezvous) Restart() error {
	done := make(chan error, 1)
	r.mu.Lock()
	r.waiting = append(r.waiting, done)
	r.restartIfAll()
	r.mu.Unlock()
	return <-done
}

// leave says that a scenario will ask no more.
func (r *rendezvous) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.restartIfAll()
}

func (r *rendezvous) restartIfAll() {
	if len(r.waiting) == 0 || len(r.waiting) < r.running {
		return
	}
	err := r.Server.Restart()
	for _, done := range r.waiting {
		done <- err
	}
	r.waiting = nil
}
