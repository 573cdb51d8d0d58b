package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCommand is `kohort completion`.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash (source <(kohort completion bash)), zsh (the same) or fish (kohort completion fish | source)."`
}

// Run prints the completion of a shell, made of the same grammar that reads the arguments.
func (c *completionCommand) Run(w *world) error {
	root := newParser(w, func(int) {}).Model.Node
	switch c.Shell {
	case "bash":
		return bashCompletion(w.stdout, root)
	case "zsh":
		if _, err := io.WriteString(w.stdout, "#compdef kohort\nautoload -U +X bashcompinit && bashcompinit\n"); err != nil {
			return err
		}
		return bashCompletion(w.stdout, root)
	default:
		return fishCompletion(w.stdout, root)
	}
}

// word is something that may stand on the command line after a command.
type word struct {
	text   string
	help   string
	values []string // of a flag that takes one of a few
	takes  bool     // a value follows
	files  bool     // which is a file or a directory
}

// words returns the commands and the flags that may follow a command.
func words(node *kong.Node) (commands, flags []word) {
	for _, child := range node.Children {
		if !child.Hidden {
			commands = append(commands, word{text: child.Name, help: child.Help})
		}
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			w := word{text: "--" + flag.Name, help: flag.Help, takes: !flag.IsBool()}
			if flag.Enum != "" {
				w.values = strings.Split(flag.Enum, ",")
			}
			w.files = flag.PlaceHolder == "FILE" || flag.PlaceHolder == "DIR"
			flags = append(flags, w)
		}
	}
	for _, positional := range node.Positional {
		if positional.Enum != "" {
			for value := range strings.SplitSeq(positional.Enum, ",") {
				commands = append(commands, word{text: value})
			}
		}
	}
	return commands, flags
}

// walk calls fn with every command, as the words that lead to it.
func walk(node *kong.Node, path string, fn func(path string, node *kong.Node)) {
	fn(path, node)
	for _, child := range node.Children {
		walk(child, strings.TrimSpace(path+" "+child.Name), fn)
	}
}

// texts returns the words alone.
func texts(lists ...[]word) string {
	var all []string
	for _, list := range lists {
		for _, w := range list {
			all = append(all, w.text)
		}
	}
	return strings.Join(all, " ")
}

// bashCompletion prints a function for bash, which zsh can run, too. It finds the command among the words so far, and
// offers what may follow.
func bashCompletion(out io.Writer, root *kong.Node) error {
	var paths, follow, values strings.Builder
	seen := map[string]bool{}
	walk(root, "", func(path string, node *kong.Node) {
		commands, flags := words(node)
		if path != "" {
			fmt.Fprintf(&paths, "      %q) path=\"$path $word\" ;;\n", " "+path)
		}
		fmt.Fprintf(&follow, "    %q) words=%q ;;\n", strings.TrimRight(" "+path, " "), texts(commands, flags))
		for _, flag := range flags {
			switch {
			case seen[path+flag.text]:
			case flag.values != nil:
				fmt.Fprintf(&values, "    %q) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n",
					strings.TrimLeft(path+" "+flag.text, " "), strings.Join(flag.values, " "))
			case flag.files:
				fmt.Fprintf(&values, "    %q) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", strings.TrimLeft(path+" "+flag.text, " "))
			case flag.takes:
				fmt.Fprintf(&values, "    %q) return ;;\n", strings.TrimLeft(path+" "+flag.text, " "))
			}
			seen[path+flag.text] = true
		}
	})
	_, err := fmt.Fprintf(out, `_kohort() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
%s    esac
  done
  case "${path# } $prev" in
%s  esac
  case "$path" in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _kohort kohort
`, paths.String(), values.String(), follow.String())
	return err
}

// fishCompletion prints rules for fish: each holds after its command and before any that could follow.
func fishCompletion(out io.Writer, root *kong.Node) error {
	var b strings.Builder
	b.WriteString("complete -c kohort -f\n")
	walk(root, "", func(path string, node *kong.Node) {
		commands, flags := words(node)
		var conditions []string
		for name := range strings.FieldsSeq(path) {
			conditions = append(conditions, "__fish_seen_subcommand_from "+name)
		}
		if path == "" {
			conditions = append(conditions, "__fish_use_subcommand")
		}
		if len(commands) > 0 && path != "" {
			conditions = append(conditions, "not __fish_seen_subcommand_from "+texts(commands))
		}
		when := strings.Join(conditions, "; and ")
		for _, w := range commands {
			fmt.Fprintf(&b, "complete -c kohort -n '%s' -a %s -d '%s'\n", when, w.text, quoted(w.help))
		}
		for _, w := range flags {
			line := fmt.Sprintf("complete -c kohort -n '%s' -l %s -d '%s'", when, strings.TrimPrefix(w.text, "--"), quoted(w.help))
			switch {
			case w.values != nil:
				line += " -x -a '" + strings.Join(w.values, " ") + "'"
			case w.files:
				line += " -r -F"
			case w.takes:
				line += " -x"
			}
			b.WriteString(line + "\n")
		}
	})
	_, err := io.WriteString(out, b.String())
	return err
}

// quoted returns text that may stand between single quotes in fish.
func quoted(text string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) }
