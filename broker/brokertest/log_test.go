package brokertest_test

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
)

// recorded is a test whose output is kept.
type recorded struct {
	testing.TB
	mu   sync.Mutex
	text strings.Builder
}

// Output implements testing.TB.
func (r *recorded) Output() io.Writer { return r }

// Write implements io.Writer.
func (r *recorded) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *recorded) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Split(strings.TrimSuffix(r.text.String(), "\n"), "\n")
}

// The log in a test is plain text with a real time. What the message says is not said again; what it does not say
// follows as a field.
func TestLog(t *testing.T) {
	out := &recorded{TB: t}
	b := brokertest.Start(out, func(c *broker.Config) { c.Properties = map[string]string{"num.partition": "2"} })
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("orders"),
		kgo.ClientID("reader"), kgo.ConsumerGroup("workers"), kgo.ConsumeTopics("orders"))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(t.Context(), kgo.StringRecord("one")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if fetches := client.PollFetches(t.Context()); fetches.NumRecords() != 1 {
		t.Fatalf("%d records, %v", fetches.NumRecords(), fetches.Err())
	}
	client.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	const member = `reader-[-0-9a-f]{36}`
	wants := []string{
		`WRN .*num\.partitions.* name=num\.partition source=Config\.Properties`,
		`INF topic created partitions=1 topic=orders`,
		`INF workers: generation 0, empty: created by JoinGroup of client "reader"`,
		`INF workers: generation 0, rebalancing: ` + member + ` \(127\.0\.0\.1\) joined`,
		`INF workers: generation 1, stable: leader ` + member + ` assigned 1 member`,
		`INF workers: generation 2, empty: no members are left`,
	}
	for _, line := range out.lines() {
		if !regexp.MustCompile(`^kohort \d\d:\d\d:\d\d\.\d{3} [A-Z]{3} [ -~]+$`).MatchString(line) {
			t.Errorf("not plain, or without time or level: %q", line)
		}
		if len(wants) > 0 && regexp.MustCompile(`\d `+wants[0]+`$`).MatchString(line) {
			wants = wants[1:]
		}
	}
	if len(wants) > 0 {
		t.Errorf("no line %s in:\n%s", wants[0], strings.Join(out.lines(), "\n"))
	}
}
