package connect

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// The groups of the worker, and of the connector named "sink".
const (
	workers = "connect-cluster"
	sinks   = "connect-sink"
)

// settings of a worker.
const settings = `group.id=connect-cluster
listeners=http://127.0.0.1:0
config.storage.topic=connect-configs
offset.storage.topic=connect-offsets
status.storage.topic=connect-status
config.storage.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.storage.StringConverter
plugin.discovery=service_load
offset.flush.interval.ms=500
`

// brief are the shortest sessions that brokers permit: after a kill, worker and sink wait until those of their former lives
// have ended. Other jobs have those of Connect itself, for members of these may fall out on a busy machine.
const brief = `session.timeout.ms=6000
heartbeat.interval.ms=2000
consumer.session.timeout.ms=6000
consumer.heartbeat.interval.ms=2000
`

// worker is a worker of Connect; in and out are the files of its source and sink.
type worker struct {
	process *harness.Process
	url     string
	in, out string
}

// start starts a worker and waits until it can be asked. Workers with the same directory have the same files.
func start(t *harness.T, folder *jvm.Folder, b *harness.Broker, dir, more string) *worker {
	t.Helper()
	file := filepath.Join(dir, "worker.properties")
	write(t, file, "bootstrap.servers="+b.Addr+"\n"+settings+more)
	cmd := folder.Command(t, "org.apache.kafka.connect.cli.ConnectDistributed", file)
	cmd.Env = append(harness.CleanEnv(), "LOG_LEVEL=info")
	w := &worker{process: harness.Start(t, cmd), in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out")}

	const advertised = "Advertised URI: "
	line := w.process.Stderr.Wait(t, 0, harness.Patience, "address", func(s string) bool { return strings.Contains(s, advertised) })
	_, url, _ := strings.Cut(line, advertised)
	w.url = strings.TrimSuffix(url, "/")
	harness.Until(t, "the worker answers", func() bool { return w.ask(t, "GET", "/connectors", nil, nil) == nil })
	return w
}

// source and sink start a connector and wait until it and all its tasks run.
func (w *worker) source(t *harness.T) {
	t.Helper()
	w.configure(t, "source", map[string]string{"connector.class": "kohort.LineSource", "tasks.max": "1", "file": w.in, "topic": "lines"})
}

func (w *worker) sink(t *harness.T) {
	t.Helper()
	w.configure(t, "sink", map[string]string{"connector.class": "kohort.LineSink", "tasks.max": "2", "file": w.out, "topics": "lines"})
}

func (w *worker) configure(t *harness.T, name string, config map[string]string) {
	t.Helper()
	w.do(t, "PUT", "/connectors/"+name+"/config", config)
	w.await(t, name, "RUNNING")
}

// status is what GET /connectors/x/status answers.
type status struct {
	Connector struct{ State string }
	Tasks     []struct{ State, Trace string }
}

// await waits until a connector is in a state, with all its tasks, if it has any in that state.
func (w *worker) await(t *harness.T, name, state string) {
	t.Helper()
	tasks := map[string]int{"source RUNNING": 1, "sink RUNNING": 2}[name+" "+state]
	harness.Until(t, name+" is "+state, func() bool {
		var s status
		if err := w.ask(t, "GET", "/connectors/"+name+"/status", nil, &s); err != nil || s.Connector.State != state || len(s.Tasks) != tasks {
			return false
		}
		for _, task := range s.Tasks {
			if task.State == "FAILED" {
				t.Fatalf("a task of %s has failed: %s", name, task.Trace)
			}
			if task.State != state {
				return false
			}
		}
		return true
	})
}

// do asks for a change until the worker can make it: it refuses while it takes part in a rebalance.
func (w *worker) do(t *harness.T, method, path string, body any) {
	t.Helper()
	var err error
	harness.Until(t, method+" "+path, func() bool {
		err = w.ask(t, method, path, body, nil)
		return err == nil || !strings.Contains(err.Error(), "409 Conflict")
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ask makes one request.
func (w *worker) ask(t *harness.T, method, path string, body, into any) error {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(harness.Limited(t), method, w.url+path, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	return err
}

// feed appends the lines numbered from first to last to the source's file.
func (w *worker) feed(t *harness.T, first, last int) {
	t.Helper()
	var lines strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	before, err := os.ReadFile(w.in)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	write(t, w.in, string(before)+lines.String())
}

func write(t *harness.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // so that nobody reads half of it
		t.Fatal(err)
	}
}

// sunk is what the sink has written: how many times each record, PARTITION SPACE OFFSET SPACE VALUE. A line without its
// semicolon was being written when the worker was killed.
func (w *worker) sunk(t *harness.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(w.out)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	times := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if record, whole := strings.CutSuffix(line, ";\n"); whole {
			times[record]++
		}
	}
	return times
}
