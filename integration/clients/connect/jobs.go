package connect

import (
	"fmt"
	"maps"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// serve starts a broker with the topic between source and sink.
func serve(t *harness.T) (*harness.Broker, *kadm.Client) {
	t.Helper()
	b := harness.Serve(t)
	admin := b.Admin(t)
	harness.CreateTopic(t, admin, "lines", 2)
	return b, admin
}

// sourceAndSink: a worker, its group and its three topics, a source with one task and a sink with two.
func sourceAndSink(t *harness.T, folder *jvm.Folder) {
	b, admin := serve(t)
	w := start(t, folder, b, t.TempDir(), "")

	group := harness.Describe(t, admin, workers)
	got := fmt.Sprint(group.State, " ", group.ProtocolType, " ", group.Protocol, " ", len(group.Members))
	if got != "Stable connect sessioned 1" {
		t.Errorf("the workers' group: %s", got)
	}
	for topic, partitions := range map[string]int{"connect-configs": 1, "connect-offsets": 25, "connect-status": 5} {
		internal(t, admin, topic, partitions)
	}

	w.feed(t, 1, 50)
	w.source(t)
	w.sink(t)
	awaitLines(t, b, 50)
	w.feed(t, 51, 100)
	awaitLines(t, b, 100)
	awaitCommitted(t, b)
	w.awaitStored(t, b, 100)

	harness.AwaitGroup(t, admin, sinks, "Stable", 2)
	if got := harness.Describe(t, admin, sinks).ProtocolType; got != "consumer" {
		t.Errorf("the sink's group has the protocol type %s", got)
	}
	times, records := inLog(t, b)
	every(t, times, 100, true)
	all(t, w.sunk(t), records, true)

	w.do(t, "DELETE", "/connectors/sink", nil)
	harness.AwaitGroup(t, admin, sinks, "Empty", 0)
}

// internal looks at one of the worker's topics.
func internal(t *harness.T, admin *kadm.Client, topic string, partitions int) {
	t.Helper()
	listed, err := admin.ListTopics(harness.Limited(t), topic)
	if err != nil || len(listed[topic].Partitions) != partitions {
		t.Errorf("topic %s has %d partitions, want %d (%v)", topic, len(listed[topic].Partitions), partitions, err)
	}
	configs, err := admin.DescribeTopicConfigs(harness.Limited(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	policy := ""
	for _, c := range configs[0].Configs {
		if c.Key == "cleanup.policy" {
			policy = c.MaybeValue()
		}
	}
	if policy != "compact" {
		t.Errorf("topic %s has cleanup.policy=%s, want compact", topic, policy)
	}
}

// offset is an offset of the REST interface; sources and sinks name partitions and offsets in their own ways.
type offset struct {
	Partition map[string]any `json:"partition"`
	Offset    map[string]any `json:"offset"`
}

// offsets is what the interface reads and writes.
type offsets struct {
	Offsets []offset `json:"offsets"`
}

// offsetsByREST: reads, sets and deletes the positions of a stopped source and a stopped sink.
func offsetsByREST(t *harness.T, folder *jvm.Folder) {
	b, admin := serve(t)
	w := start(t, folder, b, t.TempDir(), "")
	w.feed(t, 1, 20)
	w.source(t)
	w.sink(t)
	awaitLines(t, b, 20)
	awaitCommitted(t, b)
	w.awaitStored(t, b, 20)

	for _, name := range []string{"source", "sink"} {
		w.do(t, "PUT", "/connectors/"+name+"/stop", nil)
		w.await(t, name, "STOPPED")
	}
	harness.AwaitGroup(t, admin, sinks, "Empty", 0)
	if got, want := w.sinkOffsets(t), harness.Committed(t, admin, sinks, "lines"); !maps.Equal(got, want) {
		t.Errorf("GET offsets of the sink: %v, the broker has %v", got, want)
	}

	set := func(name string, partition, to map[string]any) {
		w.do(t, "PATCH", "/connectors/"+name+"/offsets", offsets{[]offset{{partition, to}}})
	}
	set("source", map[string]any{"file": w.in}, map[string]any{"lines": 15})
	w.awaitStored(t, b, 15)
	before := harness.Committed(t, admin, sinks, "lines")
	set("sink", map[string]any{"kafka_topic": "lines", "kafka_partition": 0}, map[string]any{"kafka_offset": 0})
	if got := harness.Committed(t, admin, sinks, "lines"); got[0] != 0 || got[1] != before[1] {
		t.Errorf("PATCH set partition 0 to 0; the broker had %v and has %v", before, got)
	}
	w.do(t, "PUT", "/connectors/source/resume", nil) // sends the last five lines again
	awaitLines(t, b, 25)
	w.awaitStored(t, b, 20)

	w.do(t, "PUT", "/connectors/source/stop", nil)
	w.await(t, "source", "STOPPED")
	w.do(t, "DELETE", "/connectors/source/offsets", nil)
	w.awaitStored(t, b, 0)
	w.do(t, "DELETE", "/connectors/sink/offsets", nil)
	if got := harness.Committed(t, admin, sinks, "lines"); len(got) != 0 {
		t.Errorf("DELETE left the sink's offsets %v at the broker", got)
	}
	for _, name := range []string{"source", "sink"} {
		w.do(t, "PUT", "/connectors/"+name+"/resume", nil)
		w.await(t, name, "RUNNING")
	}
	awaitLines(t, b, 45)
	awaitCommitted(t, b)
	times, records := inLog(t, b)
	for i := 1; i <= 20; i++ {
		if want := map[bool]int{false: 2, true: 3}[i > 15]; times[i] != want {
			t.Errorf("line %d lies in the topic %d times, want %d", i, times[i], want)
		}
	}
	all(t, w.sunk(t), records, false)
}

// lines is the source's position by REST; -1 if the worker does not say.
func (w *worker) lines(t *harness.T) int {
	t.Helper()
	var o offsets
	if err := w.ask(t, "GET", "/connectors/source/offsets", nil, &o); err != nil {
		return -1
	}
	if len(o.Offsets) == 0 {
		return 0
	}
	n, _ := o.Offsets[0].Offset["lines"].(float64) // null in place of a deleted one
	return int(n)
}

// sinkOffsets are the sink's positions by REST.
func (w *worker) sinkOffsets(t *harness.T) map[int32]int64 {
	t.Helper()
	var o offsets
	if err := w.ask(t, "GET", "/connectors/sink/offsets", nil, &o); err != nil {
		t.Fatal(err)
	}
	at := map[int32]int64{}
	for _, p := range o.Offsets {
		at[int32(p.Partition["kafka_partition"].(float64))] = int64(p.Offset["kafka_offset"].(float64))
	}
	return at
}
