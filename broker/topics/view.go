package topics

import (
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kohort/kohort/partitionlog"
)

// View is the catalogue as clients may see it.
type View struct{ Store *partitionlog.Store }

// Lookup finds a topic by id or by name. A topic whose deletion has begun is not there any more.
//
// Errors: with a nil topic, what a partition of it is answered with: UNKNOWN_TOPIC_ID or UNKNOWN_TOPIC_OR_PARTITION.
func (v *View) Lookup(byID bool, name string, id [16]byte) (*partitionlog.Topic, *kerr.Error) {
	if byID {
		if t := v.Store.TopicByID(id); t != nil && !t.Deleting && id != ([16]byte{}) {
			return t, nil
		}
		return nil, kerr.UnknownTopicID
	}
	if t := v.Store.Topic(name); t != nil && !t.Deleting {
		return t, nil
	}
	return nil, kerr.UnknownTopicOrPartition
}

// Partition finds a partition, or says why there is none.
func (v *View) Partition(byID bool, name string, id [16]byte, index int32) (*partitionlog.Partition, *kerr.Error) {
	t, err := v.Lookup(byID, name, id)
	if err != nil {
		return nil, err
	}
	if index < 0 || int(index) >= len(t.Partitions) {
		return nil, kerr.UnknownTopicOrPartition
	}
	return t.Partitions[index], nil
}

// CheckEpoch compares the leader epoch that a client believes in with the broker's.
//
// Source: Partition.checkCurrentLeaderEpoch; KIP-320.
func (v *View) CheckEpoch(epoch int32) *kerr.Error {
	current := v.Store.LeaderEpoch()
	switch {
	case epoch < 0 || epoch == current:
		return nil
	case epoch < current:
		return kerr.FencedLeaderEpoch
	}
	return kerr.UnknownLeaderEpoch
}
