// The worker of franz-go; see ../README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

func main() {
	verb, args := lines.Parse()
	switch verb {
	case "version":
		lines.Version("github.com/twmb/franz-go")
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

// connect makes a client, or ends the worker.
func connect(args lines.Args, options ...kgo.Opt) *kgo.Client {
	options = append(options, kgo.SeedBrokers(strings.Split(args["bootstrap"], ",")...),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)))
	cl, err := kgo.NewClient(options...)
	if err != nil {
		lines.Fail(err)
	}
	return cl
}

// codecs are kgo's, by Kafka's names.
var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func produce(args lines.Args) {
	for _, codec := range strings.Split(args["codecs"], ",") {
		options := []kgo.Opt{kgo.ProducerBatchCompression(codecs[codec]), kgo.RecordPartitioner(kgo.ManualPartitioner())}
		if id := args["transactional"]; id != "" {
			options = append(options, kgo.TransactionalID(id))
		}
		cl := connect(args, options...)
		if err := produceAll(cl, args, codec); err != nil {
			lines.Fail(err)
		}
		cl.Close()
		lines.Emit("produced", lines.Fields{"codec": codec, "count": args.Int("count")})
	}
}

// produceAll produces one codec's records and waits for them.
func produceAll(cl *kgo.Client, args lines.Args, codec string) error {
	ctx := context.Background()
	transactional := args["transactional"] != ""
	if transactional {
		if err := cl.BeginTransaction(); err != nil {
			return err
		}
	}
	var records []*kgo.Record
	for i := range args.Int("count") {
		records = append(records, &kgo.Record{
			Topic: args["topic"] + "-" + codec, Partition: int32(i % args.Int("partitions")),
			Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "%s-%d%s", codec, i, strings.Repeat("x", 100)),
			Headers: []kgo.RecordHeader{{Key: "n", Value: fmt.Append(nil, i)}},
		})
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil || !transactional {
		return err
	}
	return cl.EndTransaction(ctx, kgo.TryCommit)
}

func lag(args lines.Args) {
	cl := connect(args)
	defer cl.Close()
	lags, err := kadm.NewClient(cl).Lag(context.Background(), args["group"])
	if err == nil {
		err = lags.Error()
	}
	if err != nil {
		lines.Fail(err)
	}
	result := map[int32]int64{}
	for partition, l := range lags[args["group"]].Lag[args["topic"]] {
		if l.Commit.At >= 0 {
			result[partition] = l.Lag
		}
	}
	lines.Emit("lag", lines.Fields{"lag": result})
}

// quiet tells whether an error of a poll is only its own deadline.
func quiet(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// pollTime is how long a poll waits, and so at most a command.
const pollTime = 100 * time.Millisecond
