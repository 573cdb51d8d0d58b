package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kohort/kohort/integration/clients/harness"
)

// desk is an admin worker at work, with the broker's own view beside it.
type desk struct {
	t      *testing.T
	client *Client
	worker *worker
	broker *harness.Broker
	admin  *kadm.Client
	start  time.Time
}

// call is one admin command with what it must do.
type call struct {
	command string
	check   func(*desk)
}

// calls in the order in which they make sense. Before them, topic t has 3 partitions with 30 records each, of which number
// i is of second i; group g committed 10 in each partition and is empty; topic d may be deleted.
var calls = []call{
	{"create_topic", func(d *desk) {
		d.ok("create_topic", "new", "4")
		if got := len(harness.Ends(d.t, d.admin, "new")); got != 4 {
			d.t.Errorf("create_topic: the topic has %d partitions, want 4", got)
		}
	}},
	{"create_partitions", func(d *desk) {
		d.ok("create_partitions", "d", "5")
		harness.Until(d.t, "topic d has 5 partitions", func() bool { return len(harness.Ends(d.t, d.admin, "d")) == 5 })
	}},
	{"list_topics", func(d *desk) {
		var got struct{ Topics []string }
		d.result(&got, "list_topics")
		if !slices.Contains(got.Topics, "t") || !slices.Contains(got.Topics, "d") {
			d.t.Errorf("list_topics: %v", got.Topics)
		}
	}},
	{"describe_topic", func(d *desk) { d.equal(map[string]any{"partitions": 3.0}, "describe_topic", "t") }},
	{"describe_config", func(d *desk) { d.equal(map[string]any{"value": "86400000"}, "describe_config", "t", "retention.ms") }},
	{"alter_config", func(d *desk) {
		d.ok("alter_config", "d", "retention.ms", "12345")
		if got := d.config("d", "retention.ms"); got != "12345" {
			d.t.Errorf("alter_config: the broker has %q", got)
		}
	}},
	{"describe_cluster", func(d *desk) {
		m, err := d.admin.BrokerMetadata(harness.Limited(d.t))
		if err != nil {
			d.t.Fatal(err)
		}
		got := map[string]any{}
		d.result(&got, "describe_cluster")
		if got["brokers"] != 1.0 || got["controller"] != float64(m.Controller) || (got["cluster"] != nil && got["cluster"] != m.Cluster) {
			d.t.Errorf("describe_cluster: %v, want one broker, controller %d of %s", got, m.Controller, m.Cluster)
		}
	}},
	{"list_groups", func(d *desk) {
		var got struct{ Groups []string }
		d.result(&got, "list_groups")
		if !slices.Contains(got.Groups, "g") {
			d.t.Errorf("list_groups: %v", got.Groups)
		}
	}},
	{"describe_group", describeGroup},
	{"group_offsets", func(d *desk) {
		d.equal(map[string]any{"offsets": map[string]any{"0": 10.0, "1": 10.0, "2": 10.0}}, "group_offsets", "g", "t")
	}},
	{"alter_group_offsets", func(d *desk) {
		d.ok("alter_group_offsets", "g", "t", "1", "17")
		d.committed(map[int32]int64{0: 10, 1: 17, 2: 10})
	}},
	{"delete_group_offsets", func(d *desk) {
		d.ok("delete_group_offsets", "g", "t", "2")
		if got := harness.Committed(d.t, d.admin, "g", "t"); len(got) != 2 {
			d.t.Errorf("delete_group_offsets left %v", got)
		}
	}},
	{"list_offsets", func(d *desk) {
		zero, ends := map[string]any{"0": 0.0, "1": 0.0, "2": 0.0}, map[string]any{"0": 30.0, "1": 30.0, "2": 30.0}
		d.equal(map[string]any{"earliest": zero, "latest": ends}, "list_offsets", "t")
	}},
	{"offsets_by_time", func(d *desk) {
		at := func(second int) string {
			return strconv.FormatInt(d.start.Add(time.Duration(second)*time.Second).UnixMilli(), 10)
		}
		d.equal(map[string]any{"offsets": map[string]any{"0": 15.0, "1": 15.0, "2": 14.0}}, "offsets_by_time", "t", at(44))
	}},
	{"delete_records", func(d *desk) {
		d.ok("delete_records", "t", "0", "5")
		starts, err := d.admin.ListStartOffsets(harness.Limited(d.t), "t")
		if err != nil {
			d.t.Fatal(err)
		}
		if o, _ := starts.Lookup("t", 0); o.Offset != 5 {
			d.t.Errorf("delete_records: the log starts at %d, want 5", o.Offset)
		}
	}},
	{"delete_group", func(d *desk) {
		d.ok("delete_group", "g")
		if got := harness.Describe(d.t, d.admin, "g"); got.State != "Dead" {
			d.t.Errorf("delete_group: the group is %s", got.State)
		}
	}},
	{"delete_topic", func(d *desk) {
		d.ok("delete_topic", "d")
		harness.Until(d.t, "topic d is gone", func() bool { // kadm keeps what it learned for a moment
			listed, err := d.admin.ListTopics(harness.Limited(d.t), "d")
			return err == nil && errors.Is(listed["d"].Err, kerr.UnknownTopicOrPartition)
		})
	}},
}

