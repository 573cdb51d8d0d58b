package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// prepare makes what a scenario takes for granted: its topics, and a coordinator that answers for its groups.
func (r *run) prepare() error {
	if r.scenario.Alone {
		return nil
	}
	c, err := dial(r.target.Addr())
	if err != nil {
		return err
	}
	defer c.net.Close()
	if err := r.awaitGroups(c); err != nil {
		return err
	}
	for name, partitions := range map[string]int32{"$t": 3, "$u": 1} {
		if !uses(r.scenario.text, name) {
			continue
		}
		if err := r.createTopic(c, name, partitions); err != nil {
			return err
		}
	}
	return nil
}

// uses tells whether a text mentions a name, and not only a longer one.
func uses(text, name string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", rune(after[0])) {
			return true
		}
		rest = after
	}
}

// ask sends a request of the preparation, which must be answered.
func ask[T kmsg.Response](c *conn, req kmsg.Request) (resp T, err error) {
	if err := c.send(req); err != nil {
		return resp, err
	}
	answer, err := c.receive(answerTime)
	if err != nil {
		return resp, err
	}
	return answer.(T), nil
}

// awaitGroups waits until the coordinator serves the scenario's groups.
func (r *run) awaitGroups(c *conn) error {
	groups := []string{r.vars["$g"], r.vars["$g2"], r.vars["$g3"]}
	return until(func() error {
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKeys = 4, groups
		found, err := ask[*kmsg.FindCoordinatorResponse](c, find)
		if err != nil {
			return err
		}
		for _, f := range found.Coordinators {
			if f.ErrorCode != 0 {
				return fmt.Errorf("FindCoordinator of %s: error %d", f.Key, f.ErrorCode)
			}
		}
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Version, describe.Groups = 5, groups
		described, err := ask[*kmsg.DescribeGroupsResponse](c, describe)
		if err != nil {
			return err
		}
		for _, g := range described.Groups {
			if g.ErrorCode != 0 {
				return fmt.Errorf("DescribeGroups of %s: error %d", g.Group, g.ErrorCode)
			}
		}
		return nil
	})
}

// createTopic makes one of the fixture's topics and waits until it has leaders.
func (r *run) createTopic(c *conn, name string, partitions int32) error {
	topic := r.vars[name]
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 7, 10_000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
	create.Topics = append(create.Topics, t)
	created, err := ask[*kmsg.CreateTopicsResponse](c, create)
	if err != nil {
		return err
	}
	if code := created.Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("creating %s: error %d", topic, code)
	}
	r.vars[name+".id"] = formatID(created.Topics[0].TopicID)
	return until(func() error { return leaders(c, topic, partitions) })
}

// leaders tells why a topic cannot be used yet.
func leaders(c *conn, topic string, partitions int32) error {
	list := kmsg.NewPtrListOffsetsRequest()
	list.Version, list.ReplicaID = 7, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = i, -1, -1
		t.Partitions = append(t.Partitions, p)
	}
	list.Topics = append(list.Topics, t)
	resp, err := ask[*kmsg.ListOffsetsResponse](c, list)
	if err != nil {
		return err
	}
	for _, p := range resp.Topics[0].Partitions {
		if p.ErrorCode != 0 {
			return fmt.Errorf("%s-%d: error %d", topic, p.Partition, p.ErrorCode)
		}
	}
	return nil
}

// until repeats something until it succeeds, and gives its last error otherwise.
func until(f func() error) error {
	end := time.Now().Add(retryTime)
	for {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(retryPause)
	}
}

// registered tells why the broker cannot be talked to yet: it has to know itself.
func (k *Kafka) registered(c *conn) error {
	meta := kmsg.NewPtrMetadataRequest()
	meta.Version, meta.Topics = 9, []kmsg.MetadataRequestTopic{}
	resp, err := ask[*kmsg.MetadataResponse](c, meta)
	if err == nil && len(resp.Brokers) != 1 {
		err = fmt.Errorf("%d brokers", len(resp.Brokers))
	}
	return err
}
