package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results are the figures of all rounds.
type results struct {
	list    []scenario
	figures map[[2]string][]float64
}

func newResults(list []scenario) *results {
	return &results{list: list, figures: map[[2]string][]float64{}}
}

func (r *results) add(scenario, server string, figure float64) {
	k := [2]string{scenario, server}
	r.figures[k] = append(r.figures[k], figure)
}

// median returns a figure, its lowest and highest round, and whether there is one.
func (r *results) median(scenario, server string) (median, low, high float64, ok bool) {
	f := slices.Sorted(slices.Values(r.figures[[2]string{scenario, server}]))
	if len(f) == 0 {
		return 0, 0, 0, false
	}
	return f[len(f)/2], f[0], f[len(f)-1], true
}

// markdown is the table of figures, then that of the bars.
func (r *results) markdown() string {
	var used []string
	for _, name := range serverNames {
		if slices.ContainsFunc(r.list, func(s scenario) bool { _, _, _, ok := r.median(s.name, name); return ok }) {
			used = append(used, name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| scenario | unit | %s |\n|---|---|%s\n", strings.Join(used, " | "), strings.Repeat("---|", len(used)))
	for _, s := range r.list {
		fmt.Fprintf(&b, "| %s | %s |", s.name, s.unit)
		for _, name := range used {
			if m, low, high, ok := r.median(s.name, name); ok {
				fmt.Fprintf(&b, " %s (%s-%s) |", short(m), short(low), short(high))
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| bar | asked | reached | |\n|---|---|---|---|\n")
	for _, s := range r.list {
		for _, bar := range s.bars {
			b.WriteString(r.judge(s, bar))
		}
	}
	return b.String()
}

// judge is a row of the second table; empty if one of the two was not measured.
func (r *results) judge(s scenario, bar bar) string {
	figure, _, _, ok := r.median(s.name, bar.server)
	if !ok {
		return ""
	}
	what, asked, reached := fmt.Sprintf("%s, %s", s.name, bar.server), fmt.Sprintf("%g %s", bar.factor, s.unit), figure
	text := short(figure) + " " + s.unit
	if bar.other != "" {
		other, _, _, ok := r.median(s.name, bar.other)
		if !ok || other == 0 {
			return ""
		}
		reached = figure / other
		asked, text = fmt.Sprintf("%g x %s", bar.factor, bar.other), fmt.Sprintf("%.2f", reached)
	}
	good := reached >= bar.factor
	if s.less {
		good = reached <= bar.factor
	}
	verdict := "**below**"
	if good {
		verdict = "ok"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", what, asked, text, verdict)
}

// short prints a figure with three digits.
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

// write puts the table into a Markdown file.
func (r *results) write(path string) error {
	text := fmt.Sprintf(`# Measured

Written by `+"`make bench`"+` on %s: %s, %s/%s, %d processors, client and broker on the same ones. Medians of %d interleaved rounds
of %v, with the lowest and highest round. Every result was read back and was right. Absolute figures differ from machine
to machine and from day to day; ratios within a run are what counts. Durable are `+"`kohort serve`, `kfake sync` and `floor, durable`"+`:
the others do not wait for the disk.

%s`, time.Now().UTC().Format("2006-01-02"), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *rounds, *duration, r.markdown())
	return os.WriteFile(path, []byte(text), 0o644)
}
