package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kohort/kohort/integration/conformance"
)

// firstKept is the number of the first scenario that a history became.
const firstKept = 501

// keepScenario writes a shrunk difference as a scenario under the next free number, if it was asked for. Kafka's answers
// to it are recorded as any scenario's.
func (r *runner) keepScenario(seed uint64, lines []string, d *conformance.Difference) error {
	if r.keep == "" {
		return nil
	}
	number := firstKept
	for ; ; number++ {
		taken, err := filepath.Glob(filepath.Join(r.keep, fmt.Sprintf("%03d_*.txt", number)))
		if err != nil {
			return err
		}
		if len(taken) == 0 {
			break
		}
	}
	file := filepath.Join(r.keep, fmt.Sprintf("%03d_history_%d.txt", number, seed))
	var pause string
	if r.isTimed(seed) {
		pause = fmt.Sprintf("steps take %s\n", slot)
	}
	return os.WriteFile(file, []byte(conformance.Written(seed, pause, lines, d)), 0o644)
}
