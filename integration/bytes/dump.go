package offsetbytes

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const offsetsTopic = "__consumer_offsets"

// Field is one field of a record, by a path such as value.members[0].clientId.
type Field struct{ Path, Value string }

// Record is one record of the offsets topic. Fields have the names that Kafka's formatters print.
type Record struct {
	Partition int32
	Offset    int64
	Group     string
	Fields    []Field
}

// Dump reads the offsets topic from its beginning to its end, as any consumer can. It is in the order of the log, but for
// members of a group: those stand in the order of their subscriptions if ordered.
func (h *History) Dump(ctx context.Context, ordered bool) ([]Record, error) {
	ends, err := kadm.NewClient(h.admin).ListEndOffsets(ctx, offsetsTopic)
	if err := errors.Join(err, ends.Error()); err != nil {
		return nil, err
	}
	from, left := map[int32]kgo.Offset{}, map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			from[o.Partition], left[o.Partition] = kgo.NewOffset().AtStart(), o.Offset
		}
	})
	c, err := h.client("dump", kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{offsetsTopic: from}))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var all []Record
	for len(left) > 0 {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return nil, err
		}
		for _, r := range fetches.Records() {
			decoded, err := decode(r.Key, r.Value, ordered)
			if err != nil {
				return nil, fmt.Errorf("%s-%d at %d: %w", offsetsTopic, r.Partition, r.Offset, err)
			}
			decoded.Partition, decoded.Offset = r.Partition, r.Offset
			all = append(all, decoded)
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		}
	}
	return all, nil
}

// decode takes a record apart.
func decode(key, value []byte, ordered bool) (Record, error) {
	if len(key) < 2 {
		return Record{}, fmt.Errorf("a key of %d bytes", len(key))
	}
	switch kind := binary.BigEndian.Uint16(key); kind {
	case 0, 1:
		return decodeOffset(key, value)
	case 2:
		return decodeGroup(key, value, ordered)
	default:
		return Record{}, fmt.Errorf("a key of kind %d", kind)
	}
}

func decodeOffset(key, value []byte) (Record, error) {
	var k kmsg.OffsetCommitKey
	if err := k.ReadFrom(key); err != nil {
		return Record{}, err
	}
	r := Record{Group: k.Group}
	r.add("key.type", k.Version)
	r.add("key.data.group", k.Group)
	r.add("key.data.topic", k.Topic)
	r.add("key.data.partition", k.Partition)
	if value == nil {
		r.add("value", "null")
		return r, nil
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(value); err != nil {
		return r, err
	}
	r.add("value.version", v.Version)
	r.add("value.data.offset", v.Offset)
	if v.Version >= 3 {
		r.add("value.data.leaderEpoch", v.LeaderEpoch)
	}
	r.add("value.data.metadata", v.Metadata)
	r.add("value.data.commitTimestamp", v.CommitTimestamp)
	if v.Version == 1 {
		r.add("value.data.expireTimestamp", v.ExpireTimestamp)
	}
	return r, nil
}

func decodeGroup(key, value []byte, ordered bool) (Record, error) {
	var k kmsg.GroupMetadataKey
	if err := k.ReadFrom(key); err != nil {
		return Record{}, err
	}
	r := Record{Group: k.Group}
	r.add("key.type", k.Version)
	r.add("key.data.group", k.Group)
	if value == nil {
		r.add("value", "null")
		return r, nil
	}
	var v kmsg.GroupMetadataValue
	if err := v.ReadFrom(value); err != nil {
		return r, err
	}
	if ordered {
		slices.SortFunc(v.Members, func(a, b kmsg.GroupMetadataValueMember) int { return bytes.Compare(a.Subscription, b.Subscription) })
	}
	r.add("value.version", v.Version)
	r.add("value.data.protocolType", v.ProtocolType)
	r.add("value.data.generation", v.Generation)
	r.add("value.data.protocol", nullable(v.Protocol))
	r.add("value.data.leader", nullable(v.Leader))
	r.add("value.data.currentStateTimestamp", v.CurrentStateTimestamp)
	r.add("value.data.members", len(v.Members))
	for i, m := range v.Members {
		at := fmt.Sprintf("value.data.members[%d].", i)
		r.add(at+"memberId", m.MemberID)
		r.add(at+"groupInstanceId", nullable(m.InstanceID))
		r.add(at+"clientId", m.ClientID)
		r.add(at+"clientHost", m.ClientHost)
		r.add(at+"rebalanceTimeout", m.RebalanceTimeoutMillis)
		r.add(at+"sessionTimeout", m.SessionTimeoutMillis)
		r.add(at+"subscription", base64.StdEncoding.EncodeToString(m.Subscription))
		r.add(at+"assignment", base64.StdEncoding.EncodeToString(m.Assignment))
	}
	return r, nil
}

func (r *Record) add(path string, value any) {
	r.Fields = append(r.Fields, Field{path, fmt.Sprint(value)})
}

func nullable(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// uuids are what both brokers draw: the end of a member id.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Normalize replaces what has to differ between two runs: ids by the order in which they appear, and wall clock times by
// whether they are plausible and how far an expiry is from its commit.
func Normalize(records []Record, began, ended time.Time) {
	ids, seen := map[string]string{}, map[string]int{}
	for i := range records {
		committed := int64(0)
		for j := range records[i].Fields {
			f := &records[i].Fields[j]
			f.Value = uuids.ReplaceAllStringFunc(f.Value, func(id string) string {
				if ids[id] == "" {
					seen[records[i].Group]++
					ids[id] = fmt.Sprintf("<id %d>", seen[records[i].Group])
				}
				return ids[id]
			})
			if !strings.HasSuffix(f.Path, "Timestamp") {
				continue
			}
			ms, err := strconv.ParseInt(f.Value, 10, 64)
			switch {
			case err != nil:
			case strings.HasSuffix(f.Path, "expireTimestamp"):
				f.Value = fmt.Sprintf("commit + %d ms", ms-committed)
			case ms >= began.UnixMilli() && ms <= ended.UnixMilli():
				committed, f.Value = ms, "<now>"
			}
		}
	}
}
