package integration

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tourHeading begins the README's tour, which ends with the next heading of its kind.
const tourHeading = "## Ten minutes: "

// tourPatience bounds one command of the tour. It is longer than what `kohort wait` itself bears.
const tourPatience = time.Minute

// tourStep is a command of the tour, and what stands below it.
type tourStep struct {
	line    int // of the README
	command string
	prints  []string
}

// tourSteps reads the console blocks of a text. "$ " begins a command, "> " goes on with it.
func tourSteps(text string) []tourStep {
	var steps []tourStep
	inTour, inBlock := false, false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			inTour = strings.HasPrefix(line, tourHeading)
		case !inTour:
		case line == "```console":
			inBlock = true
		case line == "```":
			inBlock = false
		case !inBlock:
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, tourStep{line: i + 1, command: line[2:]})
		case strings.HasPrefix(line, "> "):
			last := &steps[len(steps)-1]
			last.command += "\n" + line[2:]
		default:
			last := &steps[len(steps)-1]
			last.prints = append(last.prints, line)
		}
	}
	return steps
}

// job is what bash says when a job has ended, and progress is what kohort says when something takes long. The README
// says that it leaves both out.
var (
	job      = regexp.MustCompile(`: line \d+: +\d+ (Killed|Terminated|Done|Exit)`)
	progress = regexp.MustCompile(`^kohort: still .* \(\d+s\)$`)
)

// told drops what the README leaves out.
func told(lines []string) []string {
	kept := []string{}
	for _, line := range lines {
		if !job.MatchString(line) && !progress.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// sameLine compares a line of the README with what was printed. "…" stands for one word that is different each time; the
// width of a gap does not count, for it depends on such words.
func sameLine(want, got string) bool {
	want, got = strings.Join(strings.Fields(want), " "), strings.Join(strings.Fields(got), " ")
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", `\S+`) + "$"
	return regexp.MustCompile(pattern).MatchString(got)
}

// same compares all lines.
func same(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !sameLine(want[i], got[i]) {
			return false
		}
	}
	return true
}

// TestTourIsRead checks the reader and the comparison themselves.
func TestTourIsRead(t *testing.T) {
	t.Parallel()
	steps := tourSteps("## Other\n```console\n$ no\n```\n" + tourHeading + "x\n```console\n$ a \\\n>   b\n1\n\n$ c\n```\nd\n```\n$ no\n```\n## End\n```console\n$ no\n```\n")
	if got := fmt.Sprintf("%+v", steps); got != "[{line:7 command:a \\\n  b prints:[1 ]} {line:11 command:c prints:[]}]" {
		t.Errorf("read %s", got)
	}
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"one-…  -  x", "one-0a-1b - x", true}, {"one-…", "one-", false}, {"at …", "at 1 2", false}, {"a.c", "abc", false}, {"1", "11", false},
	} {
		if sameLine(c.want, c.got) != c.same {
			t.Errorf("%q and %q: want %v", c.want, c.got, c.same)
		}
	}
	if got := told([]string{"bash: line 7:  123 Killed    kohort", "kohort: still waiting for x (2s)", "kohort: x", ""}); len(got) != 2 {
		t.Errorf("told %q", got)
	}
}

// quietPort returns a free port from a range out of which the system gives none by itself, so that no other test gets it
// while the tour's broker is down.
func quietPort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000)))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
	}
	t.Fatal("no port is free between 10000 and 30000")
	return ""
}

// shell is a bash that the tour is typed into. Commands arrive through a file of their own, so that no program reads them
// as its input.
type shell struct {
	*process
	script io.Writer
}

// newShell starts a bash in the root of the repository. Whatever it starts does not outlive the test.
func newShell(t *testing.T, env []string) *shell {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "/dev/fd/3")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = "..", env, []*os.File{reader}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	p := launch(t, cmd)
	reader.Close()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what the tour left, if it failed
		writer.Close()
	})
	return &shell{process: p, script: writer}
}

// run types a command, and returns what is printed until the shell is ready for the next one.
func (s *shell) run(t *testing.T, command string) []string {
	t.Helper()
	const mark = "== the command has ended =="
	from := s.stdout.count()
	if _, err := io.WriteString(s.script, command+"\necho '"+mark+"'\n"); err != nil {
		t.Fatal(err)
	}
	s.stdout.wait(t, tourPatience, from, "end of: "+command, func(line string) bool { return line == mark })
	lines := s.stdout.whole()[from:]
	return lines[:len(lines)-1]
}

// TestTour types the README's tour, and compares what is printed. Only the port is another one: kohort gets it from the
// environment, and in the commands of kcat it is replaced. The log that the tour leaves is shown if it fails.
func TestTour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := tourSteps(string(text))
	if len(steps) < 40 {
		t.Fatalf("the README's tour has %d commands", len(steps))
	}
	addr, dir := quietPort(t), t.TempDir()
	bin := filepath.Join(dir, "bin")
	shell := newShell(t, append(
		cleanEnv(), "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir, "KAFKA_LISTENERS=PLAINTEXT://"+addr, "KOHORT_BROKER="+addr,
	))
	shell.run(t, "exec 2>&1")
	for _, step := range steps {
		got := told(shell.run(t, strings.ReplaceAll(step.command, "127.0.0.1:9092", addr)))
		if !same(step.prints, got) {
			t.Fatalf("README.md:%d: $ %s\nprints:\n%s\nthe README has:\n%s\n\nthe broker's log:\n%s", step.line, step.command,
				strings.Join(got, "\n"), strings.Join(step.prints, "\n"), strings.Join(shell.run(t, "cat kohort.log"), "\n"))
		}
	}
	if _, err := io.WriteString(shell.script, "exit 0\n"); err != nil {
		t.Fatal(err)
	}
	if code := shell.code(t, patience); code != 0 {
		t.Errorf("bash: exit code %d", code)
	}
}

// TestBannerKohort runs the banner's line for kohort itself as it is printed.
func TestBannerKohort(t *testing.T) {
	t.Parallel()
	b := dev(t)
	cmd := exec.Command("bash", "-c", strings.Join(bannerLines(t, b, "kohort"), "\n"))
	cmd.Env = append(cleanEnv(), "PATH="+filepath.Dir(kohort)+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := launch(t, cmd)
	for _, want := range []string{"1", "2", "9", "10"} {
		p.stdout.wait(t, patience, 0, "record "+want, func(s string) bool { return s == want })
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	<-p.exited
}
