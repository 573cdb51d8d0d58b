// Package streams runs a Kafka Streams application against a kohort, kills it and the broker, and holds its output, its
// changelog and its store against a model.
//
// It may not know Streams but by the application's settings, what it prints, and its topics and group at the broker.
package streams

import (
	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// Jobs are the jobs of Kafka Streams.
func Jobs() []harness.Job {
	folder := jvm.At("streams")
	var jobs []harness.Job
	for _, j := range []struct {
		name string
		run  func(*harness.T, *jvm.Folder)
	}{
		{"repartition and count", count},
		{"state kept and wiped", killed},
		{"two instances", twoInstances},
		{"broker killed", brokerKilled},
	} {
		jobs = append(jobs, harness.Job{
			Client: "Kafka Streams", Version: "4.4.0", Name: j.name, Run: func(t *harness.T) { j.run(t, folder) },
		})
	}
	return jobs
}
