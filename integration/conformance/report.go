package conformance

import (
	"fmt"
	"strings"
)

// The comments between which docs/conformance.md holds what Report writes.
const (
	ReportBegin = "<!-- conformance:begin -->"
	ReportEnd   = "<!-- conformance:end -->"
)

// Report is the part of docs/conformance.md that the scenarios themselves say: where Kafka differs from the written
// specification, where Kohort differs from Kafka and why, and the counts.
func Report(scenarios []*Scenario) string {
	var spec, deviations strings.Builder
	var specs, kept, steps int
	for _, s := range scenarios {
		for _, text := range s.Spec {
			specs++
			fmt.Fprintf(&spec, "| %s | %s |\n", s.Name, text)
		}
		reason := ""
		for _, step := range s.Steps {
			if step.API != "" {
				steps++
			}
			for _, d := range step.Deviations {
				if d.Reason != "as above" {
					reason = d.Reason
				}
				kept++
				fmt.Fprintf(&deviations, "| %s | %s | `%s` is `%s` | %s |\n", s.Name, request(step), d.Path, d.Value, reason)
			}
		}
	}
	return fmt.Sprintf(`%d scenarios with %d requests, compared with a live Apache Kafka %s.

### Where Kafka %s differs from the written specification (%d)

| scenario | what Kafka does |
|---|---|
%s
### Where Kohort differs from Kafka %s on purpose (%d)

`+"`*`"+` stands for anything, `+"`(nothing)`"+` for a field that the answer does not have.

| scenario | request | Kohort's answer | reason |
|---|---|---|---|
%s`, len(scenarios), steps, KafkaVersion, KafkaVersion, specs, spec.String(), KafkaVersion, kept, deviations.String())
}

// request names a step for a table.
func request(s *Step) string {
	if s.API != "" {
		return fmt.Sprintf("%s v%d", s.API, s.Version)
	}
	return s.Line
}
