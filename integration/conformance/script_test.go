package conformance

import (
	"strings"
	"testing"
)

func testFixture() *fixture {
	return &fixture{
		defaults: map[string][]Named{},
		macros:   map[string]macro{"beat": {params: []string{"M"}, lines: []string{"{M}: Heartbeat v4 MemberID: ${M}", "  = ErrorCode 0"}}},
	}
}

func TestNotationRefuses(t *testing.T) {
	for _, bad := range []string{
		"A: Heartbeat v4",                                     // no title
		"title: x\nA Heartbeat v4",                            // not a step
		"title: x\nA: Hartbeat v4",                            // no such api
		"title: x\nA: Heartbeat v4 Member: x",                 // no such field
		"title: x\nA: Heartbeat v4 Generation: many",          // not a number
		"title: x\nA: Heartbeat v4 MemberID: \"x",             // no end
		"title: x\nA: LeaveGroup v5 Members: [{MemberID: x]",  // no end
		"title: x\nA: Heartbeat v4\n  ! ErrorCode 3",          // no reason
		"title: x\nA: Heartbeat v4\n  ! ErrorCode 3 -- since", // not one either
		"title: x\n  = ErrorCode 3",                           // of no step
		"title: x\ndo beat",                                   // of whom
		"title: x\nwith speed",                                // no value
	} {
		if s, err := testFixture().parse("bad", bad); err == nil {
			t.Errorf("%q was taken as %+v", bad, s)
		}
	}
}

func TestMacrosAndContinuations(t *testing.T) {
	s, err := testFixture().parse("good", "title: x\n# why\ndo beat A\nB parks: JoinGroup v9\n    MemberID: nobody,\n    Protocols: [{Name: range, Metadata: 0xff00}]\n  -> B = MemberID\nwait 1500ms\nB answers\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Steps) != 4 || s.Steps[0].Line != "A: Heartbeat v4 MemberID: $A" || len(s.Steps[1].Fields) != 2 || len(s.Steps[1].Captures) != 1 || s.Steps[2].Pause.Milliseconds() != 1500 {
		t.Errorf("got %+v", s)
	}
}

func TestComparison(t *testing.T) {
	s, err := testFixture().parse("c", "title: x\nA: Heartbeat v4\n  = ErrorCode 25\n  ! Name* b* -- Deviation: better\nB: Heartbeat v4\n  ! Other x -- Deviation: old\n")
	if err != nil {
		t.Fatal(err)
	}
	kafka := Transcript{[]Answer{{s.Steps[0].Line, []Leaf{{"ErrorCode", "25"}, {"NameA", "a"}, {"Port", "1"}}}, {s.Steps[1].Line, []Leaf{{"ErrorCode", "0"}}}}}
	kohort := Transcript{[]Answer{{s.Steps[0].Line, []Leaf{{"ErrorCode", "25"}, {"NameA", "bb"}}}, {s.Steps[1].Line, []Leaf{{"ErrorCode", "0"}}}}}
	differences, allowed, complaints := Compare(s, kafka, kohort)
	if len(differences) != 1 || differences[0].Path != "Port" || differences[0].Kohort != nothing || allowed != 1 {
		t.Errorf("differences %v, %d allowed", differences, allowed)
	}
	if len(complaints) != 1 || !strings.Contains(complaints[0], "not needed") {
		t.Errorf("complaints %v", complaints)
	}
	if missing := Unmet(s, kohort); missing != nil {
		t.Errorf("unmet: %v", missing)
	}
	kohort.Steps[0].Leaves[0].Value = "0"
	if missing := Unmet(s, kohort); len(missing) != 1 {
		t.Errorf("unmet: %v", missing)
	}
}

// The same seed draws the same history, and every history can be read.
func TestHistories(t *testing.T) {
	for seed := range uint64(300) {
		lines := Generate(seed, seed%2 == 0)
		if again := Generate(seed, seed%2 == 0); strings.Join(lines, "\n") != strings.Join(again, "\n") {
			t.Fatalf("seed %d draws two histories", seed)
		}
		if _, err := Parse(".", "history", lines); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
