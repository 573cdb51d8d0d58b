package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scenario is one parsed file.
type Scenario struct {
	Name     string // of the file, without .txt
	Title    string
	Settings map[string]string
	Alone    bool
	Slot     time.Duration // of each step that tries; 0 for one right after the other
	Spec     []string      // where Kafka differs from the written specification
	Steps    []*Step
	text     string // with macros expanded
}

// Kind is what a step does.
type Kind int8

const (
	Ask Kind = iota
	Park
	StillParked
	Answers
	Retry
	Close
	ReadOffsets
	Wait
	Restart
	Try
	Unname
)

// Step is one thing that a scenario does.
type Step struct {
	Line       string // as in the transcript
	Kind       Kind
	Conn       string
	API        string
	Version    int16
	Fields     []Named // of the request
	Group      string  // of ReadOffsets
	Pause      time.Duration
	Expect     []Leaf
	Between    []Leaf // of a Retry: what the answers before the last may say
	Deviations []Deviation
	Captures   []Capture
}

// Deviation is a field that Kohort answers otherwise, on purpose.
type Deviation struct {
	Leaf
	Reason string
	Maybe  bool // it may also answer as Kafka does
}

// Capture keeps the field at a path under a name.
type Capture struct{ Name, Path string }

var (
	requestLine = regexp.MustCompile(`^(\w+)( parks| retries| tries)?: (\w+) v(\d+)(?: (.*))?$`)
	connLine    = regexp.MustCompile(`^(\w+) (answers|still parked|closes|has no client id)$`)
	readsLine   = regexp.MustCompile(`^(\w+) reads offsets of (\S+)$`)
	captureLine = regexp.MustCompile(`^-> (\w+) = (\S+)$`)
	detailLine  = regexp.MustCompile(`^(=|~|!|\?|->) `)
	leafLine    = regexp.MustCompile(`^(\S+) (.*)$`)
)

// Load reads all scenarios of a directory, in the order of their names.
func Load(dir string) ([]*Scenario, error) {
	fixture, err := loadFixture(filepath.Join(dir, "fixture.txt"))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "scenarios", "*.txt"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var scenarios []*Scenario
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s, err := fixture.parse(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

// parse reads one scenario.
func (f *fixture) parse(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name, Settings: map[string]string{}}
	lines, err := f.expand(strings.Split(text, "\n"), 0)
	if err != nil {
		return nil, err
	}
	s.text = strings.Join(lines, "\n")
	var step *Step
	for _, line := range joinLines(lines) {
		trimmed := strings.TrimSpace(line)
		if line != trimmed {
			if step == nil {
				return nil, fmt.Errorf("%q belongs to no step", trimmed)
			}
			err = step.addDetail(trimmed)
		} else {
			step, err = s.addLine(f, trimmed)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", trimmed, err)
		}
	}
	if s.Title == "" {
		return nil, fmt.Errorf("no title")
	}
	return s, nil
}

// joinLines drops comments and empty lines, and appends continuations to what they continue.
func joinLines(lines []string) (joined []string) {
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		detail := detailLine.MatchString(trimmed)
		if indented := line[0] == ' '; indented && !detail && len(joined) > 0 {
			joined[len(joined)-1] += " " + trimmed
		} else if indented {
			joined = append(joined, "  "+trimmed)
		} else {
			joined = append(joined, trimmed)
		}
	}
	return joined
}

// addLine reads a line that begins at the margin; the step is nil for those that do nothing.
func (s *Scenario) addLine(f *fixture, line string) (*Step, error) {
	key, rest, _ := strings.Cut(line, " ")
	switch key {
	case "title:":
		s.Title = rest
		return nil, nil
	case "spec:":
		s.Spec = append(s.Spec, rest)
		return nil, nil
	case "alone":
		s.Alone = true
		return nil, nil
	case "with":
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("want: with NAME=VALUE")
		}
		s.Settings[name] = value
		return nil, nil
	}
	if slot, ok := strings.CutPrefix(line, "steps take "); ok {
		var err error
		s.Slot, err = time.ParseDuration(slot)
		return nil, err
	}
	step, err := f.parseStep(line)
	if err != nil {
		return nil, err
	}
	s.Steps = append(s.Steps, step)
	return step, nil
}

// parseStep reads the line of a step.
func (f *fixture) parseStep(line string) (*Step, error) {
	if rest, ok := strings.CutPrefix(line, "wait "); ok {
		d, err := time.ParseDuration(rest)
		return &Step{Line: line, Kind: Wait, Pause: d}, err
	}
	if line == "restart" {
		return &Step{Line: line, Kind: Restart}, nil
	}
	if m := connLine.FindStringSubmatch(line); m != nil {
		kind := map[string]Kind{"answers": Answers, "still parked": StillParked, "closes": Close, "has no client id": Unname}[m[2]]
		return &Step{Line: line, Kind: kind, Conn: m[1]}, nil
	}
	if m := readsLine.FindStringSubmatch(line); m != nil {
		return &Step{Line: line, Kind: ReadOffsets, Conn: m[1], Group: m[2]}, nil
	}
	m := requestLine.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("not a step")
	}
	kind := map[string]Kind{"": Ask, " parks": Park, " retries": Retry, " tries": Try}[m[2]]
	version, err := strconv.ParseInt(m[4], 10, 16)
	if err != nil {
		return nil, err
	}
	fields, err := parseFields(m[5])
	if err != nil {
		return nil, err
	}
	step := &Step{Line: line, Kind: kind, Conn: m[1], API: m[3], Version: int16(version)}
	step.Fields = append(slices.Clone(f.defaults[m[3]]), fields...)
	if _, err := step.request(func(name string) (string, bool) { return name, true }); err != nil {
		return nil, err
	}
	return step, nil
}

// addDetail reads a line about a step's answer.
func (s *Step) addDetail(line string) error {
	if m := captureLine.FindStringSubmatch(line); m != nil {
		s.Captures = append(s.Captures, Capture{Name: m[1], Path: m[2]})
		return nil
	}
	mark, rest, _ := strings.Cut(line, " ")
	text, reason, _ := strings.Cut(rest, " -- ")
	m := leafLine.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("want: %s PATH VALUE", mark)
	}
	leaf := Leaf{Path: m[1], Value: m[2]}
	if mark == "=" {
		s.Expect = append(s.Expect, leaf)
		return nil
	}
	if mark == "~" {
		s.Between = append(s.Between, leaf)
		return nil
	}
	if !strings.HasPrefix(reason, "Deviation: ") {
		return fmt.Errorf(`a deviation needs its reason: -- Deviation: …`)
	}
	s.Deviations = append(s.Deviations, Deviation{Leaf: leaf, Reason: strings.TrimPrefix(reason, "Deviation: "), Maybe: mark == "?"})
	return nil
}
