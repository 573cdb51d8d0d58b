package main

import "testing"

// A lag that is not known makes the sum unknown, unless the partition is known to be nothing.
func TestTotalLag(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		partition lagPartition
		want      string
	}{
		"committed":            {lagPartition{Committed: n(4), Start: n(0), End: n(10)}, "6"},
		"before the log start": {lagPartition{Committed: n(4), Start: n(7), End: n(10)}, "3"},
		"beyond the end":       {lagPartition{Committed: n(14), Start: n(7), End: n(10)}, "0"},
		"nothing committed":    {lagPartition{Start: n(0), End: n(10)}, absent},
		"nothing to read":      {lagPartition{Start: n(7), End: n(7)}, "0"},
		"no such topic":        {lagPartition{Committed: n(4), Error: "UNKNOWN_TOPIC_OR_PARTITION"}, "0"},
	} {
		known := lagPartition{Committed: n(5), Start: n(0), End: n(5)}
		known.measure()
		c.partition.measure()
		v := lagView{Partitions: []*lagPartition{&known, &c.partition}}
		if got := number(v.total()); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// Ages are read as Go and as ISO 8601 write them.
func TestParseAge(t *testing.T) {
	for text, want := range map[string]string{
		"90m": "1h30m0s", "P1D": "24h0m0s", "PT2H": "2h0m0s", "p1dt2h30m": "26h30m0s", "0s": "0s",
	} {
		if got, err := parseAge(text); err != nil || got.String() != want {
			t.Errorf("%s: got %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "P", "P1", "PT", "-5m", "P-1D", "1d", "PT5"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
