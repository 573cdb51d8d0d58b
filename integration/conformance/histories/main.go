// Command histories runs random histories of group requests against a live Apache Kafka and against Kohort, compares the
// answers, and shrinks what differs to its shortest form. `make conformance HISTORIES=5000` starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kohort/kohort/integration/conformance"
)

func main() {
	var r runner
	flag.StringVar(&r.dir, "dir", "conformance", "directory of fixture.txt")
	flag.IntVar(&r.count, "count", 5000, "histories")
	flag.IntVar(&r.timed, "timed", 200, "of them, those that let time-outs pass")
	flag.Uint64Var(&r.seed, "seed", 0, "seed of the first history; 0 draws one")
	flag.IntVar(&r.parallel, "parallel", 100, "histories at once")
	flag.IntVar(&r.shrinks, "shrink", 10, "differences to shrink")
	flag.StringVar(&r.keep, "keep", "", "directory in which shrunk differences become scenarios")
	flag.Parse()
	if r.seed == 0 {
		r.seed = rand.Uint64() >> 16
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// slot is the time of one step of a timed history.
const slot = 450 * time.Millisecond

type runner struct {
	dir, keep                       string
	count, timed, parallel, shrinks int
	seed                            uint64
	nonce                           string
	runs, deletions                 atomic.Int64
	kafka, kohort                   conformance.Server
	kafkaTopics, kohortTopics       map[string]string
}

func (r *runner) run(ctx context.Context) error {
	classPath, err := conformance.ClassPath(ctx, r.dir)
	if err != nil {
		return err
	}
	if r.kafka, err = conformance.StartKafka(ctx, classPath, map[string]string{
		"log.segment.delete.delay.ms": "1000", "log.index.size.max.bytes": "4096", // thousands of topics come and go
	}); err != nil {
		return err
	}
	defer r.kafka.Close()
	if r.kohort, err = conformance.StartKohort(ctx, nil, false, func(trace string) { fmt.Println(trace) }); err != nil {
		return err
	}
	defer r.kohort.Close()
	const base = 36 * 36 * 36 * 36 * 36
	r.nonce = strconv.FormatInt(base+time.Now().UnixMilli()%1e8, 36)
	if r.kafkaTopics, err = conformance.SharedTopics(r.kafka, r.nonce); err != nil {
		return err
	}
	if r.kohortTopics, err = conformance.SharedTopics(r.kohort, r.nonce); err != nil {
		return err
	}
	fmt.Printf("seed %d; again with -seed %d\n", r.seed, r.seed)
	suspects := r.all(ctx)
	return r.judge(ctx, suspects)
}

// all runs every history once, many at a time, and returns the seeds of those that differed.
func (r *runner) all(ctx context.Context) (suspects []uint64) {
	began := time.Now()
	var mu sync.Mutex
	var wait sync.WaitGroup
	places := make(chan struct{}, r.parallel)
	for i := range r.count {
		if ctx.Err() != nil {
			break
		}
		seed := r.seed + uint64(i)
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			d, err := r.compare(ctx, conformance.Generate(seed, r.isTimed(seed)), r.isTimed(seed))
			if d != nil || err != nil {
				mu.Lock()
				defer mu.Unlock()
				suspects = append(suspects, seed)
			}
		})
		if (i+1)%500 == 0 {
			mu.Lock()
			fmt.Printf("%5.1f s  %d histories begun, %d differ so far\n", time.Since(began).Seconds(), i+1, len(suspects))
			mu.Unlock()
		}
	}
	wait.Wait()
	fmt.Printf("%5.1f s  %d histories with %d deletions of topics, %d differ; each of these again, in peace\n", time.Since(began).Seconds(), r.count, r.deletions.Load(), len(suspects))
	slices.Sort(suspects)
	return suspects
}

func (r *runner) isTimed(seed uint64) bool { return seed-r.seed < uint64(r.timed) }

// compare runs a history on both and returns the first difference.
func (r *runner) compare(ctx context.Context, lines []string, timed bool) (*conformance.Difference, error) {
	s, kafka, kohort, err := r.both(ctx, lines, timed)
	if err != nil {
		return nil, err
	}
	r.deletions.Add(int64(conformance.Deletions(s, kafka)))
	return conformance.First(s, kafka, kohort), nil
}

