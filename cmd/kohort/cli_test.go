package main

import (
	"encoding/json"
	"net"
	"os"
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

// A refusal is told in the broker's own words, and a property with where its value comes from.
func TestTopicRefusalsAndConfigs(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "topics", "create", "orders", "-c", "retention.ms=60000")
	for _, c := range []struct{ asked, want, args string }{
		{`create topic "bad$name"`, "bad$name", "create bad$name"},
		{`create topic "bad"`, "retention.ms", "create bad -c retention.ms=never"},
		{`create topic "bad"`, "3", "create bad -r 3"},
		{`change the configuration of topic "orders"`, "sometimes", "config orders --set cleanup.policy=sometimes"},
	} {
		_, errOut, code := said(t, addr, "", append([]string{"topics"}, strings.Fields(c.args)...)...)
		if code != 1 || !strings.HasPrefix(errOut, "kohort: "+c.asked+": "+addr+" answers: ") || !strings.Contains(errOut, c.want) {
			t.Errorf("%s: exit code %d, %s", c.args, code, errOut)
		}
	}
	out, _, _ := said(t, addr, "", "topics", "config", "orders", "--set", "max.message.bytes=500")
	for _, line := range []string{"retention.ms 60000 DYNAMIC_TOPIC_CONFIG", "max.message.bytes 500 DYNAMIC_TOPIC_CONFIG"} {
		found := false
		for row := range strings.Lines(out) {
			found = found || strings.Join(strings.Fields(row), " ") == line
		}
		if !found {
			t.Errorf("no line %q in:\n%s", line, out)
		}
	}
	out, _, _ = said(t, addr, "", "topics", "config", "orders", "--delete", "max.message.bytes", "-o", "json")
	var lines []configLine
	if err := json.Unmarshal([]byte(out), &lines); err != nil || len(lines) < 10 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range lines {
		if line.Name == "max.message.bytes" && (*line.Value != "1048588" || line.Source != "DEFAULT_CONFIG") {
			t.Errorf("got %+v", line)
		}
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
