// The worker of kcat; see ../README.md. It runs kcat and translates what it prints.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func main() {
	verb, args := lines.Parse()
	switch verb {
	case "version":
		version()
	case "produce":
		produce(args)
	case "consume":
		consume(args)
	default:
		lines.Fail(fmt.Errorf("kcat has no %s", verb))
	}
}

// versions finds kcat's version and that of its engine.
var versions = regexp.MustCompile(`Version (\S+) .*librdkafka (\S+)`)

func version() {
	text, err := exec.Command("kcat", "-V").CombinedOutput()
	if err != nil {
		lines.Fail(err)
	}
	found := versions.FindSubmatch(text)
	if found == nil {
		lines.Fail(fmt.Errorf("no version in %q", text))
	}
	lines.Emit("version", lines.Fields{"version": fmt.Sprintf("%s (librdkafka %s)", found[1], found[2])})
}

// produce runs a kcat for each record, since headers are arguments; the partitions side by side.
func produce(args lines.Args) {
	count, partitions := args.Int("count"), args.Int("partitions")
	for _, codec := range strings.Split(args["codecs"], ",") {
		var wg sync.WaitGroup
		var failed atomic.Pointer[error]
		for p := range partitions {
			wg.Go(func() {
				for i := p; i < count; i += partitions {
					if err := produceOne(args, codec, i, p); err != nil {
						failed.Store(&err)
						return
					}
				}
			})
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			lines.Fail(*err)
		}
		lines.Emit("produced", lines.Fields{"codec": codec, "count": count})
	}
}

func produceOne(args lines.Args, codec string, i, partition int64) error {
	words := []string{
		"-P", "-b", args["bootstrap"], "-t", args["topic"] + "-" + codec, "-p", fmt.Sprint(partition),
		"-K", ":", "-H", fmt.Sprintf("n=%d", i), "-X", "compression.codec=" + codec,
	}
	if id := args["transactional"]; id != "" {
		words = append(words, "-X", "transactional.id="+id)
	}
	kcat := exec.Command("kcat", words...)
	kcat.Stdin = strings.NewReader(fmt.Sprintf("k%d:%s-%d%s\n", i, codec, i, strings.Repeat("x", 100)))
	text, err := kcat.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	return nil
}

// memberArgs returns kcat's arguments; what is not given keeps its defaults.
func memberArgs(args lines.Args) []string {
	words := []string{"-b", args["bootstrap"], "-G", args["group"], "-J", "-u", "-E"}
	set := func(property, value string) {
		if value != "" {
			words = append(words, "-X", property+"="+value)
		}
	}
	if args["commit"] == "manual" {
		set("enable.auto.commit", "false")
	}
	set("auto.commit.interval.ms", args["auto_ms"])
	set("session.timeout.ms", args["session_ms"])
	set("heartbeat.interval.ms", args["heartbeat_ms"])
	set("group.instance.id", args["instance"])
	set("client.id", args["client"])
	set("group.protocol", args["group_protocol"])
	set("partition.assignment.strategy", map[string]string{"eager": "range", "cooperative": "cooperative-sticky"}[args["strategy"]])
	reset := args["reset"]
	if reset == "none" {
		reset = "error"
	}
	set("auto.offset.reset", reset)
	return append(words, args["topic"])
}

func consume(args lines.Args) {
	kcat := exec.Command("kcat", memberArgs(args)...)
	stdout, err := kcat.StdoutPipe()
	if err != nil {
		lines.Fail(err)
	}
	stderr, err := kcat.StderrPipe()
	if err != nil {
		lines.Fail(err)
	}
	if err := kcat.Start(); err != nil {
		lines.Fail(err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { records(stdout) })
	readers.Go(func() { diary(stderr) })
	var closing atomic.Bool
	go func() {
		for words := range lines.Commands() {
			if words[0] == "close" {
				closing.Store(true)
				kcat.Process.Signal(syscall.SIGTERM)
				return
			}
			lines.Error(fmt.Errorf("kcat has no %s", words[0]))
		}
	}()
	readers.Wait()
	if err := kcat.Wait(); err != nil || !closing.Load() {
		lines.Fail(errors.Join(errors.New("kcat ended"), err))
	}
	lines.Emit("closed", nil)
}

// records translates the records.
func records(stdout io.Reader) {
	in := json.NewDecoder(stdout)
	for {
		var r struct {
			Partition    int32
			Offset, TS   int64
			Key, Payload string
		}
		if err := in.Decode(&r); err == io.EOF {
			return
		} else if err != nil {
			lines.Fail(fmt.Errorf("kcat's output: %w", err))
		}
		lines.Record(r.Partition, r.Offset, []byte(r.Key), []byte(r.Payload), time.UnixMilli(r.TS))
	}
}

// rebalanced finds what a line tells of a rebalance: the verb, and the partitions after the last colon.
var rebalanced = regexp.MustCompile(`^% Group .* rebalanced.*(incremental assignment|incremental revoke|assigned|revoked)[^:]*:(.*)$`)

// partition finds a partition in such a line.
var partition = regexp.MustCompile(`\[(\d+)\]`)

// diary translates what kcat prints of rebalances and errors.
func diary(stderr io.Reader) {
	owned := map[int32]bool{}
	in := bufio.NewScanner(io.TeeReader(stderr, os.Stderr))
	for in.Scan() {
		line := in.Text()
		if strings.HasPrefix(line, "% ERROR: ") {
			lines.Error(errors.New(strings.TrimPrefix(line, "% ERROR: ")))
		}
		found := rebalanced.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		for _, p := range partition.FindAllStringSubmatch(found[2], -1) {
			number := int32(lines.Number(p[1]))
			if owned[number] = strings.HasSuffix(found[1], "assignment") || found[1] == "assigned"; !owned[number] {
				delete(owned, number)
			}
		}
		lines.Assigned(slices.Collect(maps.Keys(owned)))
	}
}
