package settings

import (
	"fmt"
	"sort"

	"github.com/agnivade/levenshtein"
)

// Warning is something in a source that has no effect. It never stops the broker.
type Warning struct {
	Source string // where the name was given
	Name   string // as it was written
	Text   string // one sentence
}

// String returns the warning's sentence.
func (w Warning) String() string { return w.Text }

// Load returns the settings of a profile with what the sources change, highest precedence first.
//
// Errors: *ValueError for the first value, in the order of the table, that a property does not take.
func Load(p Profile, sources ...Source) (*Settings, []Warning, error) {
	s := &Settings{Profile: p, values: map[string]value{}}
	s.rows = table(s)
	known := map[string]bool{}
	for i := range s.rows {
		r := &s.rows[i]
		for _, name := range r.names() {
			known[name] = true
		}
		if err := s.load(r, sources); err != nil {
			return nil, nil, err
		}
	}
	if err := s.settle(); err != nil {
		return nil, nil, err
	}
	warnings := unknown(known, sources)
	if len(s.Listeners) > 1 {
		v := s.values["listeners"]
		warnings = append(warnings, Warning{Source: v.source, Name: "listeners", Text: fmt.Sprintf(
			"listeners (from %s) names %d addresses and only the first is opened: %s", v.source, len(s.Listeners), s.Listeners[0].Addr(),
		)})
	}
	return s, warnings, nil
}

// load finds the value of one property and stores it.
func (s *Settings) load(r *row, sources []Source) error {
	v := value{text: r.def, null: r.null, source: DefaultSource}
	if s.Profile == Dev && r.dev != "" {
		v = value{text: r.dev, source: DevSource}
	}
	given := r.name
	for i := range sources {
		name, text, ok := r.lookup(&sources[i])
		if ok {
			given = name
			v = value{text: text, source: sources[i].Name, explicit: true, whole: sources[i].Whole && r.typ == List}
			break
		}
	}
	if !v.null && !v.whole {
		parsed, reason := r.parse(v.text)
		if reason != "" {
			return &ValueError{Name: given, Value: v.text, Source: v.source, Reason: reason}
		}
		v.text = canonical(parsed)
		r.assign(parsed)
	}
	s.values[r.name] = v
	return nil
}

// lookup finds the property in a source under its name or an older one.
func (r *row) lookup(src *Source) (name, text string, ok bool) {
	for _, name := range r.names() {
		if text, ok := src.Values[name]; ok {
			return name, text, true
		}
	}
	return "", "", false
}

// unknown returns a warning for every name that is neither in the table nor known to mean nothing here.
func unknown(known map[string]bool, sources []Source) []Warning {
	var warnings []Warning
	for _, src := range sources {
		names := make([]string, 0, len(src.Values))
		for name := range src.Values {
			if !known[name] && !ignored(name) {
				names = append(names, name)
			}
		}
		sort.Strings(names)
		for _, name := range names {
			written := name
			if spelled := src.Spelled[name]; spelled != "" {
				written = spelled
			}
			text := fmt.Sprintf("%s (from %s) is not a setting of this broker and has no effect", written, src.Name)
			if near := nearest(name, known); near != "" {
				text += fmt.Sprintf("; did you mean %s?", near)
			}
			warnings = append(warnings, Warning{Source: src.Name, Name: written, Text: text})
		}
	}
	return warnings
}

// nearest returns the known name with the fewest edits from name, or "" when all are too far to be what was meant.
func nearest(name string, known map[string]bool) string {
	best, distance := "", len(name)/3+1
	for candidate := range known {
		d := levenshtein.ComputeDistance(name, candidate)
		if d < distance || (d == distance && best != "" && candidate < best) {
			best, distance = candidate, d
		}
	}
	return best
}
