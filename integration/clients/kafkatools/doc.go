// Package kafkatools runs Apache Kafka's own command line tools against a kohort, and looks at the broker for what they
// did: topics, configurations, offsets, groups, records.
//
// It may not know how the tools do it. What they print is held against what franz-go's admin client is told.
package kafkatools

import (
	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// Jobs are the jobs of the command line tools.
func Jobs() []harness.Job {
	folder := jvm.At("kafkatools")
	var jobs []harness.Job
	for _, j := range []struct {
		name string
		run  func(*harness.T, *jvm.Folder)
	}{
		{"topics", topics},
		{"configs", configs},
		{"offsets", offsets},
		{"groups", groups},
		{"console", console},
		{"verifiable", verifiable},
		{"takeover", takeover},
	} {
		jobs = append(jobs, harness.Job{
			Client: "Kafka's command line tools", Version: "4.4.0", Name: j.name,
			Run: func(t *harness.T) { j.run(t, folder) },
		})
	}
	return jobs
}
