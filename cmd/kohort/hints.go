package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// hint is what somebody means who writes a word that there is not.
type hint struct {
	under string // the command below which it is written; "" for any
	words []string
	meant string
}

// hints are for words that people bring along from other tools, or from common sense. The first one that fits is given.
var hints = []hint{
	{"", []string{"start", "run", "up", "broker", "server"}, "`kohort dev` starts a broker in memory, `kohort serve --data DIR` a durable one"},
	{"", []string{"list", "ls", "describe", "members", "delete"}, "of what? `kohort groups list`, `kohort topics list` and so on"},
	{"", []string{"reset", "reset-offsets"}, "it is `kohort groups reset-offsets GROUP`"},
	{"", []string{"create"}, "it is `kohort topics create TOPIC`"},
	{"", []string{"offsets"}, "`kohort groups describe GROUP` shows a group's offsets, `kohort groups reset-offsets GROUP` moves them"},
	{"", []string{"verify", "dump"}, "it is `kohort log verify DIR` and `kohort log dump FILE`"},
	{"", []string{"--port", "-p"}, "the port is part of the address: --addr 127.0.0.1:PORT"},
	{"consume", []string{"--topic", "-t"}, "the topic has no flag: `kohort consume TOPIC`"},
	{"produce", []string{"--topic", "-t"}, "the topic has no flag: `kohort produce TOPIC`"},
	{"consume", []string{"--from-beginning"}, "it reads from the beginning unless --from says otherwise"},
	{"groups describe", []string{"--group", "-g"}, "the group has no flag: `kohort groups describe GROUP`"},
	{"groups", []string{"--group", "-g"}, "the group has no flag: `kohort groups COMMAND GROUP`"},
	{"lag", []string{"--group", "-g"}, "the group has no flag: `kohort lag GROUP`"},
}

// misread says what is wrong with arguments, what may be meant, and where to read more.
func misread(err error) string {
	path, positional := "", ""
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		for _, element := range parse.Context.Path {
			if element.Command != nil {
				path += " " + element.Command.Name
				positional = arguments(element.Command)
			}
		}
	}
	text := err.Error()
	for _, h := range hints {
		if under := strings.TrimSpace(path); h.applies(under) && slices.Contains(h.words, offending(text)) {
			text += "; " + h.meant
			break
		}
	}
	switch word := offending(text); {
	case strings.HasPrefix(text, "expected ") && positional != "":
		text += fmt.Sprintf("; it is `kohort%s %s`", path, positional)
	case path == " serve" && strings.HasPrefix(text, "unexpected argument "):
		text += fmt.Sprintf("; it is `kohort serve --data %s`", word)
	case path == " wait" && strings.HasPrefix(text, "unexpected argument "):
		text += fmt.Sprintf("; it is `kohort wait --group %s`", word)
	}
	return fmt.Sprintf("%s; see `kohort help%s`", text, path)
}

// applies tells whether the hint is for a word below a command. One for any command is for the words of none, and for
// flags.
func (h *hint) applies(path string) bool {
	if h.under != "" {
		return path == h.under || strings.HasPrefix(path, h.under+" ")
	}
	return path == "" || strings.HasPrefix(h.words[0], "-")
}

// offending returns the word that a complaint is about.
func offending(text string) string {
	for _, prefix := range []string{"unexpected argument ", "unknown flag "} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			word, _, _ := strings.Cut(rest, ",")
			word, _, _ = strings.Cut(word, ";")
			return word
		}
	}
	return ""
}

// arguments returns what must follow a command: its commands, or its arguments as the help writes them.
func arguments(node *kong.Node) string {
	var names []string
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	if len(names) > 0 {
		return strings.Join(names, "|")
	}
	for _, p := range node.Positional {
		names = append(names, p.Summary())
	}
	return strings.Join(names, " ")
}
