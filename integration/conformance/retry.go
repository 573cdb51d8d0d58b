package conformance

import (
	"slices"
	"strings"
	"time"
)

// retry asks until the expectations hold, and keeps the last answer; and of the others, only what none may say.
func (r *run) retry(s *Step) (leaves []Leaf, err error) {
	until := time.Now().Add(retryTime)
	var odd []Leaf
	for {
		if err := r.send(s); err != nil {
			return nil, err
		}
		leaves, err = r.answer(s, answerTime)
		if err != nil || len(unmet(s.Expect, leaves)) == 0 || time.Now().After(until) {
			return append(odd, leaves...), err
		}
		for _, b := range s.Between {
			value := valueAt(leaves, b.Path)
			if leaf := (Leaf{"(before)" + b.Path, value}); value != nothing && !slices.Contains(strings.Split(b.Value, "|"), value) && !slices.Contains(odd, leaf) {
				odd = append(odd, leaf)
			}
		}
		time.Sleep(retryPause)
	}
}
