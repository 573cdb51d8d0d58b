package streams

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/integration/clients/harness"
)

// The application's group and topics.
const (
	group       = "wordcount"
	repartition = "wordcount-by-word-repartition"
	changelog   = "wordcount-count-changelog"
)

// model is a broker with the application's topics, and the counts of the words that were sent to it.
type model struct {
	b      *harness.Broker
	admin  *kadm.Client
	client *kgo.Client
	sent   int
	counts map[string]int64
}

func newModel(t *harness.T) *model {
	t.Helper()
	b := harness.Serve(t)
	m := &model{b: b, admin: b.Admin(t), client: b.Client(t), counts: map[string]int64{}}
	harness.CreateTopic(t, m.admin, "words", 2)
	harness.CreateTopic(t, m.admin, "counts", 2)
	return m
}

// send produces n words, of which some come more often than others.
func (m *model) send(t *harness.T, n int) {
	t.Helper()
	var records []*kgo.Record
	for range n {
		word := fmt.Sprint("w", m.sent*m.sent%23)
		records = append(records, &kgo.Record{Topic: "words", Partition: int32(m.sent % 2), Value: []byte(word)})
		m.counts[word]++
		m.sent++
	}
	if err := m.client.ProduceSync(harness.Limited(t), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// settle waits until the application has committed everything, its own records between its two halves too.
func (m *model) settle(t *harness.T) {
	t.Helper()
	passed := func(topic string) (n int64) {
		for _, end := range harness.Ends(t, m.admin, topic) {
			n += end
		}
		return n
	}
	harness.Until(t, "the application has committed everything", func() bool {
		return passed(repartition) >= int64(m.sent) && m.committed(t, "words") && m.committed(t, repartition)
	})
}

// committed tells whether the group has committed the ends of a topic.
func (m *model) committed(t *harness.T, topic string) bool {
	t.Helper()
	at := harness.Committed(t, m.admin, group, topic)
	for p, end := range harness.Ends(t, m.admin, topic) {
		if end > 0 && at[p] != end {
			return false
		}
	}
	return true
}

// check holds the last count of each word in the output, in the changelog and in the instances' stores against the model.
func (m *model) check(t *harness.T, apps ...*app) {
	t.Helper()
	for _, topic := range []string{"counts", changelog} {
		last := map[string]int64{}
		for _, all := range m.read(t, topic) {
			for word, counts := range all {
				last[word] = counts[len(counts)-1]
			}
		}
		m.same(t, "topic "+topic, last)
	}
	stored := map[string]int64{}
	for _, a := range apps {
		a.store(t, stored)
	}
	m.same(t, "the store", stored)
}

func (m *model) same(t *harness.T, what string, got map[string]int64) {
	t.Helper()
	if !maps.Equal(got, m.counts) {
		t.Errorf("%s has %v, want %v", what, got, m.counts)
	}
}

// read returns the counts in a topic: of each partition, of each word, in their order.
func (m *model) read(t *harness.T, topic string) map[int32]map[string][]int64 {
	t.Helper()
	counts := map[int32]map[string][]int64{}
	for p, records := range harness.Read(t, m.b, topic) {
		counts[p] = map[string][]int64{}
		for _, r := range records {
			if len(r.Value) != 8 {
				t.Fatalf("%s-%d at %d has the value %x, want a long", topic, p, r.Offset, r.Value)
			}
			word := string(r.Key)
			counts[p][word] = append(counts[p][word], int64(binary.BigEndian.Uint64(r.Value)))
		}
	}
	return counts
}
