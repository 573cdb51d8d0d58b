package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// said runs kohort and returns what it printed, with its exit code.
func said(t *testing.T, addr, stdin string, args ...string) (string, string, int) {
	t.Helper()
	out, errOut := newTerminal(), newTerminal()
	code := run(&world{
		args: args, environ: []string{"KOHORT_BROKER=" + addr}, stdin: strings.NewReader(stdin), stdout: out, stderr: errOut,
		signals: make(chan os.Signal), patience: 20 * time.Millisecond,
	})
	return out.String(), errOut.String(), code
}

// The whole help fits a screen, and names every command.
func TestOverview(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		out, _, code := said(t, "", "", args...)
		if out != overview || code != 0 {
			t.Errorf("kohort %v: exit code %d, %q", args, code, out)
		}
	}
	lines := strings.Split(strings.TrimSuffix(overview, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
	words := strings.FieldsFunc(overview, func(r rune) bool { return strings.ContainsRune(" \n|,", r) })
	walk(newParser(&world{}, nil).Model.Node, "", func(path string, node *kong.Node) {
		found := path == "" || path == "config serve"
		for _, w := range words {
			found = found || strings.Trim(w, "[]()") == node.Name
		}
		if !found {
			t.Errorf("the overview lacks `kohort %s`", path)
		}
	})
	out, _, code := said(t, "", "", "help", "groups", "reset-offsets")
	if code != 0 || !strings.Contains(out, "--to-earliest") || !strings.Contains(out, "--execute") {
		t.Errorf("help of a command: exit code %d, %s", code, out)
	}
}

// Completion offers commands, then flags, then the values of those that take one of a few.
func TestBashCompletion(t *testing.T) {
	script, _, code := said(t, "", "", "completion", "bash")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	file := filepath.Join(t.TempDir(), "kohort.bash")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"kohort gr":                             "groups",
		"kohort groups reset":                   "reset-offsets",
		"kohort groups reset-offsets --to-ear":  "--to-earliest",
		"kohort topics --broker x cre":          "create",
		"kohort groups list --output ":          "table json",
		"kohort completion f":                   "fish",
		"kohort consume topics --exi":           "--exit",
		"kohort serve --fsync o":                "on off",
		"kohort groups describe team --broker ": "",
	} {
		words := strings.Split(line, " ")
		command := exec.CommandContext(t.Context(), "bash", "-c",
			`source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kohort; echo "${COMPREPLY[*]}"`)
		command.Args = append(append(command.Args, file), words...)
		out, err := command.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: got %q, want %q, %v", line, got, want, err)
		}
	}
}

// Fish and zsh get the same words; a shell that is not known is refused.
func TestOtherShells(t *testing.T) {
	out, _, _ := said(t, "", "", "completion", "fish")
	for _, want := range []string{
		"complete -c kohort -n '__fish_use_subcommand' -a groups -d 'See and change consumer groups.'",
		"__fish_seen_subcommand_from groups; and __fish_seen_subcommand_from reset-offsets' -l to-earliest",
		"-l output -d 'table or json.' -x -a 'table json'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("fish lacks %s", want)
		}
	}
	if out, _, _ := said(t, "", "", "completion", "zsh"); !strings.HasPrefix(out, "#compdef kohort\n") || !strings.Contains(out, "bashcompinit") {
		t.Errorf("zsh: %.80s", out)
	}
	if _, _, code := said(t, "", "", "completion", "tcsh"); code != 2 {
		t.Errorf("exit code %d", code)
	}
}

// A table is cut to the terminal at its widest columns; what is narrow stays whole.
func TestTableFits(t *testing.T) {
	table := newTable("NAME", "N", "LONG")
	table.add("short", "12", strings.Repeat("x", 50))
	table.add("a much longer name than that", "-", "y")
	for _, width := range []int{0, 60, 30, 4} {
		var b strings.Builder
		if err := table.write(&b, width); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, line := range lines {
			if most := max(width, 2*narrowest+2+2*len(gap)); width > 0 && utf8.RuneCountInString(line) > most {
				t.Errorf("width %d: %q", width, line)
			}
		}
		if cut := strings.Contains(b.String(), "…"); cut != (width > 0) {
			t.Errorf("width %d: cut: %v", width, cut)
		}
		if !strings.Contains(lines[1], " 12 ") || !strings.HasPrefix(lines[1], "short ") {
			t.Errorf("width %d: %q", width, lines[1])
		}
	}
	if got := fit("1\n2\n3\n4\n5\n", 4); got != "1\n2\n... and 3 lines more; name groups, or use -o json\n" {
		t.Errorf("got %q", got)
	}
}