func admin(t *testing.T, c *Client) {
	b := harness.Serve(t)
	a := b.Admin(t)
	harness.CreateTopic(t, a, "t", 3, "retention.ms", "86400000")
	harness.CreateTopic(t, a, "d", 1)
	d := &desk{t: t, client: c, broker: b, admin: a, start: time.Now().Add(-time.Hour).Truncate(time.Second)}
	harness.Produce(t, b.Client(t), "t", 3, 0, 90, d.start)
	harness.Commit(t, a, "g", "t", map[int32]int64{0: 10, 1: 10, 2: 10})
	d.worker = c.start(t, "admin", "admin", "bootstrap="+b.Addr)
	for _, name := range c.Admin {
		if !slices.ContainsFunc(calls, func(c call) bool { return c.command == name }) {
			t.Errorf("client.json names the admin command %q, which nobody checks", name)
		}
	}
	for _, call := range calls {
		if slices.Contains(c.Admin, call.command) {
			call.check(d)
		}
	}
	// What must fail fails in the client's own words.
	if slices.Contains(c.Admin, "create_topic") {
		if got := d.worker.ask(t, "create_topic", "t", "1"); got.Event != "failed" || got.Error == "" {
			t.Errorf("creating a topic that exists: %+v", got)
		}
	}
	d.worker.tell(t, "close")
	if code := d.worker.Code(t, harness.Patience); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// describeGroup describes the group while a member of the client lives in it, and after.
func describeGroup(d *desk) {
	w := d.client.consume(d.t, d.broker.Addr, "member", "live", "t", "reset=latest", d.client.mode())
	own(d.t, 3, 3, w)
	harness.AwaitGroup(d.t, d.admin, "live", "Stable", 1)
	d.equal(map[string]any{"state": "Stable", "members": 1.0}, "describe_group", "live")
	if slices.Contains(d.client.Admin, "delete_group") {
		if got := d.worker.ask(d.t, "delete_group", "live"); got.Event != "failed" {
			d.t.Errorf("deleting a group with a member: %+v", got)
		}
	}
	w.close(d.t)
	harness.AwaitGroup(d.t, d.admin, "live", "Empty", 0)
	d.equal(map[string]any{"state": "Empty", "members": 0.0}, "describe_group", "live")
}

// ok gives a command that must succeed.
func (d *desk) ok(command ...string) event {
	d.t.Helper()
	got := d.worker.ask(d.t, command...)
	if got.Event != "ok" {
		d.t.Errorf("%v: %+v", command, got)
	}
	return got
}

func (d *desk) result(into any, command ...string) {
	d.t.Helper()
	got := d.ok(command...)
	if got.Result == nil {
		d.t.Errorf("%v has no result", command)
	} else if err := json.Unmarshal(*got.Result, into); err != nil {
		d.t.Errorf("%v: result %s: %v", command, *got.Result, err)
	}
}

func (d *desk) equal(want map[string]any, command ...string) {
	d.t.Helper()
	got := map[string]any{}
	d.result(&got, command...)
	for name, value := range want {
		if !reflect.DeepEqual(got[name], value) {
			d.t.Errorf("%v: %s is %v, want %v", command, name, got[name], value)
		}
	}
}

func (d *desk) committed(want map[int32]int64) {
	d.t.Helper()
	if got := harness.Committed(d.t, d.admin, "g", "t"); !maps.Equal(got, want) {
		d.t.Errorf("the broker has the commits %v, want %v", got, want)
	}
}

func (d *desk) config(topic, name string) string {
	d.t.Helper()
	described, err := d.admin.DescribeTopicConfigs(harness.Limited(d.t), topic)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range described {
		for _, c := range r.Configs {
			if c.Key == name {
				return c.MaybeValue()
			}
		}
	}
	return fmt.Sprintf("no config %s", name)
}
