package conformance

import (
	"fmt"
	"slices"
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
		for _, step := range s.Steps {
			if step.API != "" {
				steps++
			}
		}
		kept += deviationRows(&deviations, s)
	}
	return fmt.Sprintf(`%d scenarios with %d requests, compared with a live Apache Kafka %s.

### Where Kafka %s differs from the written specification (%d)

| scenario | what Kafka does |
|---|---|
%s
### Where Kohort differs from Kafka %s on purpose (%d)

`+"`*`"+` stands for anything, `+"`(nothing)`"+` for a field that the answer does not have.

| scenario | Kohort's answer | reason |
|---|---|---|
%s`, len(scenarios), steps, KafkaVersion, KafkaVersion, specs, spec.String(), KafkaVersion, kept, deviations.String())
}

// deviationRows writes a scenario's deviations, one row for each reason, and returns their number.
func deviationRows(b *strings.Builder, s *Scenario) (n int) {
	var reasons []string
	answers := map[string][]string{}
	reason := ""
	for _, step := range s.Steps {
		for _, d := range step.Deviations {
			if d.Reason != "as above" {
				reason = d.Reason
			}
			if answers[reason] == nil {
				reasons = append(reasons, reason)
			}
			answer := fmt.Sprintf("%s: `%s` is `%s`", request(step), d.Path, d.Value)
			if !slices.Contains(answers[reason], answer) {
				answers[reason] = append(answers[reason], answer)
			}
			n++
		}
	}
	for _, reason := range reasons {
		fmt.Fprintf(b, "| %s | %s | %s |\n", s.Name, strings.Join(answers[reason], "<br>"), reason)
	}
	return n
}

// request names a step for a table.
func request(s *Step) string {
	if s.API != "" {
		return fmt.Sprintf("%s v%d", s.API, s.Version)
	}
	return s.Line
}
