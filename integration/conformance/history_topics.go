package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// settleTopics waits, after an answer that changes the history's own topic, until the change has reached everything:
// Kafka answers before its brokers know the topic or forget it, and writes the tombstones of a deleted topic's offsets
// later still. The waiting uses a connection of its own and leaves no trace in the transcript.
func (r *run) settleTopics(resp kmsg.Response) error {
	var settled func(*conn) error
	switch resp := resp.(type) {
	case *kmsg.CreateTopicsResponse:
		if resp.Topics[0].ErrorCode == 0 {
			settled = r.topicServed
		}
	case *kmsg.CreatePartitionsResponse:
		if resp.Topics[0].ErrorCode == 0 {
			r.history.partitions++ // from now on at least that many
			settled = r.topicServed
		}
	case *kmsg.DeleteTopicsResponse:
		if resp.Topics[0].ErrorCode == 0 {
			r.history.partitions = 0
			settled = r.topicForgotten
		}
	default:
	}
	if settled == nil {
		return nil
	}
	c, err := dial(r.target.Addr())
	if err != nil {
		return err
	}
	defer c.net.Close()
	return until(func() error { return settled(c) })
}

// topicServed tells why the topic cannot be used yet, and learns its id.
func (r *run) topicServed(c *conn) error {
	t, err := r.topicInMetadata(c)
	if err != nil {
		return err
	}
	if t.ErrorCode != 0 || len(t.Partitions) < r.history.partitions {
		return fmt.Errorf("%s has error %d and %d partitions", r.vars["$d"], t.ErrorCode, len(t.Partitions))
	}
	if id := formatID(t.TopicID); id != r.vars["$d.id"] {
		r.vars["$d.old"] = r.vars["$d.id"]
		r.vars["$d.id"] = id
	}
	r.history.partitions = len(t.Partitions)
	return leaders(c, r.vars["$d"], int32(len(t.Partitions)))
}

// topicForgotten tells why the topic is still known somewhere: to the broker, or by its offsets to the group.
func (r *run) topicForgotten(c *conn) error {
	t, err := r.topicInMetadata(c)
	if err != nil {
		return err
	}
	if t.ErrorCode != errUnknownTopic {
		return fmt.Errorf("%s is still there: error %d", r.vars["$d"], t.ErrorCode)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version = 9
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.Topics, g.MemberEpoch = r.vars["$g"], nil, -1
	fetch.Groups = append(fetch.Groups, g)
	resp, err := ask[*kmsg.OffsetFetchResponse](c, fetch)
	if err != nil {
		return err
	}
	for _, t := range resp.Groups[0].Topics {
		if strings.EqualFold(t.Topic, r.vars["$d"]) {
			return fmt.Errorf("the offsets of %s are still there", t.Topic)
		}
	}
	return nil
}

// errUnknownTopic is UNKNOWN_TOPIC_OR_PARTITION.
const errUnknownTopic = 3

func (r *run) topicInMetadata(c *conn) (t kmsg.MetadataResponseTopic, err error) {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version, meta.AllowAutoTopicCreation = 12, false
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(r.vars["$d"])
	meta.Topics = append(meta.Topics, asked)
	resp, err := ask[*kmsg.MetadataResponse](c, meta)
	if err != nil {
		return t, err
	}
	if len(resp.Topics) != 1 {
		return t, fmt.Errorf("metadata of %d topics", len(resp.Topics))
	}
	return resp.Topics[0], nil
}

// Deletions is how many topics a history deleted.
func Deletions(s *Scenario, t Transcript) (n int) {
	for i, a := range t.Steps {
		if s.Steps[i].API == "DeleteTopics" && valueAt(a.Leaves, "(Z)Topics[0].ErrorCode") == "0" {
			n++
		}
	}
	return n
}
