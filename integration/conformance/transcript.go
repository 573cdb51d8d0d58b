package conformance

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// Transcript is what a broker answered to a scenario, with what is never compared replaced by names.
type Transcript struct{ Steps []Answer }

// Answer is one step's.
type Answer struct {
	Line   string
	Leaves []Leaf
}

// String is the form in golden/: a line for a step, and an indented one for each field.
func (t Transcript) String() string {
	var b strings.Builder
	for _, s := range t.Steps {
		fmt.Fprintln(&b, s.Line)
		for _, l := range s.Leaves {
			fmt.Fprintf(&b, "    %s = %s\n", l.Path, l.Value)
		}
	}
	return b.String()
}

// ReadTranscript reads what String wrote.
func ReadTranscript(file string) (t Transcript, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		field, isField := strings.CutPrefix(line, "    ")
		if !isField {
			t.Steps = append(t.Steps, Answer{Line: line})
			continue
		}
		p, value, ok := strings.Cut(field, " = ")
		if !ok || len(t.Steps) == 0 {
			return t, fmt.Errorf("%s: %q is not a field of an answer", file, line)
		}
		last := &t.Steps[len(t.Steps)-1]
		last.Leaves = append(last.Leaves, Leaf{p, value})
	}
	return t, nil
}

// Difference is one field that Kohort answers otherwise than Kafka, without being allowed to.
type Difference struct {
	Step          int // from 1
	Line, Path    string
	Kafka, Kohort string
}

// nothing stands for a field that an answer does not have.
const nothing = "(nothing)"

func (d Difference) String() string {
	return fmt.Sprintf("step %d, %s\n    %s: Kafka %s, Kohort %s", d.Step, d.Line, d.Path, d.Kafka, d.Kohort)
}

// Compare returns the differences that the scenario does not allow, the number of fields that it does allow to differ,
// and what it expects in vain or allows needlessly.
func Compare(s *Scenario, kafka, kohort Transcript) (differences []Difference, allowed int, complaints []string) {
	if len(kafka.Steps) != len(s.Steps) || len(kohort.Steps) != len(s.Steps) {
		return nil, 0, []string{fmt.Sprintf("the scenario has %d steps, Kafka's transcript %d, Kohort's %d: record it again with make conformance RECORD=1", len(s.Steps), len(kafka.Steps), len(kohort.Steps))}
	}
	for i, step := range s.Steps {
		a, b := kafka.Steps[i], kohort.Steps[i]
		if a.Line != step.Line {
			complaints = append(complaints, fmt.Sprintf("step %d is %q, Kafka's transcript has %q: record it again with make conformance RECORD=1", i+1, step.Line, a.Line))
			continue
		}
		used := map[int]bool{}
		for _, p := range paths(a.Leaves, b.Leaves) {
			x, y := valueAt(a.Leaves, p), valueAt(b.Leaves, p)
			if x == y {
				continue
			}
			if n := step.deviation(p, y); n >= 0 {
				used[n] = true
				allowed++
				continue
			}
			differences = append(differences, Difference{Step: i + 1, Line: step.Line, Path: p, Kafka: x, Kohort: y})
		}
		for n, d := range step.Deviations {
			if !used[n] && !d.Maybe {
				complaints = append(complaints, fmt.Sprintf("step %d, %s: the deviation %s %s is not needed", i+1, step.Line, d.Path, d.Value))
			}
		}
	}
	return differences, allowed, complaints
}

// Unmet returns the expectations that a transcript of Kafka does not fulfil.
func Unmet(s *Scenario, t Transcript) (complaints []string) {
	for i, step := range s.Steps {
		if i >= len(t.Steps) {
			break
		}
		for _, l := range unmet(step.Expect, t.Steps[i].Leaves) {
			complaints = append(complaints, fmt.Sprintf("step %d, %s: %s is %s, the scenario expects %s",
				i+1, step.Line, l.Path, valueAt(t.Steps[i].Leaves, l.Path), l.Value))
		}
	}
	return complaints
}

// unmet returns the leaves that an answer does not have. A value may contain * for anything.
func unmet(expect, got []Leaf) (missing []Leaf) {
	for _, e := range expect {
		if v := valueAt(got, e.Path); !glob(e.Value, v) {
			missing = append(missing, e)
		}
	}
	return missing
}

// deviation returns the index of the deviation that allows a value at a path, or -1.
func (s *Step) deviation(p, value string) int {
	for i, d := range s.Deviations {
		if glob(d.Path, p) && glob(d.Value, value) {
			return i
		}
	}
	return -1
}

// glob compares with a pattern in which * stands for anything.
func glob(pattern, text string) bool {
	if pattern == text {
		return true
	}
	if !strings.Contains(pattern, "*") {
		return false
	}
	plain := strings.NewReplacer("/", "\x00", "[", "(", "]", ")", "\\", "|", "?", "!")
	ok, err := path.Match(plain.Replace(pattern), plain.Replace(text))
	return err == nil && ok
}

func valueAt(leaves []Leaf, p string) string {
	for _, l := range leaves {
		if l.Path == p {
			return l.Value
		}
	}
	return nothing
}

// paths are those of both answers, each once.
func paths(a, b []Leaf) (all []string) {
	seen := map[string]bool{}
	for _, leaves := range [][]Leaf{a, b} {
		for _, l := range leaves {
			if !seen[l.Path] {
				seen[l.Path] = true
				all = append(all, l.Path)
			}
		}
	}
	return all
}
