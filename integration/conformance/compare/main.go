// Command compare runs the conformance scenarios against a live Apache Kafka and against Kohort, and prints where they
// differ, field by field. `make conformance` starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/kohort/kohort/integration/conformance"
)

type options struct {
	dir    string
	only   *regexp.Regexp
	record bool
	show   bool
	limit  time.Duration
}

// nonceBase makes every nonce six characters long, for lengths are part of what is compared.
const nonceBase = 36 * 36 * 36 * 36 * 36

func main() {
	var o options
	var only string
	flag.StringVar(&o.dir, "dir", "conformance", "directory of fixture.txt, scenarios and golden")
	flag.StringVar(&only, "run", "", "only scenarios whose name matches")
	flag.BoolVar(&o.record, "record", false, "write Kafka's answers to golden/")
	flag.BoolVar(&o.show, "show", false, "print Kafka's transcripts")
	flag.DurationVar(&o.limit, "limit", 3*time.Minute, "longest time for one scenario")
	flag.Parse()
	var err error
	if o.only, err = regexp.Compile(only); err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
		defer cancel()
		err = compare(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, o options) error {
	all, err := conformance.Load(o.dir)
	if err != nil {
		return err
	}
	var scenarios []*conformance.Scenario
	for _, s := range all {
		if o.only.MatchString(s.Name) {
			scenarios = append(scenarios, s)
		}
	}
	classPath, err := conformance.ClassPath(ctx, o.dir)
	if err != nil {
		return err
	}
	nonce := strconv.FormatInt(nonceBase+time.Now().UnixMilli()%1e8, 36)
	began := time.Now()
	suite := func(name string, start func(context.Context, map[string]string) (conformance.Server, error)) map[string]conformance.Result {
		s := conformance.Suite{Start: start, Parallel: 12, Limit: o.limit, Nonce: nonce, Progress: func(text string) {
			fmt.Printf("%5.1f s  %s: %s\n", time.Since(began).Seconds(), name, text)
		}}
		return s.Run(ctx, scenarios)
	}
	done := make(chan map[string]conformance.Result, 1)
	go func() {
		done <- suite("Kohort", func(ctx context.Context, settings map[string]string) (conformance.Server, error) {
			return conformance.StartKohort(ctx, settings, false, func(trace string) { fmt.Println(trace) })
		})
	}()
	kafka := suite("Kafka "+conformance.KafkaVersion, func(ctx context.Context, settings map[string]string) (conformance.Server, error) {
		return conformance.StartKafka(ctx, classPath, settings)
	})
	return report(o, scenarios, kafka, <-done)
}

// report prints what differs, and records.
func report(o options, scenarios []*conformance.Scenario, kafka, kohort map[string]conformance.Result) error {
	var same, differ, fields, allowed int
	for _, s := range scenarios {
		a, b := kafka[s.Name], kohort[s.Name]
		if o.show {
			fmt.Printf("\n=== %s\n%s", s.Name, a.Transcript)
		}
		if a.Err != nil || b.Err != nil {
			differ++
			fmt.Printf("\n%s (%s) could not be run: Kafka: %v; Kohort: %v\n", s.Name, s.Title, a.Err, b.Err)
			continue
		}
		if o.record {
			file := filepath.Join(o.dir, "golden", s.Name+".txt")
			if err := os.WriteFile(file, []byte(a.Transcript.String()), 0o644); err != nil {
				return err
			}
		}
		differences, ok, complaints := conformance.Compare(s, a.Transcript, b.Transcript)
		complaints = append(complaints, conformance.Unmet(s, a.Transcript)...)
		allowed += ok
		fields += len(differences)
		if len(differences)+len(complaints) == 0 {
			same++
			continue
		}
		differ++
		fmt.Printf("\n%s (%s)\n", s.Name, s.Title)
		step := 0
		for _, d := range differences {
			if d.Step != step {
				step = d.Step
				fmt.Printf("  step %d, %s\n", step, d.Line)
			}
			fmt.Printf("    %s: Kafka %s, Kohort %s\n", d.Path, d.Kafka, d.Kohort)
		}
		for _, c := range complaints {
			fmt.Println("  " + c)
		}
	}
	fmt.Printf("\n%d scenarios: %d the same, %d not; %d fields differ, %d more are marked deviations\n", len(scenarios), same, differ, fields, allowed)
	if differ > 0 {
		return fmt.Errorf("Kohort and Kafka %s differ, or a scenario expects what Kafka does not answer", conformance.KafkaVersion)
	}
	return nil
}
