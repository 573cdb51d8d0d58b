package conformance

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// Kohort answers every scenario as Kafka did when its answers were recorded, but for the marked deviations. Where a
// scenario waits, Kohort's clock is moved.
func TestKohortAnswersAsKafka(t *testing.T) {
	scenarios, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			golden, err := ReadTranscript(filepath.Join("golden", s.Name+".txt"))
			if err != nil {
				t.Fatalf("%v: record it with make conformance RECORD=1", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			k, err := StartKohort(ctx, s.Settings, true, func(trace string) { t.Error(trace) })
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			got, err := Run(ctx, s, k, "replay")
			if err != nil {
				t.Fatal(err)
			}
			differences, _, complaints := Compare(s, golden, got)
			for _, d := range differences {
				t.Error(d)
			}
			for _, c := range append(complaints, Unmet(s, golden)...) {
				t.Error(c)
			}
		})
	}
}
