package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kcatCommand is kcat with arguments, reading input.
func kcatCommand(t testing.TB, input string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("kcat")
	if err != nil {
		t.Fatal("kcat is not installed; `make test` installs it (apt-get install kcat)")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	return cmd
}

// kcat runs kcat to its end and returns the lines that it prints.
func kcat(t testing.TB, input string, args ...string) []string {
	t.Helper()
	p := launch(t, kcatCommand(t, input, args...))
	if code := p.code(t, patience); code != 0 {
		t.Fatalf("kcat %s: exit code %d\n%s\n%s", strings.Join(args, " "), code, p.stdout.text(), p.stderr.text())
	}
	all, _, _ := p.stdout.snapshot()
	return all
}

// seq is the input of n lines that begin with prefix.
func seq(prefix string, n int) string { return strings.Join(numbered(prefix, n), "\n") + "\n" }

// TestKcatLists reads the metadata as text and as JSON.
func TestKcatLists(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "listed", 3)
	text := strings.Join(kcat(t, "", "-L", "-b", b.addr), "\n")
	for _, want := range []string{"1 brokers:", "broker 1 at " + b.addr + " (controller)", `topic "listed" with 3 partitions:`, "partition 2, leader 1, replicas: 1, isrs: 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("kcat -L does not print %q:\n%s", want, text)
		}
	}
	var listed struct {
		ControllerID int `json:"controllerid"`
		Brokers      []struct {
			ID   int
			Name string
		}
		Topics []struct {
			Topic      string
			Partitions []struct{ Partition, Leader int }
		}
	}
	if err := json.Unmarshal([]byte(strings.Join(kcat(t, "", "-L", "-J", "-b", b.addr), "\n")), &listed); err != nil {
		t.Fatal(err)
	}
	if listed.ControllerID != 1 || len(listed.Brokers) != 1 || listed.Brokers[0].Name != b.addr || len(listed.Topics) != 1 || len(listed.Topics[0].Partitions) != 3 {
		t.Errorf("kcat -L -J: %+v", listed)
	}
}

// TestKcatProducesWithEveryCodec produces compressed, and looks at how the batches lie in the broker: librdkafka stops
// compressing without a word when the advertised versions of Produce look wrong to it.
func TestKcatProducesWithEveryCodec(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin := newAdmin(t, b.addr)
	client := newClient(t, b.addr)
	for bits, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		topic := "kcat-" + codec
		createTopic(t, admin, topic, 1)
		kcat(t, seq("a rather repetitive line, number ", 200), "-P", "-b", b.addr, "-t", topic, "-z", codec)
		batches, end := fetchBatches(t, client, topic, topicID(t, admin, topic), 0, 0)
		if end != 200 {
			t.Errorf("%s: %d records arrived, want 200", codec, end)
		}
		size := 0
		for _, batch := range batches {
			size += len(batch.Records)
			if got := int(batch.Attributes & 7); got != bits {
				t.Errorf("%s: the batch at %d lies with codec %d, want %d", codec, batch.FirstOffset, got, bits)
			}
		}
		if codec != "none" && size > 4000 {
			t.Errorf("%s: 200 lines of 36 bytes take %d bytes", codec, size)
		}
		if got := kcat(t, "", "-C", "-b", b.addr, "-t", topic, "-e", "-q", "-X", "fetch.wait.max.ms=50"); !slices.Equal(got, numbered("a rather repetitive line, number ", 200)) {
			t.Errorf("%s: kcat -C read %d lines back, or others", codec, len(got))
		}
	}
	// Idempotent, with keys and headers.
	createTopic(t, admin, "kcat-idempotent", 1)
	kcat(t, "k1:v1\nk2:v2\n", "-P", "-b", b.addr, "-t", "kcat-idempotent", "-K:", "-H", "h=x", "-X", "enable.idempotence=true")
	if got := kcat(t, "", "-C", "-b", b.addr, "-t", "kcat-idempotent", "-e", "-q", "-f", `%p %o %k=%s %h\n`); !slices.Equal(got, []string{"0 0 k1=v1 h=x", "0 1 k2=v2 h=x"}) {
		t.Errorf("keys and headers came back as %q", got)
	}
}

