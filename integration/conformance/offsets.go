package conformance

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// offsetsTopic is where groups and offsets are kept.
const offsetsTopic = "__consumer_offsets"

// readOffsets reads the offsets topic from its beginning and writes what it says of one group, in its order.
func (r *run) readOffsets(s *Step) ([]Leaf, error) {
	c, err := dial(r.target.Addr())
	if err != nil {
		return nil, err
	}
	defer c.net.Close()
	group, err := expandNames(strings.Trim(s.Group, `"`), r.lookup)
	if err != nil {
		return nil, err
	}
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version = 9
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr(offsetsTopic)
	meta.Topics = append(meta.Topics, topic)
	described, err := ask[*kmsg.MetadataResponse](c, meta)
	if err != nil {
		return nil, err
	}
	var out []Leaf
	n := 0
	for _, p := range described.Topics[0].Partitions {
		err := readPartition(c, p.Partition, func(rec partitionlog.Record) error {
			leaves := r.renderer(nil).record(rec, group)
			for _, l := range leaves {
				out = append(out, Leaf{fmt.Sprintf("Records[%d].%s", n, l.Path), l.Value})
			}
			if leaves != nil {
				n++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n > 0 && !slices.ContainsFunc(out, func(l Leaf) bool { return l.Path == "Partition" }) {
			out = append([]Leaf{{"Partition", fmt.Sprint(p.Partition)}}, out...)
		}
	}
	if r.scenario.Settings["offsets.topic.num.partitions"] == "" && len(out) > 0 {
		out = out[1:] // the partition of a group with a name of its own
	}
	return append(out, Leaf{"Records", fmt.Sprint(n)}), nil
}

// readPartition hands out all records of a partition of the offsets topic.
func readPartition(c *conn, partition int32, fn func(partitionlog.Record) error) error {
	for offset := int64(0); ; {
		f := kmsg.NewPtrFetchRequest()
		f.Version, f.ReplicaID, f.MaxBytes, f.SessionEpoch = 12, -1, 4<<20, -1
		t := kmsg.NewFetchRequestTopic()
		t.Topic = offsetsTopic
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, 4<<20
		t.Partitions = append(t.Partitions, p)
		f.Topics = append(f.Topics, t)
		resp, err := ask[*kmsg.FetchResponse](c, f)
		if err != nil {
			return err
		}
		got := resp.Topics[0].Partitions[0]
		if got.ErrorCode != 0 {
			return fmt.Errorf("fetching %s-%d: error %d", offsetsTopic, partition, got.ErrorCode)
		}
		before := offset
		for batches := got.RecordBatches; len(batches) > 0; {
			b, rest, err := partitionlog.NextBatch(batches)
			if err != nil {
				break
			}
			if !b.IsControl() {
				if err := b.Records(fn); err != nil {
					return err
				}
			}
			offset, batches = b.NextOffset(), rest
		}
		if offset == before {
			return nil
		}
	}
}

// record writes one record of the offsets topic, or nothing when it is about another group.
func (r *renderer) record(rec partitionlog.Record, group string) []Leaf {
	var key, value interface{ ReadFrom([]byte) error }
	kind := int16(-1)
	if len(rec.Key) > 1 {
		kind = int16(rec.Key[0])<<8 | int16(rec.Key[1])
	}
	switch kind {
	case 0, 1:
		k, v := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
		key, value = &k, &v
	case 2:
		k, v := kmsg.NewGroupMetadataKey(), kmsg.NewGroupMetadataValue()
		key, value = &k, &v
	default:
		return nil
	}
	if err := key.ReadFrom(rec.Key); err != nil {
		return []Leaf{{"Key", err.Error()}}
	}
	if reflect.ValueOf(key).Elem().FieldByName("Group").String() != group {
		return nil
	}
	out := []Leaf{{"Key.Version", fmt.Sprint(kind)}}
	out = append(out, r.value("Key", reflect.ValueOf(key).Elem())...)
	if rec.Value == nil {
		return append(out, Leaf{"Value", "null"})
	}
	if err := value.ReadFrom(rec.Value); err != nil {
		return append(out, Leaf{"Value", err.Error()})
	}
	v := reflect.ValueOf(value).Elem()
	out = append(out, Leaf{"Value.Version", fmt.Sprint(v.FieldByName("Version").Int())})
	for _, l := range r.value("Value", v) {
		if !strings.HasSuffix(l.Path, "UnknownTags") {
			out = append(out, l)
		}
	}
	return out
}
