package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// gap is what stands between two columns.
const gap = "  "

// narrowest is the width below which no column is cut.
const narrowest = 6

// table is rows of text under a head.
type table struct {
	head []string
	rows [][]string
}

// newTable returns a table with the given columns.
func newTable(head ...string) *table { return &table{head: head} }

// add appends a row.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write prints the table. Numbers stand to the right. Where width is not 0, the widest columns are cut until it fits.
func (t *table) write(out io.Writer, width int) error {
	widths := t.widths()
	if width > 0 {
		shrink(widths, width-len(gap)*(len(widths)-1))
	}
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString(gap)
			}
			cell = cut(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.numbers(i) {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// widths returns the width that each column would like.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for i, cell := range t.head {
		widths[i] = utf8.RuneCountInString(cell)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// numbers tells whether a column holds nothing but numbers and dashes for absent ones.
func (t *table) numbers(column int) bool {
	found := false
	for _, row := range t.rows {
		if row[column] == absent {
			continue
		}
		if _, err := strconv.ParseFloat(row[column], 64); err != nil {
			return false
		}
		found = true
	}
	return found
}

// shrink takes from the widest columns until their sum is at most total, or none can give.
func shrink(widths []int, total int) {
	sum := 0
	for _, width := range widths {
		sum += width
	}
	for sum > total {
		widest := 0
		for i, width := range widths {
			if width > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			return
		}
		widths[widest]--
		sum--
	}
}

// cut shortens text to a width, with a sign that something is missing.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// absent is printed where there is no value.
const absent = "-"

// number returns a number's text, or the sign that there is none.
func number[T int32 | int64](n *T) string {
	if n == nil {
		return absent
	}
	return strconv.FormatInt(int64(*n), 10)
}

// or returns text, or the sign that there is none.
func or(text string) string {
	if text == "" {
		return absent
	}
	return text
}

// width returns how wide a line may be: of the terminal, or COLUMNS; 0 for no bound.
func (w *world) width() int {
	for _, variable := range w.environ {
		if value, ok := strings.CutPrefix(variable, "COLUMNS="); ok {
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				return n
			}
		}
	}
	file, ok := w.stdout.(*os.File)
	if !ok {
		return 0
	}
	width, _, ok := terminalSize(file)
	if !ok {
		return 0 // no terminal: whoever reads the pipe wants whole names
	}
	return width
}

// onTerminal tells whether a person sits at a stream.
func onTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// tell says something to whoever sits there; a script has no use for it.
func (w *world) tell(text string) {
	if onTerminal(w.stderr) {
		fmt.Fprintf(w.stderr, "kohort: %s\n", text)
	}
}

// show prints a value as JSON, or a table, as the flags ask.
func (s *session) show(value any, t *table) error {
	if s.json {
		return s.w.printJSON(value)
	}
	return t.write(s.w.stdout, s.w.width())
}

// printJSON prints a value as indented JSON.
func (w *world) printJSON(value any) error {
	encoder := json.NewEncoder(w.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