// TestKcatConsumesFromEveryOffset starts at the beginning, the end, an offset, an offset from the end, and a time.
func TestKcatConsumesFromEveryOffset(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "from", 1)
	client := newClient(t, b.addr)
	base := time.Now().Add(-time.Hour).UnixMilli()
	for i := range 10 {
		r := &kgo.Record{Topic: "from", Value: fmt.Append(nil, i), Timestamp: time.UnixMilli(base + int64(i)*1000)}
		if err := client.ProduceSync(limited(t), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-o", "beginning"}, numbered("", 10)},
		{[]string{"-o", "beginning", "-c", "3"}, numbered("", 3)},
		{[]string{"-o", "7"}, []string{"7", "8", "9"}},
		{[]string{"-o", "-2"}, []string{"8", "9"}},
		{[]string{"-o", "end"}, nil},
		{[]string{"-o", "s@" + strconv.FormatInt(base+4500, 10)}, []string{"5", "6", "7", "8", "9"}},
		{[]string{"-o", "s@" + strconv.FormatInt(base+2000, 10), "-o", "e@" + strconv.FormatInt(base+5000, 10)}, []string{"2", "3", "4"}},
		{[]string{"-o", "s@" + strconv.FormatInt(base+3_600_000*2, 10)}, nil},
	} {
		if got := kcat(t, "", append([]string{"-C", "-b", b.addr, "-t", "from", "-p", "0", "-e", "-q", "-X", "fetch.wait.max.ms=50"}, c.args...)...); !slices.Equal(got, c.want) {
			t.Errorf("kcat -C %v: %q, want %q", c.args, got, c.want)
		}
	}
	for _, c := range []struct{ at, want string }{
		{"-2", "from [0] offset 0"}, {"-1", "from [0] offset 10"}, {strconv.FormatInt(base+6500, 10), "from [0] offset 7"},
	} {
		if got := kcat(t, "", "-Q", "-b", b.addr, "-t", "from:0:"+c.at); !slices.Equal(got, []string{c.want}) {
			t.Errorf("kcat -Q at %s: %q, want %q", c.at, got, c.want)
		}
	}
	// Auto-creation, by a producer that does not ask.
	kcat(t, "hello\n", "-P", "-b", b.addr, "-t", "never-created")
	if got := kcat(t, "", "-C", "-b", b.addr, "-t", "never-created", "-e", "-q"); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("the topic that was created on the way holds %q", got)
	}
}

// kcatMember starts a member of a group whose lines say partition, offset and value. It is ready at once; what it is
// assigned, the broker's log and its own standard error tell.
func kcatMember(t testing.TB, addr, group, topic string) *process {
	t.Helper()
	return launch(t, kcatCommand(
		t, "", "-b", addr, "-X", "session.timeout.ms=1000", "-X", "heartbeat.interval.ms=100", "-X", "auto.commit.interval.ms=50",
		"-X", "auto.offset.reset=earliest", "-X", "fetch.wait.max.ms=50", "-u", "-f", `%p %o %s\n`, "-G", group, topic,
	))
}

// assigned waits until a member of kcat says that it has so many partitions.
func (p *process) assigned(t testing.TB, from, partitions int) {
	t.Helper()
	p.stderr.wait(t, patience, from, fmt.Sprintf("assignment of %d partitions", partitions), func(s string) bool {
		_, list, ok := strings.Cut(s, "assigned: ")
		return ok && len(strings.Split(list, ", ")) == partitions
	})
}

// TestKcatGroup lets two members share four partitions, kills one with kill -9, and later kills the broker: nothing is
// lost, and what was read twice was not committed.
func TestKcatGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := serveForever(t, dir)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "work", 4)
	one := kcatMember(t, b.addr, "kcats", "work")
	one.assigned(t, 0, 4)
	two := kcatMember(t, b.addr, "kcats", "work")
	two.assigned(t, 0, 2)
	one.assigned(t, 1, 2)
	produceEverywhere(t, b.addr, "first-", 40)
	for i := range 40 {
		waitEither(t, fmt.Sprint("first-", i), one, two)
	}

	log, mark := b.stderr.count(), one.stderr.count()
	two.kill()
	b.event(t, log, "kcats", "member-removed")
	b.message(t, log, "sent no heartbeat for 1 s")
	one.assigned(t, mark, 4)
	produceEverywhere(t, b.addr, "second-", 40)
	for i := range 40 {
		waitEither(t, fmt.Sprint("second-", i), one)
	}
	eventually(t, func() error {
		lags, err := admin.Lag(limited(t), "kcats")
		if err != nil {
			return err
		}
		if lag := lags["kcats"].Lag.Total(); lag != 0 {
			return fmt.Errorf("the group has lag %d", lag)
		}
		return nil
	})

	one.kill()
	b.kill()
	b = serve(t, dir)
	again := kcatMember(t, b.addr, "kcats", "work")
	again.assigned(t, 0, 4) // once the killed member's session, which came back, has ended
	produceEverywhere(t, b.addr, "third-", 40)
	for i := range 40 {
		waitEither(t, fmt.Sprint("third-", i), again)
	}
	lines, _, _ := again.stdout.snapshot()
	for _, line := range lines {
		if !strings.Contains(line, " third-") {
			t.Errorf("after kill -9 of the broker the group read %q again; everything before was committed", line)
		}
	}
	again.kill()
}

// produceEverywhere produces n records, over all partitions of topic "work".
func produceEverywhere(t testing.TB, addr, prefix string, n int) {
	t.Helper()
	client := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i, v := range numbered(prefix, n) {
		produce(t, client, "work", int32(i%4), v)
	}
}

// waitEither waits until one of the members has printed a value.
func waitEither(t testing.TB, value string, members ...*process) {
	t.Helper()
	eventually(t, func() error {
		for _, m := range members {
			lines, _, _ := m.stdout.snapshot()
			for _, line := range lines {
				if strings.HasSuffix(line, " "+value) {
					return nil
				}
			}
		}
		return fmt.Errorf("nobody has read %s; they said:\n%s", value, members[0].stderr.text())
	})
}
