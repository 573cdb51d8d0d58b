package settings

import (
	"fmt"
	"strings"
)

// The comments between which the README holds the table.
const (
	MarkdownBegin = "<!-- settings:begin -->"
	MarkdownEnd   = "<!-- settings:end -->"
)

// Markdown returns the settings as tables for the README: first what is honoured, then what is only described.
func Markdown() string {
	s, _, err := Load(Serve)
	if err != nil {
		panic(fmt.Sprintf("settings: the defaults are not valid: %v", err))
	}
	var honoured, described strings.Builder
	honoured.WriteString("| property | type | default | allowed | what it does | source |\n|---|---|---|---|---|---|\n")
	described.WriteString("| property | type | value unless set | why it changes nothing | source |\n|---|---|---|---|---|\n")
	for _, e := range s.Effective() {
		origin := strings.ReplaceAll(e.Origin, "|", "\\|")
		if e.Fixed {
			fmt.Fprintf(&described, "| `%s` | %s | %s | %s | %s |\n", e.Name, e.Type, e.markdownDefault(), e.Doc, origin)
			continue
		}
		name := "`" + e.Name + "`"
		for _, alias := range e.Aliases {
			name += ", `" + alias + "`"
		}
		fmt.Fprintf(&honoured, "| %s | %s | %s | %s | %s | %s |\n", name, e.Type, e.markdownDefault(), e.Range, e.Doc, origin)
	}
	return honoured.String() + "\nAccepted and described, without effect:\n\n" + described.String()
}

// markdownDefault returns the default with its unit and what `kohort dev` changes.
func (e *Effective) markdownDefault() string {
	if e.NoDefault {
		return "not set"
	}
	text := e.Default
	if text == "9223372036854775807" || text == "2147483647" {
		text = "no limit"
	} else if e.Unit != "" {
		text += " " + e.Unit
	}
	if e.Dev != "" {
		text += fmt.Sprintf(" (dev: %s %s)", e.Dev, e.Unit)
	}
	return text
}
