package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// call makes bytes with one of the notation's functions:
//
//	repeat(é, 4096)          a text many times
//	subscription($t, $u)     the metadata of a consumer that subscribes to topics
//	records(k=v@100, =v@200) a batch of records with keys, values and timestamps; (producer 7 1 0) as the first
//	                         argument makes it idempotent: producer id, epoch, first sequence; codec/gzip compresses
func call(v Value, vars lookup) ([]byte, error) {
	var args []string
	for _, a := range v.Call {
		text, err := textOf(a, vars)
		if err != nil {
			return nil, err
		}
		args = append(args, text)
	}
	switch v.Word {
	case "repeat":
		if len(args) != 2 {
			return nil, fmt.Errorf("want repeat(text, times)")
		}
		n, err := strconv.Atoi(args[1])
		return []byte(strings.Repeat(args[0], n)), err
	case "subscription":
		m := kmsg.NewConsumerMemberMetadata()
		m.Topics = args
		return m.AppendTo(nil), nil
	case "records":
		return batchOf(args)
	default:
		return nil, fmt.Errorf("no function is called %q", v.Word)
	}
}

func batchOf(args []string) ([]byte, error) {
	codec := partitionlog.None
	if name, ok := strings.CutPrefix(args[0], "codec/"); ok {
		if codec, ok = partitionlog.ParseCodec(name); !ok {
			return nil, fmt.Errorf("no codec is called %q", name)
		}
		args = args[1:]
	}
	b := partitionlog.NewBuilder(codec)
	delta := int32(0)
	for _, a := range args {
		if rest, ok := strings.CutPrefix(a, "producer/"); ok {
			var epoch int16
			var first int32
			var id int64
			if _, err := fmt.Sscanf(rest, "%d/%d/%d", &id, &epoch, &first); err != nil {
				if strings.Contains(rest, "$") {
					continue // only parsed, not run
				}
				return nil, fmt.Errorf("producer/%s: want producer/id/epoch/sequence: %w", rest, err)
			}
			b.ProducerID, b.ProducerEpoch, b.BaseSequence = id, epoch, first
			continue
		}
		keyValue, at, _ := strings.Cut(a, "@")
		key, value, ok := strings.Cut(keyValue, "=")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || !ok {
			return nil, fmt.Errorf("%q: want key=value@timestamp", a)
		}
		var k []byte
		if key != "" {
			k = []byte(key)
		}
		b.Add(delta, ms, k, []byte(value), nil)
		delta++
	}
	return b.Bytes(0), nil
}

// recordLeaves writes fetched batches record by record.
func recordLeaves(batches []byte) []string {
	out := []string{}
	for len(batches) > 0 {
		b, rest, err := partitionlog.NextBatch(batches)
		if err != nil {
			break // the last batch may be cut off, as in Kafka
		}
		err = b.Records(func(r partitionlog.Record) error {
			out = append(out, fmt.Sprintf("offset %d time %s %s=%s", b.BaseOffset()+int64(r.OffsetDelta), timeText(r.Timestamp), r.Key, r.Value))
			return nil
		})
		if err != nil {
			out = append(out, "unreadable: "+err.Error())
		}
		batches = rest
	}
	return out
}

func timeText(ms int64) string {
	if ms > 1_000_000_000_000 {
		return "<time>"
	}
	return strconv.FormatInt(ms, 10)
}
