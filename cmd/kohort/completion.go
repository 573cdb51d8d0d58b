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
	short  string // of a flag: -b
	help   string
	values []string // of a flag that takes one of a few
	takes  bool     // a value follows
	files  bool     // which is a file or a directory
	names  string   // which is the name of one of these: groups or topics
}

// named says of what something is the name, by how the help calls it.
func named(placeholder string) string {
	switch {
	case strings.EqualFold(placeholder, "group"):
		return "groups"
	case strings.HasPrefix(strings.ToUpper(placeholder), "TOPIC"):
		return "topics"
	}
	return ""
}

// operands returns of what the arguments of a command are the names.
func operands(node *kong.Node) []string {
	var kinds []string
	for _, positional := range node.Positional {
		if kind := named(positional.Name); kind != "" && node.Name != "create" { // what is created has no name yet
			kinds = append(kinds, kind)
		}
	}
	return kinds
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
			if flag.Short != 0 {
				w.short = "-" + string(flag.Short)
			}
			if flag.Enum != "" {
				w.values = strings.Split(flag.Enum, ",")
			}
			w.files = flag.PlaceHolder == "FILE" || flag.PlaceHolder == "DIR"
			w.names = named(flag.PlaceHolder)
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
		if child.Hidden {
			continue
		}
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

// bashCompletion prints a function for bash, which zsh can run, too. (There $path is another name of $PATH, and a variable
// is one word.) It finds the command among the words so far, and
// offers what may follow.
func bashCompletion(out io.Writer, root *kong.Node) error {
	var paths, follow, values strings.Builder
	seen := map[string]bool{}
	walk(root, "", func(path string, node *kong.Node) {
		commands, flags := words(node)
		if path != "" {
			fmt.Fprintf(&paths, "      %q) sofar=\"$sofar $word\" ;;\n", " "+path)
		}
		fmt.Fprintf(&follow, "    %q) words=%q; names=%q ;;\n",
			strings.TrimRight(" "+path, " "), texts(commands, flags), strings.Join(operands(node), " "))
		for _, flag := range flags {
			after := fmt.Sprintf("%q", strings.TrimLeft(path+" "+flag.text, " "))
			if flag.short != "" {
				after += fmt.Sprintf("|%q", strings.TrimLeft(path+" "+flag.short, " "))
			}
			switch {
			case seen[path+flag.text]:
			case flag.values != nil:
				fmt.Fprintf(&values, "    %s) words=%q; names=\"\" ;;\n", after, strings.Join(flag.values, " "))
			case flag.files:
				fmt.Fprintf(&values, "    %s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", after)
			case flag.names != "":
				fmt.Fprintf(&values, "    %s) words=\"\"; names=%q ;;\n", after, flag.names)
			case flag.takes:
				fmt.Fprintf(&values, "    %s) return ;;\n", after)
			}
			seen[path+flag.text] = true
		}
	})
	_, err := fmt.Fprintf(out, `_kohort() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" sofar="" word="" words="" names="" before=""
  local -a broker=()
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$before" in -b|--broker) broker=(--broker "$word") ;; esac
    before="$word"
    case "$sofar $word" in
%s    esac
  done
  case "$sofar" in
%s  esac
  case "${sofar# } $prev" in
%s  esac
  if [[ "$cur" != -* ]]; then
    for word in groups topics; do # zsh would take $names for one word
      case " $names " in *" $word "*) words="$words $(kohort completion-names "$word" "${broker[@]}" 2>/dev/null)" ;; esac
    done
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _kohort kohort
`, paths.String(), follow.String(), values.String())
	return err
}

// fishCompletion prints rules for fish, each of which holds after its command. The function that says whether finds the
// command as that for bash does.
func fishCompletion(out io.Writer, root *kong.Node) error {
	var rules strings.Builder
	var paths []string
	walk(root, "", func(path string, node *kong.Node) {
		commands, flags := words(node)
		if path != "" {
			paths = append(paths, fmt.Sprintf("' %s'", path))
		}
		rule := fmt.Sprintf("complete -c kohort -n '%s'", strings.TrimSpace("__kohort_at "+path))
		for _, kind := range operands(node) {
			fmt.Fprintf(&rules, "%s -a '(__kohort_names %s)'\n", rule, kind)
		}
		for _, w := range commands {
			fmt.Fprintf(&rules, "%s -a %s -d '%s'\n", rule, w.text, quoted(w.help))
		}
		for _, w := range flags {
			line := rule
			if w.short != "" {
				line += " -s " + strings.TrimPrefix(w.short, "-")
			}
			line += fmt.Sprintf(" -l %s -d '%s'", strings.TrimPrefix(w.text, "--"), quoted(w.help))
			switch {
			case w.values != nil:
				line += " -x -a '" + strings.Join(w.values, " ") + "'"
			case w.files:
				line += " -r -F"
			case w.names != "":
				line += " -x -a '(__kohort_names " + w.names + ")'"
			case w.takes:
				line += " -x"
			}
			rules.WriteString(line + "\n")
		}
	})
	_, err := fmt.Fprintf(out, `function __kohort_at
  set -l sofar ''
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    if contains -- "$sofar $word" %s
      set sofar "$sofar $word"
    end
  end
  test (string trim -- "$sofar") = "$argv"
end
function __kohort_names
  set -l broker
  set -l before ''
  for word in (commandline -opc)
    if contains -- "$before" -b --broker
      set broker --broker $word
    end
    set before $word
  end
  kohort completion-names $argv[1] $broker 2>/dev/null
end
complete -c kohort -f
%s`, strings.Join(paths, " "), rules.String())
	return err
}

// quoted returns text that may stand between single quotes in fish.
func quoted(text string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) }
