//go:build clients

package clients

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kohort/kohort/integration/clients/connect"
	"github.com/kohort/kohort/integration/clients/fixtures"
	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/jobs"
	"github.com/kohort/kohort/integration/clients/kafkatools"
	"github.com/kohort/kohort/integration/clients/matrix"
	"github.com/kohort/kohort/integration/clients/streams"
)

var doc = flag.String("doc", "", "file to write the matrix to, if all was run")

// results are how the jobs went, and which tests they were, by client.
type results struct {
	mu    sync.Mutex
	rows  map[string]map[string]matrix.Result
	tests map[string][]string
}

var book = results{rows: map[string]map[string]matrix.Result{}, tests: map[string][]string{}}

func (r *results) note(client, job, test string, result matrix.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[client] == nil {
		r.rows[client] = map[string]matrix.Result{}
	}
	r.rows[client][job] = result
	if test != "" {
		r.tests[client] = append(r.tests[client], test)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && *doc != "" {
		code = write(*doc)
	}
	os.Exit(code)
}

// write writes the page, unless something did not run.
func write(file string) int {
	clients, err := jobs.Clients(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	report := matrix.Report{Jobs: jobs.Names()}
	for _, c := range clients {
		report.Clients = append(report.Clients, matrix.Row{
			Client: c.Name, Version: c.Version, Results: book.rows[c.Name], Spoken: harness.Spoken(book.tests[c.Name]...), Quirks: c.Quirks,
		})
	}
	for _, j := range platforms() {
		if !slices.ContainsFunc(report.Platforms, func(r matrix.Row) bool { return r.Client == j.Client }) {
			report.Platforms = append(report.Platforms, matrix.Row{
				Client: j.Client, Version: j.Version, Results: book.rows[j.Client], Spoken: harness.Spoken(book.tests[j.Client]...), Quirks: quirks[j.Client],
			})
		}
	}
	if !report.Green() {
		fmt.Fprintln(os.Stderr, "not everything ran: "+file+" is left as it was")
		return 1
	}
	if err := os.WriteFile(file, []byte(report.Markdown()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("wrote", file)
	return 0
}

// TestClients runs every job of every client, each with a broker of its own, several at a time.
func TestClients(t *testing.T) {
	if _, err := harness.Binary(); err != nil {
		t.Fatal(err)
	}
	clients, err := jobs.Clients(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		install := sync.OnceValue(func() error { return c.Install(context.Background()) })
		for _, job := range jobs.Names() {
			name := job[0]
			if !jobs.Has(c, name) {
				book.note(c.Name, name, "", matrix.Absent)
				continue
			}
			one(t, c.Name, name, func(t *testing.T) {
				if err := install(); err != nil {
					t.Fatal(err)
				}
				jobs.Run(t, c, name)
			})
		}
	}
	for _, j := range platforms() {
		one(t, j.Client, j.Name, j.Run)
	}
}

// one runs a job beside others and prints a line about it.
func one(t *testing.T, client, job string, run func(*testing.T)) {
	t.Run(strings.ReplaceAll(client, " ", "_")+":"+strings.ReplaceAll(job, " ", "_"), func(t *testing.T) {
		t.Parallel()
		began := time.Now()
		t.Cleanup(func() { // runs last: what the harness finds at the end counts
			result := matrix.Passed
			if t.Failed() {
				result = matrix.Failed
			}
			book.note(client, job, t.Name(), result)
			fmt.Printf("%s %-24s %-18s %5.1f s\n", result, client, job, time.Since(began).Seconds())
		})
		run(t)
	})
}

// platforms are the jobs of everything that is not a consumer client.
func platforms() []harness.Job {
	return slices.Concat(kafkatools.Jobs(), streams.Jobs(), connect.Jobs(), fixtures.Jobs())
}

// quirks of what has no client.json.
var quirks = map[string][]string{
	"Kafka's command line tools": {
		"The offsets topic is read with --formatter org.apache.kafka.tools.consumer.OffsetsMessageFormatter (or GroupMetadataMessageFormatter); the old class names are gone since 4.0. They print JSON without line breaks.",
		"A console consumer without --group joins console-consumer-NNNNN and leaves that group behind.",
		"kafka-consumer-groups may end with exit code 0 and an error in its output; --reset-offsets without --dry-run or --execute warns since 4.4.",
		"kafka-delete-records for a partition that does not exist tries until its time is over, on Kafka too.",
		"VerifiableProducer does not retry: what is under way when the broker is killed it reports as failed.",
	},
	"Kafka Streams": {
		"exactly_once_v2 and group.protocol=streams end in state ERROR at once: transactions and streams groups are not served.",
		"At the first start a WARN UNKNOWN_TOPIC_OR_PARTITION about its own repartition topic is harmless.",
	},
	"Kafka Connect": {
		"After kill -9 a restarted worker waits for the session of the old one (10 s), and a sink for that of its consumer (45 s): session.timeout.ms and consumer.session.timeout.ms shorten that.",
		"connect-file 4.3.1 does not run in a 4.4.0 worker (NoClassDefFoundError); the job brings connectors of its own.",
		"A worker whose broker is away takes long to end on SIGTERM.",
	},
	"docs/fixtures/spring": {
		"The container commits after the batch, so a test awaits the offset. Spring Boot 4.1.2 brings kafka-clients 4.2.2.",
	},
}
