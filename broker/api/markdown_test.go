package api

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// update makes the test write the README instead of comparing it.
var update = flag.Bool("update", false, "write the apis into README.md")

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
		t.Error("the apis in README.md are stale; run: go test ./broker/api -run Readme -update")
	}
}
