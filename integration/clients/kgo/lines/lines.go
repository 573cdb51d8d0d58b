// Package lines is the worker's side of the protocol in ../../README.md, for workers in Go: arguments, commands, and one
// JSON object a line. It may not know any client.
package lines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Args are the name=value arguments.
type Args map[string]string

// Parse reads the command line: the verb and its arguments.
func Parse() (verb string, args Args) {
	if len(os.Args) < 2 {
		Fail(fmt.Errorf("usage: run VERB name=value ..."))
	}
	args = Args{}
	for _, arg := range os.Args[2:] {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			Fail(fmt.Errorf("argument %q is not name=value", arg))
		}
		args[name] = value
	}
	return os.Args[1], args
}

// Int returns a number, or 0 where it is not given.
func (a Args) Int(name string) int64 {
	if a[name] == "" {
		return 0
	}
	return Number(a[name])
}

// Millis returns a duration, and whether it is given.
func (a Args) Millis(name string) (time.Duration, bool) {
	return time.Duration(a.Int(name)) * time.Millisecond, a[name] != ""
}

// Lookback returns the duration of reset=by_duration:PT1H.
func (a Args) Lookback() (time.Duration, bool) {
	iso, ok := strings.CutPrefix(a["reset"], "by_duration:")
	if !ok {
		return 0, false
	}
	clock, ok := strings.CutPrefix(iso, "PT")
	d, err := time.ParseDuration(strings.ToLower(clock))
	if !ok || err != nil {
		Fail(fmt.Errorf("duration %q is not PT with hours, minutes and seconds", iso))
	}
	return d, true
}

// Number reads a number, or ends the worker.
func Number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		Fail(err)
	}
	return n
}

// Fields are an event's fields.
type Fields map[string]any

// Emit writes an event: a line in one Write, which no other goroutine's comes between.
func Emit(event string, fields Fields) {
	line := Fields{"event": event}
	for name, value := range fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

// Error writes an error that the worker survives.
func Error(err error) {
	Emit("error", Fields{"error": err.Error()})
}

// Fail writes an error and ends the worker.
func Fail(err error) {
	Error(err)
	os.Exit(1)
}

// Assigned writes what a member owns.
func Assigned(partitions []int32) {
	owned := append([]int32{}, partitions...)
	slices.Sort(owned)
	Emit("assigned", Fields{"partitions": owned})
}

// Record writes a record.
func Record(partition int32, offset int64, key, value []byte, at time.Time) {
	Emit("record", Fields{"partition": partition, "offset": offset, "key": string(key), "value": string(value), "timestamp": at.UnixMilli()})
}

// Commands returns the lines of standard input, in words; its end is `close`.
func Commands() <-chan []string {
	commands := make(chan []string)
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			if words := strings.Fields(in.Text()); len(words) > 0 {
				commands <- words
			}
		}
		commands <- []string{"close"}
	}()
	return commands
}

// Admin answers the commands of the verb `admin`, until `close`.
func Admin(do map[string]func(args []string) (any, error)) {
	for words := range Commands() {
		if words[0] == "close" {
			Emit("closed", nil)
			return
		}
		f, ok := do[words[0]]
		if !ok {
			Emit("failed", Fields{"error": "unknown command " + words[0]})
			continue
		}
		result, err := f(words[1:])
		if err != nil {
			Emit("failed", Fields{"error": err.Error()})
			continue
		}
		Emit("ok", Fields{"result": result})
	}
}

// None is the result of a command that returns nothing.
var None = struct{}{}

// Version writes the version of a module that the worker was built with.
func Version(module string) {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == module {
			if dep.Replace != nil {
				dep = dep.Replace
			}
			Emit("version", Fields{"version": strings.TrimPrefix(dep.Version, "v")})
			return
		}
	}
	Fail(fmt.Errorf("%s is not in this program", module))
}
