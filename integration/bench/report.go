package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// write puts the tables into a Markdown file, and the plot beside it. What was written by hand, the reasons for what is below,
// is in a third file of theirs, NAME-notes.md, which is taken into the first as it is.
func (r *results) write(path string) error {
	base := strings.TrimSuffix(path, ".md")
	notes, err := os.ReadFile(base + "-notes.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(base+".svg", []byte(r.plot()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(r.markdown(filepath.Base(base), string(notes))), 0o644)
}

// markdown is the whole document.
func (r *results) markdown(name, notes string) string {
	withKafka := ""
	if os.Getenv("KAFKA") == "1" {
		withKafka = "KAFKA=1 "
	}
	intro := fmt.Sprintf(`# Measured

`+"`%smake bench`"+` wrote this page and the plot on %s in %v: %s, %s/%s, %d processors, client and broker on the same ones.
Each round puts every load for %v on each server in turn; a figure is the median of %d rounds, with the lowest and the
highest. Everything was read back and was right. Absolute figures differ from machine to machine and from day to day: what
counts are ratios within a round.

Durable, so that no answer leaves before the disk holds it, are `+"`kohort serve`, `kfake sync` and `floor, durable`"+`; the others do
not wait for the disk. The floor does for a commit or a heartbeat only what no broker can leave out: read the frame, one write and
one fdatasync for all who wait, answer. Memory is resident: a second after the start, after the last read, or at the end of the
minute with members. These heartbeat every 3 s, or also commit every 5 s, on all servers in the same minute, once. A million commits
are replayed three times by Kohort; kfake and Kafka, which start or replay slowly, do it once. "Back" is when a sample of 500
groups has its offsets, before all are read and checked.

## Bars

`, withKafka, time.Now().UTC().Format("2006-01-02"), r.took, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *duration, *rounds)
	parts := []string{
		intro + r.bars(),
		"## How many times better\n\nAbove 1 the first is better, also where less is. \"≥\" and \"<\" are bars.\n\n" +
			"![the ratios below as bars](" + name + ".svg)\n\n" + r.ratios(),
		"## Figures\n\n" + r.figuresTable(),
	}
	if notes != "" {
		parts = append(parts, strings.TrimSpace(notes)+"\n")
	}
	return strings.Join(parts, "\n")
}
