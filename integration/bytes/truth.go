package offsetbytes

import (
	"cmp"
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Truth is what a broker says about groups and topics.
type Truth struct {
	Groups []TruthGroup     `json:"groups"`
	Topics []TruthPartition `json:"topics"`
}

// TruthGroup is a group. Share groups have no offsets of this kind, and are not here.
type TruthGroup struct {
	Name         string        `json:"group"`
	Type         string        `json:"type"` // classic or consumer
	ProtocolType string        `json:"protocolType"`
	State        string        `json:"state"`
	Members      int           `json:"members"`
	Offsets      []TruthOffset `json:"offsets"`
}

// TruthOffset is a committed offset.
type TruthOffset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Metadata  string `json:"metadata"`
}

// TruthPartition says where a log begins and ends.
type TruthPartition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
}

// Truth asks the broker.
func (h *History) Truth(ctx context.Context) (*Truth, error) {
	admin := kadm.NewClient(h.admin)
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		return nil, err
	}
	truth := &Truth{}
	for _, g := range groups.Sorted() {
		if g.GroupType == "share" {
			continue
		}
		t := TruthGroup{Name: g.Group, Type: g.GroupType, ProtocolType: g.ProtocolType, State: g.State, Offsets: []TruthOffset{}}
		if t.Type != "consumer" {
			described, err := admin.DescribeGroups(ctx, g.Group)
			if err != nil {
				return nil, err
			}
			t.Members = len(described[g.Group].Members)
		}
		offsets, err := admin.FetchOffsets(ctx, g.Group)
		if err != nil {
			return nil, err
		}
		for _, o := range offsets.Sorted() {
			t.Offsets = append(t.Offsets, TruthOffset{o.Topic, o.Partition, o.At, o.Metadata})
		}
		if t.ProtocolType != "" || len(t.Offsets) > 0 {
			truth.Groups = append(truth.Groups, t) // what else there is lies in Kafka's memory only
		}
	}
	return truth, h.ends(ctx, admin, truth)
}

func (h *History) ends(ctx context.Context, admin *kadm.Client, truth *Truth) error {
	starts, err := admin.ListStartOffsets(ctx)
	if err != nil {
		return err
	}
	ends, err := admin.ListEndOffsets(ctx)
	if err != nil {
		return err
	}
	ends.Each(func(o kadm.ListedOffset) {
		start, _ := starts.Lookup(o.Topic, o.Partition)
		if o.Topic[0] != '_' {
			truth.Topics = append(truth.Topics, TruthPartition{o.Topic, o.Partition, start.Offset, o.Offset})
		}
	})
	slices.SortFunc(truth.Topics, func(a, b TruthPartition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return nil
}
