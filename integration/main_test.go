package integration

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// seedFlag repeats a random test.
var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 draws a fresh one")

// kohort is the built program.
var kohort string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kohort-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	kohort = filepath.Join(dir, "kohort")
	build := exec.Command("go", "build", "-o", kohort, "./cmd/kohort")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build ./cmd/kohort: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// random returns a generator for a random test, and prints its seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	fmt.Printf("%s: seed %d; again with: go test -run '^%s$' -args -seed=%d\n", t.Name(), seed, t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}
