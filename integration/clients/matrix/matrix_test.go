package matrix

import (
	"strings"
	"testing"
)

func TestMarkdownAndGreen(t *testing.T) {
	r := Report{
		Jobs: [][2]string{{"a", "does a"}, {"b", "does b"}},
		Clients: []Row{{
			Client: "c", Version: "1", Results: map[string]Result{"a": Passed, "b": Absent},
			Spoken: map[string][]int16{"Fetch": {4, 12}}, Quirks: []string{"is odd"},
		}},
		Platforms: []Row{{Client: "p", Version: "2", Results: map[string]Result{"x": Passed}}},
	}
	if !r.Green() {
		t.Error("all passed, and it is not green")
	}
	page := r.Markdown()
	for _, want := range []string{
		"| client | version | a | b |\n|---|---|:-:|:-:|\n| c | 1 | ✓ | – |\n", "- **b**: does b.\n", "| p | 2 | x | ✓ |\n",
		"| api | c |\n|---|:-:|\n| Fetch | 4, 12 |\n", "- **c**: is odd\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
	delete(r.Clients[0].Results, "b")
	if r.Green() || !strings.Contains(r.Markdown(), "| c | 1 | ✓ | ✗ |") {
		t.Error("a job that did not run counts as failed")
	}
	r.Clients[0].Results["b"] = Passed
	r.Platforms[0].Results["x"] = Failed
	if r.Green() {
		t.Error("a failed platform is not green")
	}
}
