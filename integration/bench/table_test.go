package main

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// made are two rows with figures made up: rates in three rounds, and a time that has a bar of its own.
func made(t *testing.T) *results {
	t.Helper()
	rate := measure{rows: []row{{
		name: "rate", unit: "1/s", value: perSecond, bars: []bar{{serve, floorDisk, 0.8}, {serve, kfakeSync, 30}, {serve, kafka, 1}},
	}}}
	wait := measure{rows: []row{{
		name: "wait <1>", unit: "ms", value: extra("ms"), less: true, bars: []bar{{serve, "", 200}, {dev, "", 200}},
	}}}
	r := newResults([]measure{rate, wait})
	for server, answers := range map[string][]string{
		serve:     {`{"ops_per_s": 900}`, `{"ops_per_s": 400}`, `{"ops_per_s": 70}`},
		floorDisk: {`{"ops_per_s": 1000}`, `{"ops_per_s": 500}`, `{"ops_per_s": 100}`},
		kfakeSync: {`{"ops_per_s": 45}`, `{"ops_per_s": 10}`, `{"ops_per_s": 35}`},
	} {
		for _, text := range answers {
			r.add(rate, server, parsed(t, text))
		}
	}
	r.add(wait, serve, parsed(t, `{"extra": {"ms": 250}}`))
	r.add(wait, dev, parsed(t, `{"extra": {"ms": 100}}`))
	r.add(wait, kfakeMem, parsed(t, `{"extra": {"ms": 300}}`))
	return r
}

func parsed(t *testing.T, text string) result {
	t.Helper()
	var got result
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    spread
		text    string
	}{
		{nil, spread{}, ""},
		{[]float64{7}, spread{7, 7, 7, 1}, "7.0"},
		{[]float64{400, 100}, spread{250, 100, 400, 2}, "250 (100-400)"},
		{[]float64{5000, 1, 123456}, spread{5000, 1, 123456, 3}, "5.0k (1.0-123k)"},
	} {
		got := spreadOf(c.figures)
		if got != c.want || got.String() != c.text {
			t.Errorf("%v: %+v %q, want %+v %q", c.figures, got, got, c.want, c.text)
		}
	}
}

func TestRatio(t *testing.T) {
	r := made(t)
	for _, c := range []struct {
		row           int
		server, other string
		want          spread
	}{
		{0, serve, floorDisk, spread{0.8, 0.7, 0.9, 3}}, // of each round, not of medians, which would be the same
		{0, serve, kfakeSync, spread{20, 2, 40, 3}},
		{0, serve, kafka, spread{}}, // was not there
		{1, dev, kfakeMem, spread{3, 3, 3, 1}},
	} {
		if got := r.ratio(r.rows[c.row], c.server, c.other); got != c.want {
			t.Errorf("%s : %s: %+v, want %+v", c.server, c.other, got, c.want)
		}
	}
	// One that took part in fewer rounds is compared by its median.
	r.figures[[2]string{"rate", kafka}] = []float64{200}
	if got := r.ratio(r.rows[0], serve, kafka); got != (spread{2, 2, 2, 1}) {
		t.Errorf("against one round: %+v", got)
	}
}

func TestVerdicts(t *testing.T) {
	r := made(t)
	want := []string{
		"| rate, kohort serve | 0.8 x floor, durable | 0.80 (0.70-0.90) | ok |",
		"| rate, kohort serve | 30 x kfake sync | 20.00 (2.00-40.00) | **below** |",
		"| wait <1>, kohort serve | at most 200 ms | 250 ms | **below** |",
		"| wait <1>, kohort dev | at most 200 ms | 100 ms | ok |",
	}
	if got := strings.Split(strings.TrimSpace(r.bars()), "\n")[2:]; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMarkdown(t *testing.T) {
	text := made(t).markdown("bench", "## Why\n\nBecause.\n")
	for _, line := range []string{
		"| times better | kohort serve : floor, durable | kohort serve : kfake sync | kohort dev : kfake memory |",
		"| rate, 1/s | 0.80 ≥ 0.8 | **20 < 30** |  |",
		"| wait <1>, ms |  |  | 3.00 |",
		"| median (lowest-highest) | kohort serve | kohort dev | kfake memory | kfake sync | floor, durable |",
		"| rate, 1/s | 400 (70.0-900) |  |  | 35.0 (10.0-45.0) | 500 (100-1.0k) |",
		"![the ratios below as bars](bench.svg)",
		"Because.",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestPlot(t *testing.T) {
	text := made(t).plot()
	count := map[string]int{}
	var marks []string
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, text)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		class := ""
		for _, a := range start.Attr {
			if a.Name.Local == "class" {
				class = a.Value
			}
			if a.Name.Local == "d" && class == "mark" {
				marks = append(marks, a.Value)
			}
		}
		count[start.Name.Local+" "+class]++
	}
	// Two bars of the first row and two of the second, each twice with the legend; three of them have a mark.
	for what, want := range map[string]int{"rect p0": 2, "rect p2": 2, "rect p5": 2, "rect p6": 2, "rect p3": 0, "path mark": 3, "path one": 1} {
		if count[what] != want {
			t.Errorf("%d of %q, want %d", count[what], what, want)
		}
	}
	// A mark at 30 stands right of one at 0.8.
	if len(marks) == 3 && !(place(marks[0]) < place(marks[2]) && place(marks[2]) < place(marks[1])) {
		t.Errorf("marks at 0.8, 30 and 1 stand at %v", marks)
	}
}

// place is the x of an absolute path that goes down, or -1.
func place(path string) float64 {
	number, _, _ := strings.Cut(strings.TrimPrefix(path, "M"), " ")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return -1
	}
	return x
}

// Every row has a name of its own, and every bar is about servers that the row is measured on.
func TestPlan(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range append(plan(), idlePlan()...) {
		for _, row := range m.rows {
			if seen[row.name] {
				t.Errorf("two rows %q", row.name)
			}
			seen[row.name] = true
			for _, bar := range row.bars {
				if !slices.Contains(m.servers, bar.server) || bar.other != "" && !slices.Contains(m.servers, bar.other) {
					t.Errorf("%s: the bar %v is about a server without figure", row.name, bar)
				}
				if (bar.other == "") != row.less {
					t.Errorf("%s: the bar %v is of the wrong kind", row.name, bar)
				}
			}
		}
	}
}

func TestServersOfARound(t *testing.T) {
	m := measure{servers: replayFew, process: true, times: 2}
	for _, c := range []struct {
		round int
		kafka bool
		want  []string
	}{
		{0, true, []string{serve, kfakeDir, kafka}}, {0, false, []string{serve, kfakeDir}}, {1, true, []string{serve}}, {2, true, nil},
	} {
		if got := m.in(c.round, c.kafka); !slices.Equal(got, c.want) {
			t.Errorf("round %d: %v, want %v", c.round, got, c.want)
		}
	}
}
