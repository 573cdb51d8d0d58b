// The worker of sarama; see ../README.md. The tag `old` is for versions before 1.46, which lack some of its api.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func main() {
	sarama.Logger = log.New(os.Stderr, "", log.LstdFlags)
	verb, args := lines.Parse()
	switch verb {
	case "version":
		lines.Version("github.com/IBM/sarama")
	case "produce":
		produce(args)
	case "consume":
		consume(args)
	case "lag":
		lag(args)
	case "admin":
		admin(args)
	default:
		lines.Fail(fmt.Errorf("unknown verb %q", verb))
	}
}

// brokers returns the addresses.
func brokers(args lines.Args) []string {
	return strings.Split(args["bootstrap"], ",")
}

// codecs are sarama's, by Kafka's names.
var codecs = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
}

func produce(args lines.Args) {
	for _, codec := range strings.Split(args["codecs"], ",") {
		config := sarama.NewConfig()
		config.Producer.Return.Successes = true // a SyncProducer demands it
		config.Producer.Partitioner = sarama.NewManualPartitioner
		config.Producer.Compression = codecs[codec]
		if id := args["transactional"]; id != "" {
			transactional(config, id)
		}
		producer, err := sarama.NewSyncProducer(brokers(args), config)
		if err == nil {
			err = inTransaction(producer, args["transactional"] != "", func() error { return producer.SendMessages(messages(args, codec)) })
		}
		if err != nil {
			lines.Fail(inFull(err))
		}
		if err := producer.Close(); err != nil {
			lines.Fail(err)
		}
		lines.Emit("produced", lines.Fields{"codec": codec, "count": args.Int("count")})
	}
}

// inFull gives the reasons that ProducerErrors keep to themselves.
func inFull(err error) error {
	if failed, ok := err.(sarama.ProducerErrors); ok && len(failed) > 0 {
		return fmt.Errorf("%w: %w", err, failed[0].Err)
	}
	return err
}

func messages(args lines.Args, codec string) []*sarama.ProducerMessage {
	var all []*sarama.ProducerMessage
	for i := range args.Int("count") {
		all = append(all, &sarama.ProducerMessage{
			Topic: args["topic"] + "-" + codec, Partition: int32(i % args.Int("partitions")),
			Key: sarama.StringEncoder(fmt.Sprintf("k%d", i)), Value: sarama.StringEncoder(fmt.Sprintf("%s-%d%s", codec, i, strings.Repeat("x", 100))),
			Headers: []sarama.RecordHeader{{Key: []byte("n"), Value: fmt.Append(nil, i)}},
		})
	}
	return all
}

func lag(args lines.Args) {
	client, err := sarama.NewClient(brokers(args), sarama.NewConfig())
	if err != nil {
		lines.Fail(err)
	}
	defer client.Close()
	adm, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		lines.Fail(err)
	}
	committed, err := committedOffsets(adm, args["group"], args["topic"], upTo(args.Int("partitions")))
	if err != nil {
		lines.Fail(err)
	}
	result := map[int32]int64{}
	for p, offset := range committed {
		end, err := client.GetOffset(args["topic"], p, sarama.OffsetNewest)
		if err != nil {
			lines.Fail(err)
		}
		if offset >= 0 {
			result[p] = end - offset
		}
	}
	lines.Emit("lag", lines.Fields{"lag": result})
}

// upTo returns the partitions 0 to n-1.
func upTo(n int64) []int32 {
	partitions := make([]int32, n)
	for i := range partitions {
		partitions[i] = int32(i)
	}
	return partitions
}

// committedOffsets asks the coordinator; -1 where there is none.
func committedOffsets(adm sarama.ClusterAdmin, group, topic string, partitions []int32) (map[int32]int64, error) {
	result := map[int32]int64{}
	if len(partitions) == 0 {
		return result, nil
	}
	resp, err := adm.ListConsumerGroupOffsets(group, map[string][]int32{topic: partitions})
	if err != nil {
		return nil, err
	}
	if resp.Err != sarama.ErrNoError {
		return nil, resp.Err
	}
	for p, block := range resp.Blocks[topic] {
		if block.Err != sarama.ErrNoError {
			return nil, block.Err
		}
		result[p] = block.Offset
	}
	return result, nil
}