// While a peer does not answer, a line says so; a signal ends the wait.
func TestProgress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	out, errOut := newTerminal(), newTerminal()
	signals, exit := make(chan os.Signal, 2), make(chan int, 1)
	go func() {
		exit <- run(&world{
			args: []string{"groups", "list", "--broker", listener.Addr().String()}, stdout: out, stderr: errOut, signals: signals,
			patience: 20 * time.Millisecond,
		})
	}()
	<-errOut.started
	if got := errOut.String(); !strings.HasPrefix(got, "kohort: still connecting to "+listener.Addr().String()) {
		t.Errorf("got %q", got)
	}
	signals <- syscall.SIGINT
	if code := <-exit; code != 1 || !strings.Contains(errOut.String(), "stopped by a signal") {
		t.Errorf("exit code %d, %q", code, errOut)
	}
}

// A broker that lacks an api is told from one that refuses.
func TestLacking(t *testing.T) {
	addr := poor(t)
	_, errOut, code := said(t, addr, "", "groups", "list")
	if code != 1 || !strings.Contains(errOut, "list groups: the broker at "+addr+" has no ListGroups, which this needs") {
		t.Errorf("exit code %d, %q", code, errOut)
	}
}

// Lag is told in records and in seconds, with the generation that only the offsets topic knows.
func TestLag(t *testing.T) {
	addr := start(t)
	old := `{"value":"a","timestamp":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`
	said(t, addr, old+"\n"+old+"\n"+old, "produce", "orders", "-p", "0", "-f", "json")
	said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1")
	said(t, addr, "", "consume", "orders", "-g", "other", "-n", "2")
	if _, errOut, code := said(t, addr, "", "wait", "--group", "team", "--members", "0"); code != 0 {
		t.Fatal(errOut)
	}
	out, errOut, code := said(t, addr, "", "lag", "-o", "json")
	var views []lagView
	if err := json.Unmarshal([]byte(out), &views); err != nil || code != 0 || len(views) != 2 {
		t.Fatalf("exit code %d, %v, %s%s", code, err, out, errOut)
	}
	for i, want := range []struct {
		group string
		lag   int64
	}{{"other", 1}, {"team", 2}} {
		v := views[i]
		if v.Name != want.group || v.Lag == nil || *v.Lag != want.lag || v.Generation == nil || *v.Generation < 1 {
			t.Errorf("got %s, lag %v, generation %v", v.Name, number(v.Lag), number(v.Generation))
		}
		if s := v.LagSeconds; s == nil || *s < 3600 || *s > 3700 {
			t.Errorf("%s: lag in seconds is %s", v.Name, number(s))
		}
	}
	out, _, _ = said(t, addr, "", "lag", "team")
	if lines := strings.Split(out, "\n"); len(lines) < 6 || !strings.HasPrefix(lines[0], "GROUP  STATE  GENERATION  MEMBERS  PARTITIONS  COMMITTED  END  LAG  SECONDS") ||
		lines[3] != "team" || !strings.HasPrefix(lines[5], "orders ") {
		t.Errorf("got:\n%s", out)
	}
}

// screens hands over each screen of `kohort lag --watch`.
type screens chan string

func (s screens) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

// A watch shows what changes, and ends with a signal.
func TestLagWatch(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "-p", "0", "a", "b", "c")
	said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1")
	shown, signals, exit := make(screens), make(chan os.Signal, 1), make(chan int, 1)
	go func() {
		exit <- run(&world{
			args: []string{"lag", "team", "--watch", "--interval", "10ms", "--broker", addr}, stdout: shown, stderr: newTerminal(), signals: signals,
		})
	}()
	await := func(lag string) {
		for screen := range shown {
			if fields := strings.Fields(strings.Split(screen, "\n")[1]); len(fields) == 9 && fields[7] == lag {
				return
			}
		}
	}
	await("2")
	said(t, addr, "", "produce", "orders", "-p", "0", "d")
	await("3")
	signals <- syscall.SIGINT
	for {
		select {
		case <-shown:
			continue
		case code := <-exit:
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			return
		}
	}
}
