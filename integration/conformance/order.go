package conformance

import (
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// looseOrder are the lists of an answer whose order is the broker's own because the request named no order: all
// offsets of a group.
func looseOrder(req kmsg.Request) map[reflect.Type]bool {
	loose := map[reflect.Type]bool{}
	f, ok := req.(*kmsg.OffsetFetchRequest)
	if !ok {
		return loose
	}
	all := f.Version < 8 && f.Topics == nil
	for _, g := range f.Groups {
		all = all || g.Topics == nil
	}
	if all {
		loose[reflect.TypeFor[kmsg.OffsetFetchResponseTopic]()] = true
		loose[reflect.TypeFor[kmsg.OffsetFetchResponseTopicPartition]()] = true
		loose[reflect.TypeFor[kmsg.OffsetFetchResponseGroupTopic]()] = true
		loose[reflect.TypeFor[kmsg.OffsetFetchResponseGroupTopicPartition]()] = true
	}
	return loose
}

// keepOwn leaves out what an answer says about the groups and topics of other scenarios, and the cluster's id.
func keepOwn(resp kmsg.Response, group string) {
	prefix := strings.TrimSuffix(group, "g")
	switch resp := resp.(type) {
	case *kmsg.ListGroupsResponse:
		resp.Groups = slices.DeleteFunc(resp.Groups, func(g kmsg.ListGroupsResponseGroup) bool {
			return !strings.HasPrefix(g.Group, prefix)
		})
	case *kmsg.DescribeClusterResponse:
		resp.ClusterID = "<cluster>"
	case *kmsg.MetadataResponse:
		if resp.ClusterID != nil {
			resp.ClusterID = kmsg.StringPtr("<cluster>")
		}
		resp.Topics = slices.DeleteFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool {
			return len(resp.Topics) > 3 && t.Topic != nil && !strings.HasPrefix(*t.Topic, prefix)
		})
	}
}

// idAt is the topic id at a path such as Topics[0].TopicID.
func idAt(v reflect.Value, path string) (id [16]byte, ok bool) {
	for part := range strings.SplitSeq(path, ".") {
		name, index, indexed := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		if v.Kind() != reflect.Struct {
			return id, false
		}
		if v = v.FieldByName(name); !v.IsValid() {
			return id, false
		}
		if indexed {
			i, err := strconv.Atoi(index)
			if err != nil || v.Kind() != reflect.Slice || i >= v.Len() {
				return id, false
			}
			v = v.Index(i)
		}
	}
	id, ok = v.Interface().([16]byte)
	return id, ok
}

func portOf(addr string) int32 {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0
	}
	return int32(n)
}
