package settings

import (
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog"
)

// Every row is whole: known once, with a sentence, a source and an effect, or said to have none.
func TestTableIsWhole(t *testing.T) {
	s, _ := load(t, Serve)
	seen := map[string]bool{}
	for i := range s.rows {
		r := &s.rows[i]
		for _, name := range r.names() {
			if seen[name] {
				t.Errorf("%s is in the table twice", name)
			}
			seen[name] = true
		}
		if !strings.HasSuffix(r.doc, ".") || strings.Count(r.doc, ". ") > 0 {
			t.Errorf("%s: doc %q is not one sentence", r.name, r.doc)
		}
		if r.source == "" {
			t.Errorf("%s has no source", r.name)
		}
		parsed := []string{"listeners", "advertised.listeners", "listener.security.protocol.map", "controller.listener.names", "log.dirs"}
		bound := strings.HasPrefix(r.name, "group.consumer.") // used by name
		if r.field == nil && r.topic == "" && !r.fixed && !bound && !slices.Contains(parsed, r.name) {
			t.Errorf("%s has no effect and is not said to be fixed", r.name)
		}
		if _, isDuration := r.field.(*time.Duration); isDuration && r.unit == "" {
			t.Errorf("%s is a duration without a unit", r.name)
		}
		if r.null && r.def != "" {
			t.Errorf("%s has the default %q and none", r.name, r.def)
		}
	}
}

// Each topic config of the store has its broker-wide default in the table, under the name that the store knows.
func TestTopicPropertiesHaveRows(t *testing.T) {
	s, _ := load(t, Serve)
	topics := map[string][]string{}
	for i := range s.rows {
		if topic := s.rows[i].topic; topic != "" {
			topics[topic] = append(topics[topic], s.rows[i].name)
		}
	}
	for _, p := range partitionlog.TopicProperties() {
		if !slices.Contains(topics[p.Name], p.Synonym) {
			t.Errorf("%s: the store's synonym is %s, the table has %v", p.Name, p.Synonym, topics[p.Name])
		}
		if p.Honoured == s.fixed(p.Synonym) {
			t.Errorf("%s: the store honours %s: %v, which the table denies", p.Synonym, p.Name, p.Honoured)
		}
		delete(topics, p.Name)
	}
	for topic, names := range topics {
		t.Errorf("%v are defaults of %s, which the store does not know", names, topic)
	}
}

// update makes the test write the README instead of comparing it.
var update = flag.Bool("update", false, "write the settings into README.md")

func TestReadmeHasTheTable(t *testing.T) {
	const path = "../../README.md"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(readme), MarkdownBegin)
	section, after, closed := strings.Cut(rest, MarkdownEnd)
	if !found || !closed {
		t.Fatalf("README.md has no section between %s and %s", MarkdownBegin, MarkdownEnd)
	}
	want := "\n" + Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(before+MarkdownBegin+want+MarkdownEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if section != want {
		t.Error("the settings in README.md are stale; run: go test ./broker/settings -run Readme -update")
	}
}

// fixed tells whether the table says that a property has no effect.
func (s *Settings) fixed(name string) bool {
	return s.rows[slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })].fixed
}

func TestMarkdown(t *testing.T) {
	text := Markdown()
	s, _ := load(t, Serve)
	columns := map[bool]int{false: 7, true: 6} // bars of a line, by whether the property is fixed
	for i := range s.rows {
		r := &s.rows[i]
		found := 0
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "| `"+r.name+"`") {
				found++
				if bars := strings.Count(line, "|"); bars != columns[r.fixed] {
					t.Errorf("%s: %d bars in %q", r.name, bars, line)
				}
				if !strings.Contains(line, r.doc) || !strings.Contains(line, r.typ.String()) {
					t.Errorf("%s: got %q", r.name, line)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s is in the text %d times", r.name, found)
		}
	}
	for _, want := range []string{"3000 ms (dev: 0 ms)", "`node.id`, `broker.id`", "no limit", "not set", "Deviation:"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q", want)
		}
	}
}

func TestDurationsSaturate(t *testing.T) {
	for _, c := range []struct {
		n    int64
		unit string
		want time.Duration
	}{
		{math.MaxInt64, "ms", math.MaxInt64},
		{math.MaxInt32, "minutes", math.MaxInt64},
		{math.MaxInt64 / int64(time.Hour), "hours", math.MaxInt64 / time.Hour * time.Hour},
		{math.MaxInt64/int64(time.Hour) + 1, "hours", math.MaxInt64},
		{math.MinInt64, "ms", math.MinInt64},
		{-1, "ms", -time.Millisecond},
	} {
		if got := duration(c.n, c.unit); got != c.want {
			t.Errorf("%d %s: got %v, want %v", c.n, c.unit, got, c.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		typ        Type
		text, want string
	}{
		{Boolean, "TRUE", "true"},
		{Int, " 7 ", "7"},
		{Double, "1", "1.0"},
		{Double, "0.50", "0.5"},
		{List, "a , b", "a,b"},
		{List, "", ""},
		{String, " x ", "x"},
	} {
		r := row{typ: c.typ}
		parsed, reason := r.parse(c.text)
		if got := canonical(parsed); reason != "" || got != c.want {
			t.Errorf("%v %q: got %q, %q, want %q", c.typ, c.text, got, reason, c.want)
		}
	}
}
