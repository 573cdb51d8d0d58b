package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

var (
	rounds   = flag.Int("rounds", 5, "rounds; each runs every scenario on every server once")
	duration = flag.Duration("duration", 1500*time.Millisecond, "measured part of a scenario")
	only     = flag.String("only", "", "run only scenarios whose name contains this")
	doc      = flag.String("doc", "", "write the table to this Markdown file, too")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	b, err := newBuild(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	var list []scenario
	for _, s := range scenarios {
		if strings.Contains(s.name, *only) {
			list = append(list, s)
		}
	}
	r := newResults(list)
	for round := range *rounds {
		if err := b.round(ctx, list, r); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		fmt.Fprintf(os.Stderr, "round %d of %d done\n", round+1, *rounds)
	}
	fmt.Print(r.markdown())
	if *doc == "" {
		return nil
	}
	return r.write(*doc)
}
