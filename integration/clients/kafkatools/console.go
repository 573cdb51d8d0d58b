package kafkatools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// console: the console producer and consumer, with a broker that is killed between them, and the consumer's formatters
// for the offsets topic.
func console(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	k, admin := open(t, folder, b), b.Admin(t)
	harness.CreateTopic(t, admin, "orders", 1)

	k.runWith("h:1|a\tone\nh:2|b\ttwo\nh:3|c\tthree\n", producerTool, "--topic", "orders", "--reader-property", "parse.key=true",
		"--reader-property", "parse.headers=true", "--reader-property", "headers.delimiter=|", "--compression-codec", "zstd")
	for i, r := range harness.Read(t, b, "orders")[0] {
		got := fmt.Sprintf("%s=%s %s %s", r.Headers[0].Key, r.Headers[0].Value, r.Key, r.Value)
		equal(t, "record", got, []string{"h=1 a one", "h=2 b two", "h=3 c three"}[i])
	}
	if codecs := harness.Batches(t, b, "orders", 0, 3); slices.ContainsFunc(codecs, func(c int8) bool { return c != 4 }) {
		t.Errorf("produced with zstd, the log has batches of codecs %v", codecs)
	}
	b.Kill()
	b.Restart(t)

	read := func(n string) string {
		return k.run(consumerTool, "--topic", "orders", "--group", "shop", "--from-beginning", "--max-messages", n,
			"--formatter-property", "print.key=true", "--formatter-property", "print.offset=true")
	}
	equal(t, "two records", read("2"), "Offset:0\ta\tone\nOffset:1\tb\ttwo\n")
	committed(t, admin, "after two records", map[int32]int64{0: 2})
	k.runWith("four\n", producerTool, "--topic", "orders")
	equal(t, "two more", read("2"), "Offset:2\tc\tthree\nOffset:3\tnull\tfour\n")
	committed(t, admin, "after four records", map[int32]int64{0: 4})

	offsetsTopic(t, k, b)
}

// offsetsTopic reads the group's partition of the offsets topic with both formatters.
func offsetsTopic(t *harness.T, k *tools, b *harness.Broker) {
	t.Helper()
	for partition, records := range harness.Read(t, b, "__consumer_offsets") {
		read := func(formatter string) []json.RawMessage {
			return documents(t, k.run(consumerTool, "--topic", "__consumer_offsets", "--partition", itoa(partition), "--offset", "earliest",
				"--max-messages", itoa(int64(len(records))), "--formatter", "org.apache.kafka.tools.consumer."+formatter))
		}
		var commit struct {
			Key struct {
				Data struct {
					Group, Topic string
					Partition    int32
				}
			}
			Value struct{ Data struct{ Offset int64 } }
		}
		commits := read("OffsetsMessageFormatter")
		last(t, commits, &commit)
		equal(t, "the newest commit", fmt.Sprintf("%v %v", commit.Key.Data, commit.Value.Data), "{shop orders 0} {4}")

		var group struct {
			Key   struct{ Data struct{ Group string } }
			Value struct {
				Data struct {
					ProtocolType string
					Generation   int32
					Members      []struct{ ClientID string }
				}
			}
		}
		metadata := read("GroupMetadataMessageFormatter")
		last(t, metadata, &group)
		equal(t, "the newest metadata", fmt.Sprintf("%v %v", group.Key.Data, group.Value.Data),
			fmt.Sprintf("{shop} {consumer %d []}", b.Generation("shop")))
		equal(t, "records that one of the formatters knows", len(commits)+len(metadata), len(records))
	}
}

// documents splits what the formatters print: JSON, not even a line break between two.
func documents(t *harness.T, text string) (all []json.RawMessage) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var document json.RawMessage
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		all = append(all, document)
	}
}

// last decodes the last document.
func last(t *harness.T, all []json.RawMessage, into any) {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("nothing was printed")
	}
	if err := json.Unmarshal(all[len(all)-1], into); err != nil {
		t.Fatal(err)
	}
}
