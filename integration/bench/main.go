package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

var (
	rounds   = flag.Int("rounds", 5, "rounds; each puts every load on every server once")
	duration = flag.Duration("duration", 350*time.Millisecond, "measured part of a load")
	warmup   = flag.Duration("warmup", 100*time.Millisecond, "load before the measured part")
	idleTime = flag.Duration("idle", time.Minute, "measured part of the idle members")
	only     = flag.String("only", "", "fill only rows whose name contains this")
	doc      = flag.String("doc", "", "write the tables to this Markdown file, too, and the plot beside it")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	list, idle := wanted(plan()), wanted(idlePlan())
	r := newResults(slices.Concat(list, idle))
	p := newProgress(list, *rounds, len(idle))
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, b.close()) }()
	if err := b.warmKafka(ctx, list); err != nil {
		return fmt.Errorf("warming Kafka: %w", err)
	}
	for round := range *rounds {
		if err := b.round(ctx, round, list, r, p); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	for _, m := range idle {
		if err := b.idle(ctx, m, r, p); err != nil {
			return fmt.Errorf("idle members: %w", err)
		}
	}
	r.took = p.elapsed()
	fmt.Print(r.bars(), "\n", r.ratios(), "\n", r.figuresTable())
	if *doc == "" {
		return nil
	}
	return r.write(*doc)
}

// wanted leaves the measures that have the text of -only in a row's name.
func wanted(list []measure) []measure {
	return slices.DeleteFunc(list, func(m measure) bool {
		return !slices.ContainsFunc(m.rows, func(r row) bool { return strings.Contains(r.name, *only) })
	})
}
