package conformance

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/conformance.md")

// The document's tables are what the scenarios say.
func TestDocument(t *testing.T) {
	const file = "../../docs/conformance.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), ReportBegin)
	_, after, ended := strings.Cut(rest, ReportEnd)
	if !found || !ended {
		t.Fatalf("%s has no %s and %s", file, ReportBegin, ReportEnd)
	}
	scenarios, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	want := before + ReportBegin + "\n" + Report(scenarios) + ReportEnd + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is stale; run: cd integration && go test ./conformance -run Document -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
