package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// fixture is what fixture.txt says: fields that requests have unless a scenario names them, and macros.
type fixture struct {
	defaults map[string][]Named
	macros   map[string]macro
}

// macro is a sequence of lines with parameters, which stand in braces: {M}.
type macro struct {
	params []string
	lines  []string
}

var doLine = regexp.MustCompile(`^do (\w+)((?: \S+)*)$`)

func loadFixture(file string) (*fixture, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := &fixture{defaults: map[string][]Named{}, macros: map[string]macro{}}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		words := strings.Fields(lines[i])
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case words[0] == "default" && len(words) > 2:
			rest := strings.TrimSpace(strings.SplitN(lines[i], words[1], 2)[1])
			if f.defaults[words[1]], err = parseFields(rest); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
		case words[0] == "define" && len(words) > 1:
			m := macro{params: words[2:]}
			for i++; i < len(lines) && lines[i] != "end"; i++ {
				m.lines = append(m.lines, lines[i])
			}
			f.macros[words[1]] = m
		default:
			return nil, fmt.Errorf("%s:%d: %q is neither a default nor a macro", file, i+1, lines[i])
		}
	}
	return f, nil
}

// expand replaces the macros in lines.
func (f *fixture) expand(lines []string, depth int) (out []string, err error) {
	if depth > 8 {
		return nil, fmt.Errorf("macros that use each other")
	}
	for _, line := range lines {
		m := doLine.FindStringSubmatch(line)
		if m == nil {
			out = append(out, line)
			continue
		}
		macro, ok := f.macros[m[1]]
		args := strings.Fields(m[2])
		if !ok || len(args) != len(macro.params) {
			return nil, fmt.Errorf("%q: no such macro, or it takes other arguments: %v", line, macro.params)
		}
		var pairs []string
		for i, p := range macro.params {
			pairs = append(pairs, "{"+p+"}", args[i])
		}
		replaced := strings.Split(strings.NewReplacer(pairs...).Replace(strings.Join(macro.lines, "\n")), "\n")
		inner, err := f.expand(replaced, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}
