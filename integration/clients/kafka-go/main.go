// The worker of segmentio's kafka-go; see ../README.md. A member is a Reader with a GroupID, as most use it, or with
// KAFKA_GO=group a ConsumerGroup with a Reader for each partition, which is bound to its generation.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func main() {
	verb, args := lines.Parse()
	switch verb {
	case "version":
		lines.Version("github.com/segmentio/kafka-go")
	case "produce":
		produce(args)
	case "consume":
		if os.Getenv("KAFKA_GO") == "group" {
			consumeGroup(args)
		} else {
			consumeReader(args)
		}
	case "lag":
		lag(args)
	case "admin":
		admin(args)
	default:
		lines.Fail(fmt.Errorf("unknown verb %q", verb))
	}
}

// diary writes to standard error.
func diary() kafka.Logger {
	return log.New(os.Stderr, "", log.LstdFlags)
}

// client returns kafka-go's client for single requests.
func client(args lines.Args) *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(strings.Split(args["bootstrap"], ",")...), Timeout: 30 * time.Second}
}

// codecs are kafka-go's, by Kafka's names.
var codecs = map[string]kafka.Compression{
	"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
}

func produce(args lines.Args) {
	partitions := args.Int("partitions")
	for _, codec := range strings.Split(args["codecs"], ",") {
		var messages []kafka.Message
		for i := range args.Int("count") {
			messages = append(messages, kafka.Message{
				Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s-%d%s", codec, i, strings.Repeat("x", 100)),
				Headers: []kafka.Header{{Key: "n", Value: fmt.Append(nil, i)}},
			})
		}
		w := &kafka.Writer{
			Addr: kafka.TCP(strings.Split(args["bootstrap"], ",")...), Topic: args["topic"] + "-" + codec, Compression: codecs[codec],
			RequiredAcks: kafka.RequireAll, // the default is to wait for nothing
			Balancer: kafka.BalancerFunc(func(m kafka.Message, _ ...int) int {
				return int(lines.Number(string(m.Headers[0].Value)) % partitions)
			}),
			ErrorLogger: diary(),
		}
		if err := w.WriteMessages(context.Background(), messages...); err != nil {
			lines.Fail(err)
		}
		if err := w.Close(); err != nil {
			lines.Fail(err)
		}
		lines.Emit("produced", lines.Fields{"codec": codec, "count": args.Int("count")})
	}
}

func lag(args lines.Args) {
	c := client(args)
	var partitions []int
	for p := range int(args.Int("partitions")) {
		partitions = append(partitions, p)
	}
	committed, err := committedOffsets(c, args["group"], args["topic"], partitions)
	if err != nil {
		lines.Fail(err)
	}
	ends, err := listOffsets(c, args["topic"], partitions, kafka.LastOffsetOf)
	if err != nil {
		lines.Fail(err)
	}
	result := map[int]int64{}
	for p, offset := range committed {
		if offset >= 0 {
			result[p] = ends[p] - offset
		}
	}
	lines.Emit("lag", lines.Fields{"lag": result})
}

// committedOffsets asks the coordinator; -1 where there is none.
func committedOffsets(c *kafka.Client, group, topic string, partitions []int) (map[int]int64, error) {
	resp, err := c.OffsetFetch(context.Background(), &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: partitions}})
	if err == nil {
		err = resp.Error
	}
	if err != nil {
		return nil, err
	}
	result := map[int]int64{}
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		result[p.Partition] = p.CommittedOffset
	}
	return result, nil
}

// listOffsets asks for an offset of each partition: first, last, or by time (-1 if there is none).
func listOffsets(c *kafka.Client, topic string, partitions []int, of func(int) kafka.OffsetRequest) (map[int]int64, error) {
	var asked []kafka.OffsetRequest
	for _, p := range partitions {
		asked = append(asked, of(p))
	}
	resp, err := c.ListOffsets(context.Background(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: asked}})
	if err != nil {
		return nil, err
	}
	result := map[int]int64{}
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		switch of(p.Partition).Timestamp {
		case kafka.FirstOffset:
			result[p.Partition] = p.FirstOffset
		case kafka.LastOffset:
			result[p.Partition] = p.LastOffset
		default:
			result[p.Partition] = -1
			for offset := range p.Offsets {
				result[p.Partition] = offset
			}
		}
	}
	return result, nil
}

// byTime returns the request for the first offset not older than a time.
func byTime(ms int64) func(int) kafka.OffsetRequest {
	return func(p int) kafka.OffsetRequest { return kafka.TimeOffsetOf(p, time.UnixMilli(ms)) }
}