func (r *runner) both(ctx context.Context, lines []string, timed bool) (s *conformance.Scenario, kafka, kohort conformance.Transcript, err error) {
	prefix := fmt.Sprintf("h%06d-%s-", r.runs.Add(1), r.nonce)
	s, err = conformance.Parse(r.dir, prefix, lines)
	if err != nil {
		return nil, kafka, kohort, err
	}
	var pause time.Duration
	if timed {
		pause = slot
	}
	var wait sync.WaitGroup
	var failed error
	wait.Go(func() { kohort, failed = conformance.RunHistory(ctx, s, r.kohort, prefix, r.kohortTopics, pause) })
	kafka, err = conformance.RunHistory(ctx, s, r.kafka, prefix, r.kafkaTopics, pause)
	wait.Wait()
	if err == nil {
		err = failed
	}
	return s, kafka, kohort, err
}

// verdict runs a history several times: a difference is one only if no two runs agree, for Kafka's own answers may
// depend on the order of its hash maps.
func (r *runner) verdict(ctx context.Context, lines []string, timed bool) (*conformance.Difference, error) {
	var first *conformance.Difference
	var kafkas, kohorts []conformance.Transcript
	for range 4 {
		s, kafka, kohort, err := r.both(ctx, lines, timed)
		if err != nil {
			return nil, err
		}
		kafkas, kohorts = append(kafkas, kafka), append(kohorts, kohort)
		for _, a := range kafkas {
			for _, b := range kohorts {
				if d := conformance.First(s, a, b); d == nil {
					return nil, nil
				} else if first == nil {
					first = d
				}
			}
		}
	}
	return first, nil
}

func (r *runner) judge(ctx context.Context, suspects []uint64) error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	places := make(chan struct{}, 8)
	real := map[uint64]*conformance.Difference{}
	for _, seed := range suspects {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			d, err := r.verdict(ctx, conformance.Generate(seed, r.isTimed(seed)), r.isTimed(seed))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fmt.Printf("seed %d: %v\n", seed, err)
			} else if d != nil {
				real[seed] = d
			}
		})
	}
	wait.Wait()
	kinds := map[string]int{}
	for _, d := range real {
		kinds[d.Path+": Kafka "+d.Kafka+", Kohort "+d.Kohort]++
	}
	for kind, n := range kinds {
		fmt.Printf("%4d times %s\n", n, kind)
	}
	for _, seed := range suspects {
		mu.Lock()
		differs := real[seed] != nil
		mu.Unlock()
		if !differs || r.shrinks == 0 {
			continue
		}
		r.shrinks--
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			lines, d := r.shrink(ctx, conformance.Generate(seed, r.isTimed(seed)), r.isTimed(seed))
			mu.Lock()
			defer mu.Unlock()
			if d == nil {
				delete(real, seed)
				return
			}
			fmt.Printf("\nseed %d\n  %s\n  %s\n", seed, strings.Join(lines, "\n  "), d)
			if err := r.keepScenario(seed, lines, d); err != nil {
				fmt.Printf("seed %d could not be kept: %v\n", seed, err)
			}
		})
	}
	wait.Wait()
	fmt.Printf("\n%d histories, %d with time-outs: %d differ\n", r.count, r.timed, len(real))
	if len(real) > 0 {
		return fmt.Errorf("Kohort and Kafka %s differ in %d histories", conformance.KafkaVersion, len(real))
	}
	return nil
}

// shrink leaves out lines as long as the difference stays, and returns what is left and where it differs in every pair
// of runs; nil if it does not.
func (r *runner) shrink(ctx context.Context, lines []string, timed bool) ([]string, *conformance.Difference) {
	for again := !timed; again && ctx.Err() == nil; {
		again = false
		for i := len(lines) - 1; i >= 0; i-- {
			fewer := slices.Delete(slices.Clone(lines), i, i+1)
			if d, err := r.compare(ctx, fewer, timed); err == nil && d != nil {
				lines, again = fewer, true
			}
		}
	}
	d, err := r.verdict(ctx, lines, timed)
	if err != nil {
		return lines, nil
	}
	return lines, d
}
