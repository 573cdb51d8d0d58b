package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// world is everything outside the program that it reads and writes.
type world struct {
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	// patience is how long something may take before a line says that it goes on; 0 for two seconds.
	patience time.Duration
	// signals holds at least two: the first stops the broker in good order, the second at once.
	signals <-chan os.Signal
	// checkpoints holds at least one, which makes a durable broker write a checkpoint. nil where there is no such signal.
	checkpoints <-chan os.Signal
}

// commands is the command line.
type commands struct {
	Dev        devCommand        `cmd:"" help:"Start a broker in memory, for tests and for learning. All is lost on exit."`
	Serve      serveCommand      `cmd:"" help:"Start a broker that keeps its data in a directory."`
	Config     configCommand     `cmd:"" help:"Print every setting with its value and where that came from."`
	Groups     groupsCommand     `cmd:"" help:"See and change consumer groups."`
	Lag        lagCommand        `cmd:"" help:"Show how far groups are behind, once or again and again."`
	Topics     topicsCommand     `cmd:"" help:"See and change topics."`
	Produce    produceCommand    `cmd:"" help:"Write records."`
	Consume    consumeCommand    `cmd:"" help:"Read records, alone or in a group."`
	Wait       waitCommand       `cmd:"" help:"Wait for a broker, or for a group to be stable, empty or without lag."`
	Log        logCommand        `cmd:"" help:"Print and check the files of a data directory."`
	Backup     backupCommand     `cmd:"" help:"Copy a data directory, also while its broker serves, which then writes a checkpoint first (on SIGUSR1)."`
	Import     importCommand     `cmd:"" name:"import-offsets" help:"Bring groups, offsets and records from a log directory of Apache Kafka."`
	Completion completionCommand `cmd:"" help:"Print what makes a shell complete kohort's arguments."`
	Names      namesCommand      `cmd:"" name:"completion-names" hidden:"" help:"Print the names of groups or topics, for the completion of a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	os.Exit(run(&world{
		args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		signals: signals, checkpoints: checkpointSignals(),
	}))
}

// run does what the arguments say and returns the exit code: 0, 1 for an error, 2 for arguments that make no sense.
func run(w *world) int {
	exited := -1
	parser := newParser(w, func(code int) { exited = code })
	args := w.args
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		args = []string{"version"}
	}
	ctx, err := parser.Parse(spelled(commandFirst(args)))
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(w.stderr, "kohort: %s\n", misread(err))
		return 2
	}
	if err := ctx.Run(); err != nil {
		fmt.Fprintf(w.stderr, "kohort: %s\n", sentence(err))
		return 1
	}
	return 0
}

// commandFirst moves the flags that say which broker and which form behind the command, whose flags they are.
func commandFirst(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, _, whole := strings.Cut(args[0], "=")
		if !slices.Contains([]string{"-b", "--broker", "-o", "--output"}, name) {
			break
		}
		n := 2
		if whole {
			n = 1
		}
		if len(args) <= n {
			break
		}
		args = slices.Concat(args[n:], args[:n])
	}
	return args
}

// spelled corrects what everybody writes at one time or another, and what can mean but one thing.
func spelled(args []string) []string {
	args = slices.Clone(args)
	if len(args) > 0 && (args[0] == "group" || args[0] == "topic") {
		args[0] += "s"
	}
	if len(args) > 1 && args[0] == "groups" && args[1] == "reset" {
		args[1] = "reset-offsets"
	}
	return args
}

// newParser returns the parser of the command line. It calls exit once it has printed help.
func newParser(w *world, exit func(int)) *kong.Kong {
	parser, err := kong.New(&commands{},
		kong.Name("kohort"),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(exit),
		kong.Bind(w),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(func(options kong.HelpOptions, ctx *kong.Context) error {
			if ctx.Selected() == nil {
				_, err := fmt.Fprint(w.stdout, overview)
				return err
			}
			return kong.DefaultHelpPrinter(options, ctx)
		}),
	)
	if err != nil {
		panic(err) // the tags of the commands are wrong
	}
	return parser
}
