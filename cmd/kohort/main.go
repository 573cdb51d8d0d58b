package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// world is everything outside the program that it reads and writes.
type world struct {
	args    []string
	environ []string
	stdout  io.Writer
	stderr  io.Writer
	// signals holds at least two: the first stops the broker in good order, the second at once.
	signals <-chan os.Signal
}

// commands is the command line.
type commands struct {
	Dev     devCommand     `cmd:"" help:"Start a broker in memory, for tests and for learning. All is lost on exit."`
	Serve   serveCommand   `cmd:"" help:"Start a broker that keeps its data in a directory."`
	Config  configCommand  `cmd:"" help:"Print every setting with its value and where that came from."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// intro opens the help.
const intro = `kohort is a small broker that speaks Kafka's protocol. Start one with

    kohort dev                  in memory, for tests and for learning
    kohort serve --data DIR     durable

and point any Kafka client at 127.0.0.1:9092.

`

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	os.Exit(run(&world{args: os.Args[1:], environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr, signals: signals}))
}

// run does what the arguments say and returns the exit code: 0, 1 for an error, 2 for arguments that make no sense.
func run(w *world) int {
	exited := -1
	parser, err := kong.New(&commands{},
		kong.Name("kohort"),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.Bind(w),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(func(options kong.HelpOptions, ctx *kong.Context) error {
			if ctx.Selected() == nil {
				fmt.Fprint(w.stdout, intro)
			}
			return kong.DefaultHelpPrinter(options, ctx)
		}),
	)
	if err != nil {
		panic(err) // the tags of the commands are wrong
	}
	args := w.args
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		fmt.Fprintf(w.stderr, "kohort: %v; see kohort --help\n", err)
		return 2
	}
	if err := ctx.Run(); err != nil {
		fmt.Fprintf(w.stderr, "kohort: %s\n", sentence(err))
		return 1
	}
	return 0
}
