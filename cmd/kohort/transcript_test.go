package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kohort/kohort/broker"
)

// update rewrites the transcripts with what the commands print now.
var update = flag.Bool("update", false, "rewrite testdata with what is printed")

// start starts a broker in memory on a free port, with two partitions to a topic, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	b, err := broker.Start(t.Context(), broker.Config{Properties: map[string]string{"num.partitions": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b.Addr()
}

// runs is a terminal in which a transcript's commands are typed.
type runs struct {
	t       *testing.T
	environ []string
	dir     string
	mask    *strings.Replacer
	unmask  *strings.Replacer
	behind  []*program
}

// ids are the random part of member ids.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Each file of testdata is a terminal session with a broker of its own. A line that begins with "$ kohort" is a command,
// whose standard input may follow after " < "; with "& kohort" it goes on in the background until "& stop". What is
// printed stands below: standard output as it is, standard error after "! ", an exit code other than 0 at the end.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			addr := start(t)
			dir := t.TempDir()
			r := &runs{t: t, environ: []string{"KOHORT_BROKER=" + addr, "COLUMNS=100"}, dir: dir}
			r.mask, r.unmask = strings.NewReplacer(addr, "ADDR", dir, "DIR"), strings.NewReplacer("ADDR", addr, "DIR", dir)
			got := r.replay(string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("differs (go test ./cmd/kohort -update rewrites it):\n%s", diff(string(text), got))
			}
		})
	}
}

// replay runs the commands of a transcript and returns it with what they print.
func (r *runs) replay(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# "), line == "":
			b.WriteString(line + "\n")
		case line == "& stop":
			b.WriteString(line + "\n")
			r.stop()
		case strings.HasPrefix(line, "& kohort "):
			b.WriteString(line + "\n")
			r.behind = append(r.behind, begin(r.t, r.environ, r.args(strings.TrimPrefix(line, "& kohort "))...))
		case strings.HasPrefix(line, "$ kohort "):
			b.WriteString(line + "\n" + r.command(strings.TrimPrefix(line, "$ kohort ")))
		}
	}
	r.stop()
	return b.String()
}

// stop sends a signal to what runs in the background, and waits for its end.
func (r *runs) stop() {
	for _, p := range r.behind {
		p.signals <- syscall.SIGTERM
		p.ends(r.t, 0)
	}
	r.behind = nil
}

// args splits a command into words; ADDR is the broker's address, DIR the test's directory, and single quotes hold words together.
func (r *runs) args(text string) []string {
	var args []string
	for i, part := range strings.Split(r.unmask.Replace(text), "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

// command runs one command and returns what it printed.
func (r *runs) command(text string) string {
	text, stdin, _ := strings.Cut(text, " < ")
	text, file, redirected := strings.Cut(text, " > ")
	out, errOut := newTerminal(), newTerminal()
	code := run(&world{
		args: r.args(text), environ: r.environ, stdout: out, stderr: errOut,
		stdin: strings.NewReader(strings.ReplaceAll(stdin, `\n`, "\n")), signals: make(chan os.Signal),
		patience: time.Hour, // a slow machine must not change what is printed
	})
	var b strings.Builder
	if redirected {
		if err := os.WriteFile(strings.ReplaceAll(file, "DIR", r.dir), []byte(out.String()), 0o600); err != nil {
			r.t.Fatal(err)
		}
	} else {
		b.WriteString(out.String())
	}
	for line := range strings.Lines(errOut.String()) {
		b.WriteString("! " + line)
	}
	if code != 0 {
		b.WriteString("exit code " + string(rune('0'+code)) + "\n")
	}
	return ids.ReplaceAllString(r.mask.Replace(b.String()), "00000000-0000-0000-0000-000000000000")
}

// diff shows the first line that differs, with those around it.
func diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			from := max(0, i-3)
			return "want:\n" + strings.Join(a[from:min(len(a), i+4)], "\n") + "\ngot:\n" + strings.Join(b[from:min(len(b), i+4)], "\n")
		}
	}
	return "nothing"
}
