package main

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// completions are command lines up to the cursor, and what may stand in place of the last word. A stub answers for the
// broker: it knows two names of each kind, and tells which broker it was asked for.
var completions = []struct{ line, want string }{
	{"kohort gr", "groups"},
	{"kohort groups reset", "reset-offsets"},
	{"kohort groups reset-offsets --to-ear", "--to-earliest"},
	{"kohort topics --broker x cre", "create"},
	{"kohort groups list --output ", "json table"},
	{"kohort completion f", "fish"},
	{"kohort consume topics --exi", "--exit"},
	{"kohort consume topics l", ""},
	{"kohort serve --fsync o", "off on"},
	{"kohort groups describe team --broker ", ""},
	{"kohort groups describe g", "groups-a groups-b"},
	{"kohort groups describe -", "--broker --help --output"},
	{"kohort groups list x", ""},
	{"kohort lag -b example:1 e", "example:1"},
	{"kohort consume t", "topics-a topics-b"},
	{"kohort consume orders -g ", "groups-a groups-b"},
	{"kohort groups reset-offsets g -t ", "topics-a topics-b"},
	{"kohort groups delete-offsets ", "--broker --help --output groups-a groups-b topics-a topics-b"},
	{"kohort backup data copy --checkpoint-t", "--checkpoint-timeout"},
	{"kohort serve --data ./kohort.ba", "./kohort.bash"},
}

// shellLimit is how long a shell may take for all of them.
const shellLimit = time.Minute

// zshTyping types lines in a zsh.
//
//go:embed testdata/typing.zsh
var zshTyping string

// inShell runs a program of a shell in a directory with the shell's completion, which is also argument 0 of the program,
// and with the stub. It returns the lines that the program prints.
func inShell(t *testing.T, shell, program string, options []string, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Fatalf("there is no %s, in which completion is tried: install it (apt-get install %s)", shell, shell)
	}
	script, _, code := said(t, "", "", "completion", shell)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	dir := t.TempDir()
	stub := "#!/bin/sh\ntest \"$1\" = completion-names && echo \"$2-a\" && echo \"$2-b\" && echo \"$4\"\n" // the broker is the fourth argument
	for name, content := range map[string]string{"kohort": stub, "kohort.bash": "", "completion": script, "program": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), shellLimit)
	defer cancel()
	command := exec.CommandContext(ctx, path, slices.Concat(options, []string{"program"}, args)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "TERM=xterm")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(args) {
		t.Fatalf("%d answers to %d lines:\n%s", len(lines), len(args), out)
	}
	return lines
}

// typed are the lines of the table.
func typed() (lines []string) {
	for _, c := range completions {
		lines = append(lines, c.line)
	}
	return lines
}

// sorted puts words into order.
func sorted(words string) string {
	return strings.Join(slices.Sorted(slices.Values(strings.Fields(words))), " ")
}

// Completion offers commands, then flags, then the values of those that take one of a few, then names that the broker
// knows: in bash,
func TestBashCompletion(t *testing.T) {
	const program = `source ./completion
for line; do
  read -ra COMP_WORDS <<<"$line"
  case "$line" in *" ") COMP_WORDS+=("") ;; esac
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _kohort
  echo "${COMPREPLY[*]}"
done
`
	for i, got := range inShell(t, "bash", program, []string{"--norc"}, typed()...) {
		if c := completions[i]; sorted(got) != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
}

// in a zsh on a terminal, where Tab is pressed, and completes a word that has one end,
func TestZshCompletion(t *testing.T) {
	for i, got := range inShell(t, "zsh", zshTyping, []string{"-f"}, typed()...) {
		c := completions[i]
		line, offered, _ := strings.Cut(got, "|")
		if sorted(offered) != c.want {
			t.Errorf("%q: got %q, want %q", c.line, offered, c.want)
		}
		if want := c.line[:strings.LastIndex(c.line, " ")+1] + c.want; c.want != "" && !strings.Contains(c.want, " ") && strings.TrimSpace(line) != want {
			t.Errorf("%q: Tab makes it %q, want %q", c.line, line, want)
		}
	}
}

// and in fish, which offers flags after a dash only, and their short names, too.
func TestFishCompletion(t *testing.T) {
	const program = `source ./completion
for line in $argv
  echo (complete -C "$line" | string replace -r '\t.*' '')
end
`
	fish := map[string]string{
		"kohort groups describe -":      "--broker --help --output -b -h -o",
		"kohort groups delete-offsets ": "groups-a groups-b topics-a topics-b",
	}
	for i, got := range inShell(t, "fish", program, []string{"--no-config"}, typed()...) {
		c := completions[i]
		want, differs := fish[c.line]
		if !differs {
			want = c.want
		}
		if sorted(got) != want {
			t.Errorf("%q: got %q, want %q", c.line, got, want)
		}
	}
	out, _, _ := said(t, "", "", "completion", "fish")
	if want := "-n '__kohort_at groups list' -s o -l output -d 'table or json.' -x -a 'table json'\n"; !strings.Contains(out, want) {
		t.Errorf("it lacks %s", want)
	}
}

// A shell that is not known is refused.
func TestOtherShells(t *testing.T) {
	if _, _, code := said(t, "", "", "completion", "tcsh"); code != 2 {
		t.Errorf("exit code %d", code)
	}
}

// The names of groups and topics are printed for completion; without a broker there are none, and nothing is said.
func TestNames(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "one")
	said(t, addr, "", "produce", "other", "one")
	said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1")
	for _, c := range []struct{ addr, kind, want string }{
		{addr, "groups", "team\n"}, {addr, "topics", "orders\nother\n"}, {"127.0.0.1:1", "groups", ""}, {"nonsense", "topics", ""},
	} {
		if out, errOut, code := said(t, c.addr, "", "completion-names", c.kind); out != c.want || errOut != "" || code != 0 {
			t.Errorf("%s at %s: exit code %d, %q, %q", c.kind, c.addr, code, out, errOut)
		}
	}
}
