// Package connect runs workers of Kafka Connect, in distributed mode, against a kohort, with a source and a sink of its
// own, and looks at the broker for their internal topics, their groups, their offsets and the records.
//
// It may not know Connect but by its configuration, its REST interface, and what its two connectors do with files.
package connect

import (
	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// Jobs are the jobs of Kafka Connect.
func Jobs() []harness.Job {
	folder := jvm.At("connect")
	var jobs []harness.Job
	for _, j := range []struct {
		name string
		run  func(*harness.T, *jvm.Folder)
	}{
		{"source and sink", sourceAndSink},
		{"offsets by REST", offsetsByREST},
		{"worker killed", workerKilled},
		{"broker killed", brokerKilled},
	} {
		jobs = append(jobs, harness.Job{
			Client: "Kafka Connect", Version: "4.4.0", Name: j.name, Run: func(t *harness.T) { j.run(t, folder) },
		})
	}
	return jobs
}
