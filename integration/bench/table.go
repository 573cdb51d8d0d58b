package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// results are the figures of all rounds.
type results struct {
	rows    []row
	figures map[[2]string][]float64 // row and server -> one figure a round
	took    time.Duration
}

func newResults(list []measure) *results {
	r := &results{figures: map[[2]string][]float64{}}
	for _, m := range list {
		r.rows = append(r.rows, m.rows...)
	}
	return r
}

// add files what one load on one server gave.
func (r *results) add(m measure, server string, got result) {
	for _, row := range m.rows {
		k := [2]string{row.name, server}
		r.figures[k] = append(r.figures[k], row.value(got))
	}
}

// spread is a median with the lowest and the highest round.
type spread struct {
	median, low, high float64
	rounds            int
}

func spreadOf(figures []float64) spread {
	f := slices.Sorted(slices.Values(figures))
	n := len(f)
	if n == 0 {
		return spread{}
	}
	return spread{(f[(n-1)/2] + f[n/2]) / 2, f[0], f[n-1], n}
}

func (r *results) of(row, server string) spread { return spreadOf(r.figures[[2]string{row, server}]) }

// ratio says how many times better than the other a server is, round by round where both took part in all of them: rounds
// differ more than servers do. Where less is better it is the other way round, so that above 1 is always better.
func (r *results) ratio(row row, server, other string) spread {
	a, b := r.figures[[2]string{row.name, server}], r.figures[[2]string{row.name, other}]
	if len(a) != len(b) && len(a) > 0 && len(b) > 0 {
		a, b = []float64{spreadOf(a).median}, []float64{spreadOf(b).median}
	}
	var each []float64
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if row.less {
			x, y = y, x
		}
		if y > 0 {
			each = append(each, x/y)
		}
	}
	return spreadOf(each)
}

// verdict is what became of a bar.
type verdict struct {
	what, asked, reached string
	ratio                float64 // reached to asked; 1 or more is good
}

func (v verdict) good() bool { return v.ratio >= 1 }

// judge holds a row against one of its bars; false if one of the two was not measured.
func (r *results) judge(row row, bar bar) (verdict, bool) {
	v := verdict{what: row.name + ", " + bar.server}
	if bar.other != "" {
		got := r.ratio(row, bar.server, bar.other)
		v.asked = fmt.Sprintf("%g x %s", bar.factor, bar.other)
		v.reached, v.ratio = fmt.Sprintf("%.2f (%.2f-%.2f)", got.median, got.low, got.high), got.median/bar.factor
		return v, got.rounds > 0
	}
	got := r.of(row.name, bar.server)
	v.asked, v.reached = fmt.Sprintf("at most %g %s", bar.factor, row.unit), got.String()+" "+row.unit
	if got.median > 0 {
		v.ratio = bar.factor / got.median
	}
	return v, got.rounds > 0
}

// bars is the table of the bars and what became of them.
func (r *results) bars() string {
	var b strings.Builder
	b.WriteString("| bar | asked | reached | |\n|---|---|---|---|\n")
	for _, row := range r.rows {
		for _, bar := range row.bars {
			if v, ok := r.judge(row, bar); ok {
				mark := "**below**"
				if v.good() {
					mark = "ok"
				}
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", v.what, v.asked, v.reached, mark)
			}
		}
	}
	return b.String()
}

// ratios is the table of ratios; those that a bar asks for say how much it asks.
func (r *results) ratios() string {
	var head []string
	var used [][2]string
	for _, p := range pairs {
		if slices.ContainsFunc(r.rows, func(row row) bool { return r.ratio(row, p[0], p[1]).rounds > 0 }) {
			used = append(used, p)
			head = append(head, p[0]+" : "+p[1])
		}
	}
	return r.table("| times better | "+strings.Join(head, " | ")+" |", len(head)+1, func(row row) []string {
		var cells []string
		for _, p := range used {
			got := r.ratio(row, p[0], p[1])
			cell := ""
			if got.rounds > 0 {
				cell = times(got.median)
			}
			for _, bar := range row.bars {
				if bar.server != p[0] || bar.other != p[1] || got.rounds == 0 {
					continue
				}
				if got.median >= bar.factor {
					cell += fmt.Sprintf(" ≥ %g", bar.factor)
				} else {
					cell = fmt.Sprintf("**%s < %g**", cell, bar.factor)
				}
			}
			cells = append(cells, cell)
		}
		return cells
	})
}

// figuresTable is the table of medians, with the lowest and highest round.
func (r *results) figuresTable() string {
	var used []string
	for _, name := range serverNames {
		if slices.ContainsFunc(r.rows, func(row row) bool { return r.of(row.name, name).rounds > 0 }) {
			used = append(used, name)
		}
	}
	return r.table("| median (lowest-highest) | "+strings.Join(used, " | ")+" |", len(used)+1, func(row row) []string {
		var cells []string
		for _, name := range used {
			cells = append(cells, r.of(row.name, name).String())
		}
		return cells
	})
}

// table makes a line of each row that has something in a cell.
func (r *results) table(head string, columns int, cells func(row) []string) string {
	var b strings.Builder
	b.WriteString(head + "\n|" + strings.Repeat("---|", columns) + "\n")
	for _, row := range r.rows {
		c := cells(row)
		if strings.Join(c, "") != "" {
			fmt.Fprintf(&b, "| %s, %s | %s |\n", row.name, row.unit, strings.Join(c, " | "))
		}
	}
	return b.String()
}

// String prints a spread; nothing if there was no round, and no range if there was one.
func (s spread) String() string {
	switch s.rounds {
	case 0:
		return ""
	case 1:
		return short(s.median)
	}
	return fmt.Sprintf("%s (%s-%s)", short(s.median), short(s.low), short(s.high))
}

// times prints a ratio.
func times(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// short prints a figure with three digits, or two if it is small.
func short(f float64) string {
	switch {
	case f >= 100_000:
		return fmt.Sprintf("%.0fk", f/1000)
	case f >= 1000:
		return fmt.Sprintf("%.1fk", f/1000)
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.1f", f)
}
