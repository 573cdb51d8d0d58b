package kafkatools

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// The tools' main classes.
const (
	topicsTool   = "org.apache.kafka.tools.TopicCommand"
	configsTool  = "org.apache.kafka.tools.ConfigCommand"
	groupTool    = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	groupsTool   = "org.apache.kafka.tools.GroupsCommand"
	offsetsTool  = "org.apache.kafka.tools.GetOffsetShell"
	recordsTool  = "org.apache.kafka.tools.DeleteRecordsCommand"
	logDirsTool  = "org.apache.kafka.tools.LogDirsCommand"
	versionsTool = "org.apache.kafka.tools.BrokerApiVersionsCommand"
	producerTool = "org.apache.kafka.tools.ConsoleProducer"
	consumerTool = "org.apache.kafka.tools.consumer.ConsoleConsumer"
	verifiableP  = "org.apache.kafka.tools.VerifiableProducer"
	verifiableC  = "org.apache.kafka.tools.VerifiableConsumer"
)

// tools is one JVM that runs tool after tool.
type tools struct {
	t       *harness.T
	broker  string
	process *harness.Process
	stdin   io.Writer
	asked   int
}

// open starts the JVM. It ends with the test.
func open(t *harness.T, folder *jvm.Folder, b *harness.Broker) *tools {
	t.Helper()
	cmd := folder.Command(t, "Tools")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return &tools{t: t, broker: b.Addr, process: harness.Start(t, cmd), stdin: stdin}
}

// feed runs a tool to its end, with lines on its standard input, and returns its exit code and what it printed to
// standard output and standard error.
func (k *tools) feed(input, main string, args ...string) (code int, out, errs string) {
	k.t.Helper()
	escape := strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\t", "\\t")
	words := append([]string{escape.Replace(input), main, "--bootstrap-server", k.broker}, args...)
	if _, err := fmt.Fprintln(k.stdin, strings.Join(words, "\t")); err != nil {
		k.t.Fatalf("%s: %v\n%s", main, err, k.process.Stderr.Text())
	}
	line := k.process.Stdout.Wait(k.t, k.asked, harness.Patience, "end of "+main, func(string) bool { return true })
	k.asked++
	answer := strings.Split(line, "\t")
	code, err := strconv.Atoi(answer[0])
	if err != nil || len(answer) != 3 {
		k.t.Fatalf("%s answers %q", main, line)
	}
	unescape := strings.NewReplacer("\\\\", "\\", "\\n", "\n", "\\t", "\t")
	return code, unescape.Replace(answer[1]), unescape.Replace(answer[2])
}

// try runs a tool that ought to fail with a text, on either output. Some of the tools tell of it by their exit code as
// well; others do not.
func (k *tools) try(text, main string, args ...string) {
	k.t.Helper()
	_, out, errs := k.feed("", main, args...)
	if !strings.Contains(out+errs, text) {
		k.t.Errorf("%s %v: want %q in\n%s%s", main, args, text, out, errs)
	}
}

// run runs a tool that ought to succeed, and returns what it printed to standard output.
func (k *tools) run(main string, args ...string) string {
	k.t.Helper()
	return k.runWith("", main, args...)
}

// runWith is run with standard input.
func (k *tools) runWith(input, main string, args ...string) string {
	k.t.Helper()
	code, out, errs := k.feed(input, main, args...)
	if code != 0 {
		k.t.Fatalf("%s %v: exit code %d\n%s%s", main, args, code, out, errs)
	}
	return out
}

// rows are the words of each line that is not empty, without the first, which names the columns.
func rows(out string) (all [][]string) {
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 0 {
			all = append(all, words)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[1:]
}
