package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/groups"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// newAdmin returns a server on a store in memory, with settings in the form name=value.
func newAdmin(t testing.TB, sets ...string) *Server {
	t.Helper()
	given, err := settings.Sets(append([]string{"node.id=7", "offsets.topic.num.partitions=2"}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	s, warnings, err := settings.Load(settings.Serve, given)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	store, err := partitionlog.Open(partitionlog.Config{Defaults: s.TopicDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	shards := groups.New(groups.Config{
		Store: store, Coordinator: s.Coordinator(), Log: zerolog.Nop(), Now: time.Now, Seed: func() uint64 { return 1 },
		Partitions: s.OffsetsTopicNumPartitions, Overrides: s.OffsetsTopicOverrides(),
		Fatal: func(err error) { t.Error(err) }, Panicked: func(trace string) { t.Error(trace) },
	})
	t.Cleanup(func() {
		shards.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(&Server{Store: store, Settings: s, Groups: shards, Log: zerolog.Nop(), Now: time.Now, NodeID: s.NodeID})
}

// ask sends a request through the wire form of its version to the handler of its key, and reads the answer back.
func ask[R kmsg.Response](t testing.TB, s *Server, version int16, req kmsg.Request) R {
	t.Helper()
	req.SetVersion(version)
	decoded := kmsg.RequestForKey(req.Key())
	decoded.SetVersion(version)
	if err := decoded.ReadFrom(req.AppendTo(nil)); err != nil {
		t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	row := s.Find(req.Key(), version)
	if row == nil {
		t.Fatalf("%s v%d is not in the table", kmsg.NameForKey(req.Key()), version)
	}
	answer, err := row.Handle(s, t.Context(), &Call{Request: decoded, Host: "host", Port: 9})
	if err != nil {
		t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	read := req.ResponseKind()
	read.SetVersion(version)
	if err := read.ReadFrom(answer.AppendTo(nil)); err != nil {
		t.Fatalf("%s v%d: answer cannot be read: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	return read.(R)
}

// make creates topics of one partition, configs in the form name=value.
func (s *Server) make(t testing.TB, name string, partitions int32, configs ...string) *partitionlog.Topic {
	t.Helper()
	overrides := map[string]string{}
	for _, c := range configs {
		n, v, _ := strings.Cut(c, "=")
		overrides[n] = v
	}
	topic, err := s.Store.CreateTopic(partitionlog.TopicSpec{Name: name, Partitions: partitions, Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func metadataFor(names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// shape is an answer's topics as text: name:code:partitions.
func shape(resp *kmsg.MetadataResponse) string {
	var topics []string
	for _, topic := range resp.Topics {
		name := "null"
		if topic.Topic != nil {
			name = *topic.Topic
		}
		topics = append(topics, fmt.Sprintf("%s:%d:%d", name, topic.ErrorCode, len(topic.Partitions)))
	}
	return strings.Join(topics, " ")
}

func TestMetadataVersions(t *testing.T) {
	for version := range int16(14) {
		s := newAdmin(t)
		a := s.make(t, "a", 2)
		s.make(t, "b", 1)
		all := kmsg.NewPtrMetadataRequest()
		if got := shape(ask[*kmsg.MetadataResponse](t, s, version, all)); got != "a:0:2 b:0:1" {
			t.Errorf("v%d, null: got %q", version, got)
		}
		want := ""
		if version == 0 {
			want = "a:0:2 b:0:1"
		}
		if got := shape(ask[*kmsg.MetadataResponse](t, s, version, metadataFor())); got != want {
			t.Errorf("v%d, empty: got %q, want %q", version, got, want)
		}
		req := metadataFor("b", "a", "b")
		req.IncludeTopicAuthorizedOperations, req.IncludeClusterAuthorizedOperations = true, true
		resp := ask[*kmsg.MetadataResponse](t, s, version, req)
		if got := shape(resp); got != "b:0:1 a:0:2" {
			t.Errorf("v%d, names: got %q", version, got)
		}
		broker := resp.Brokers[0]
		if len(resp.Brokers) != 1 || broker.NodeID != 7 || broker.Host != "host" || broker.Port != 9 {
			t.Errorf("v%d: got brokers %+v", version, resp.Brokers)
		}
		if version >= 1 && resp.ControllerID != 7 {
			t.Errorf("v%d: got controller %d", version, resp.ControllerID)
		}
		if version >= 2 && (resp.ClusterID == nil || *resp.ClusterID != s.Store.ClusterID()) {
			t.Errorf("v%d: got cluster id %v", version, resp.ClusterID)
		}
		if want := map[bool]int32{true: 8096, false: -2147483648}[version >= 8 && version <= 10]; resp.AuthorizedOperations != want {
			t.Errorf("v%d: got cluster operations %d, want %d", version, resp.AuthorizedOperations, want)
		}
		topic := resp.Topics[1]
		if want := map[bool]int32{true: 3576, false: -2147483648}[version >= 8]; topic.AuthorizedOperations != want {
			t.Errorf("v%d: got topic operations %d, want %d", version, topic.AuthorizedOperations, want)
		}
		if version >= 10 && topic.TopicID != a.ID {
			t.Errorf("v%d: got id %x", version, topic.TopicID)
		}
		p := topic.Partitions[1]
		if p.Partition != 1 || p.Leader != 7 || !slices.Equal(p.Replicas, []int32{7}) || !slices.Equal(p.ISR, []int32{7}) || len(p.OfflineReplicas) != 0 {
			t.Errorf("v%d: got partition %+v", version, p)
		}
		if version >= 7 && p.LeaderEpoch != s.Store.LeaderEpoch() {
			t.Errorf("v%d: got epoch %d", version, p.LeaderEpoch)
		}
	}
}

func TestMetadataOfMissingTopics(t *testing.T) {
	long := strings.Repeat("x", 250)
	for _, c := range []struct {
		about       string
		version     int16
		sets        []string
		allow       bool
		name        string
		first, then string
	}{
		{"before v4 always allowed", 3, nil, false, "new", "new:3:0", "new:0:3"},
		{"allowed", 4, nil, true, "new", "new:3:0", "new:0:3"},
		{"newest", 13, nil, true, "new", "new:3:0", "new:0:3"},
		{"not allowed by the client", 12, nil, false, "new", "new:3:0", "new:3:0"},
		{"not allowed by the broker", 3, []string{"auto.create.topics.enable=false"}, true, "new", "new:3:0", "new:3:0"},
		{"invalid characters", 12, nil, true, "a b", "a b:17:0", "a b:17:0"},
		{"invalid without creation", 12, nil, false, "..", "..:17:0", "..:17:0"},
		{"too long", 12, nil, true, long, long + ":17:0", long + ":17:0"},
		{"collision", 12, nil, true, "has_dot", "has_dot:17:0", "has_dot:17:0"},
		{"offsets", 12, nil, true, offsetslog.Topic, offsetslog.Topic + ":3:0", offsetslog.Topic + ":0:2"},
		{"offsets, not allowed", 12, nil, false, offsetslog.Topic, offsetslog.Topic + ":3:0", offsetslog.Topic + ":3:0"},
		{"transactions", 12, nil, true, transactionTopic, transactionTopic + ":3:0", transactionTopic + ":3:0"},
	} {
		s := newAdmin(t, append(c.sets, "num.partitions=3")...)
		s.make(t, "has.dot", 1)
		req := metadataFor(c.name)
		req.AllowAutoTopicCreation = c.allow
		resp := ask[*kmsg.MetadataResponse](t, s, c.version, req)
		if got := shape(resp); got != c.first {
			t.Errorf("%s: got %q, want %q", c.about, got, c.first)
		}
		if got, want := resp.Topics[0].IsInternal, strings.HasPrefix(c.name, "__"); got != want {
			t.Errorf("%s: got internal %v", c.about, got)
		}
		if resp.Topics[0].TopicID != [16]byte{} {
			t.Errorf("%s: got an id of a topic that is not there", c.about)
		}
		resp = ask[*kmsg.MetadataResponse](t, s, c.version, req)
		if got := shape(resp); got != c.then {
			t.Errorf("%s, second: got %q, want %q", c.about, got, c.then)
		}
		if c.name == offsetslog.Topic && c.allow && !resp.Topics[0].IsInternal {
			t.Errorf("%s: the offsets topic is not internal", c.about)
		}
	}
}

func TestMetadataByID(t *testing.T) {
	s := newAdmin(t)
	a := s.make(t, "a", 2)
	unknown := [16]byte{1, 2, 3}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{TopicID: a.ID}, {TopicID: unknown}, {TopicID: a.ID}, {Topic: kmsg.StringPtr("ignored")}}
	req.AllowAutoTopicCreation = true
	for _, version := range []int16{12, 13} {
		resp := ask[*kmsg.MetadataResponse](t, s, version, req)
		if got := shape(resp); got != "a:0:2 null:100:0" {
			t.Errorf("v%d: got %q", version, got)
		}
		if resp.Topics[1].TopicID != unknown {
			t.Errorf("v%d: got id %x", version, resp.Topics[1].TopicID)
		}
	}
	if got := shape(ask[*kmsg.MetadataResponse](t, s, 11, req)); got != ":42:0 :42:0 :42:0 ignored:42:0" {
		t.Errorf("v11: got %q", got)
	}
	if s.Store.Topic("ignored") != nil {
		t.Error("a name beside ids was created")
	}
}

// newTopic is one topic of a CreateTopics request.
func newTopic(name string, partitions int32, replicas int16, configs ...string) kmsg.CreateTopicsRequestTopic {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, replicas
	for _, c := range configs {
		n, v, set := strings.Cut(c, "=")
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name = n
		if set {
			config.Value = kmsg.StringPtr(v)
		}
		topic.Configs = append(topic.Configs, config)
	}
	return topic
}

// assign gives a topic of a request a manual assignment.
func assign(topic kmsg.CreateTopicsRequestTopic, partitions map[int32][]int32) kmsg.CreateTopicsRequestTopic {
	for partition, replicas := range partitions {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = partition, replicas
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	return topic
}

// message returns a nullable string for comparison.
func message(m *string) string {
	if m == nil {
		return ""
	}
	return *m
}

func TestCreateTopics(t *testing.T) {
	s := newAdmin(t, "num.partitions=4")
	s.make(t, "old", 1)
	s.make(t, "has.dot", 1)
	if err := s.Groups.EnsureOffsetsTopic(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		topic      kmsg.CreateTopicsRequestTopic
		code       *kerr.Error
		message    string // part of it
		partitions int32
	}{
		{newTopic("n1", 2, 1), nil, "", 2},
		{newTopic("n2", -1, -1), nil, "", 4},
		{newTopic("n3", 1, 1, "cleanup.policy=compact", "retention.ms=5"), nil, "", 1},
		{newTopic(strings.Repeat("x", 249), 1, 1), nil, "", 1},
		{newTopic(strings.Repeat("x", 250), 1, 1), kerr.InvalidTopicException, "249", 0},
		{newTopic("", 1, 1), kerr.InvalidTopicException, "empty string", 0},
		{newTopic(".", 1, 1), kerr.InvalidTopicException, "'.' is not allowed", 0},
		{newTopic("..", 1, 1), kerr.InvalidTopicException, "'..' is not allowed", 0},
		{newTopic("ä", 1, 1), kerr.InvalidTopicException, "ASCII", 0},
		{newTopic("has_dot", 1, 1), kerr.InvalidTopicException, "collides with existing topic: has.dot", 0},
		{newTopic("old", 1, 1), kerr.TopicAlreadyExists, "Topic 'old' already exists.", 0},
		{newTopic(offsetslog.Topic, 1, 1), kerr.TopicAlreadyExists, "already exists", 0},
		{newTopic(transactionTopic, 1, 1), kerr.InvalidTopicException, "internal", 0},
		{newTopic("r0", 1, 0), kerr.InvalidReplicationFactor, "larger than 0, or -1", 0},
		{newTopic("r3", 1, 3), kerr.InvalidReplicationFactor, "Unable to replicate the partition 3 time(s)", 0},
		{newTopic("p0", 0, 1), kerr.InvalidPartitions, "non-positive", 0},
		{newTopic("p-2", -2, 1), kerr.InvalidPartitions, "non-positive", 0},
		{newTopic("many", 10001, 1), kerr.PolicyViolation, "Excessively large number of partitions per request.", 0},
		{newTopic("c1", 1, 1, "no.such.config=1"), kerr.InvalidConfig, "no.such.config", 0},
		{newTopic("c2", 1, 1, "retention.ms=x"), kerr.InvalidConfig, "retention.ms", 0},
		{newTopic("c3", 1, 1, "cleanup.policy=burn"), kerr.InvalidConfig, "cleanup.policy", 0},
		{newTopic("c4", 1, 1, "retention.ms"), kerr.InvalidConfig, "Null value not supported for topic configs: retention.ms", 0},
		{assign(newTopic("a1", -1, -1), map[int32][]int32{0: {7}, 1: {7}}), nil, "", 2},
		{assign(newTopic("a2", 1, -1), map[int32][]int32{0: {7}}), kerr.InvalidRequest, "numPartitions", 0},
		{assign(newTopic("a3", -1, 1), map[int32][]int32{0: {7}}), kerr.InvalidRequest, "replication factor", 0},
		{assign(newTopic("a4", -1, -1), map[int32][]int32{0: {8}}), kerr.InvalidReplicaAssignment, "broker 8", 0},
		{assign(newTopic("a5", -1, -1), map[int32][]int32{0: {7, 7}}), kerr.InvalidReplicaAssignment, "more than once", 0},
		{assign(newTopic("a6", -1, -1), map[int32][]int32{0: {}}), kerr.InvalidReplicaAssignment, "empty", 0},
		{assign(newTopic("a7", -1, -1), map[int32][]int32{1: {7}}), kerr.InvalidReplicaAssignment, "consecutive", 0},
		{assign(assign(newTopic("a8", -1, -1), map[int32][]int32{0: {7}}), map[int32][]int32{0: {7}}), kerr.InvalidReplicaAssignment, "multiple", 0},
	} {
		for _, validateOnly := range []bool{true, false} {
			req := kmsg.NewPtrCreateTopicsRequest()
			req.Topics, req.ValidateOnly = []kmsg.CreateTopicsRequestTopic{c.topic}, validateOnly
			resp := ask[*kmsg.CreateTopicsResponse](t, s, 7, req)
			got := resp.Topics[0]
			about := fmt.Sprintf("%.20s, validate only %v", c.topic.Topic, validateOnly)
			if c.code != nil {
				if got.ErrorCode != c.code.Code || !strings.Contains(message(got.ErrorMessage), c.message) {
					t.Errorf("%s: got %v %q, want %v %q", about, kerr.ErrorForCode(got.ErrorCode), message(got.ErrorMessage), c.code, c.message)
				}
				continue
			}
			if got.ErrorCode != 0 || got.NumPartitions != c.partitions || got.ReplicationFactor != 1 || got.ConfigErrorCode != 0 {
				t.Errorf("%s: got %+v %q", about, got, message(got.ErrorMessage))
			}
			topic := s.Store.Topic(c.topic.Topic)
			if validateOnly != (topic == nil) {
				t.Errorf("%s: topic is %v", about, topic)
			}
			if topic != nil && (got.TopicID != topic.ID || int32(len(topic.Partitions)) != c.partitions) {
				t.Errorf("%s: got id %x, stored %x with %d partitions", about, got.TopicID, topic.ID, len(topic.Partitions))
			}
		}
	}
	if got := s.Store.Topic("n3").Config; !got.Compact || got.Delete || got.RetentionMs != 5 {
		t.Errorf("got config %+v", got)
	}
}

func TestCreateTopicsVersions(t *testing.T) {
	for version := range int16(8) {
		s := newAdmin(t)
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Topics = []kmsg.CreateTopicsRequestTopic{newTopic("twice", 1, 1), newTopic("a", 2, 1, "retention.ms=5"), newTopic("twice", 1, 1)}
		resp := ask[*kmsg.CreateTopicsResponse](t, s, version, req)
		if len(resp.Topics) != 2 || resp.Topics[1].ErrorCode != kerr.InvalidRequest.Code || resp.Topics[0].ErrorCode != 0 {
			t.Fatalf("v%d: got %+v", version, resp.Topics)
		}
		if version >= 1 && message(resp.Topics[1].ErrorMessage) != "Duplicate topic name." {
			t.Errorf("v%d: got message %q", version, message(resp.Topics[1].ErrorMessage))
		}
		if s.Store.Topic("twice") != nil || s.Store.Topic("a") == nil {
			t.Errorf("v%d: the wrong topics exist", version)
		}
		if version < 5 {
			continue
		}
		sources := map[string]int8{}
		for _, c := range resp.Topics[0].Configs {
			sources[c.Name] = c.Source
			if c.Name == "retention.ms" && *c.Value != "5" {
				t.Errorf("v%d: got %q", version, *c.Value)
			}
		}
		if sources["retention.ms"] != 1 || sources["cleanup.policy"] != 5 || len(sources) != len(partitionlog.TopicProperties()) {
			t.Errorf("v%d: got sources %v", version, sources)
		}
	}
}

func TestDeleteTopics(t *testing.T) {
	for version := range int16(7) {
		s := newAdmin(t)
		s.make(t, "a", 1)
		s.make(t, "b", 1)
		if err := s.Groups.EnsureOffsetsTopic(); err != nil {
			t.Fatal(err)
		}
		names := []string{"a", "none", "b", "b", offsetslog.Topic}
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TopicNames = names
		for i := range names {
			req.Topics = append(req.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &names[i]})
		}
		resp := ask[*kmsg.DeleteTopicsResponse](t, s, version, req)
		var got []string
		for _, topic := range resp.Topics {
			got = append(got, fmt.Sprintf("%s:%d", *topic.Topic, topic.ErrorCode))
		}
		if want := "a:0 none:3 b:42 __consumer_offsets:17"; strings.Join(got, " ") != want {
			t.Errorf("v%d: got %q, want %q", version, got, want)
		}
		if s.Store.Topic("a") != nil || s.Store.Topic("b") == nil || len(s.Store.DeletingTopics()) != 0 {
			t.Errorf("v%d: the wrong topics exist", version)
		}
		s.make(t, "a", 1) // the name is free again

		s = newAdmin(t, "delete.topic.enable=false")
		s.make(t, "a", 1)
		resp = ask[*kmsg.DeleteTopicsResponse](t, s, version, req)
		want := kerr.TopicDeletionDisabled.Code
		if version < 3 {
			want = kerr.InvalidRequest.Code
		}
		if resp.Topics[0].ErrorCode != want || s.Store.Topic("a") == nil {
			t.Errorf("v%d, disabled: got %d, want %d", version, resp.Topics[0].ErrorCode, want)
		}
	}
}

func TestDeleteTopicsByID(t *testing.T) {
	s := newAdmin(t)
	a, b, c := s.make(t, "a", 1), s.make(t, "b", 1), s.make(t, "c", 1)
	unknown := [16]byte{9}
	name := kmsg.StringPtr
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Topics = []kmsg.DeleteTopicsRequestTopic{
		{TopicID: a.ID},
		{TopicID: unknown},
		{},
		{Topic: name("x"), TopicID: unknown},
		{TopicID: b.ID},
		{Topic: name("b")},
		{TopicID: c.ID},
		{TopicID: c.ID},
	}
	resp := ask[*kmsg.DeleteTopicsResponse](t, s, 6, req)
	var got []string
	for _, topic := range resp.Topics {
		got = append(got, fmt.Sprintf("%s:%d", message(topic.Topic), topic.ErrorCode))
	}
	if want := "a:0 :100 :42 x:42 b:42 b:42 :42"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Store.Topic("a") != nil || s.Store.Topic("b") == nil || s.Store.Topic("c") == nil {
		t.Error("the wrong topics exist")
	}
	if resp.Topics[0].TopicID != a.ID {
		t.Errorf("got id %x", resp.Topics[0].TopicID)
	}
}

// A deletion that stopped half-way hides the topic, keeps its name, and ends when it is asked for again.
func TestDeleteTopicsResumes(t *testing.T) {
	s := newAdmin(t)
	a := s.make(t, "a", 1)
	if err := s.Store.BeginDeleteTopic(a.ID); err != nil {
		t.Fatal(err)
	}
	req := metadataFor("a")
	req.AllowAutoTopicCreation = true
	if got := shape(ask[*kmsg.MetadataResponse](t, s, 12, req)); got != "a:3:0" {
		t.Errorf("got %q", got)
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{newTopic("a", 1, 1)}
	if got := ask[*kmsg.CreateTopicsResponse](t, s, 7, create).Topics[0].ErrorCode; got != kerr.TopicAlreadyExists.Code {
		t.Errorf("got %d", got)
	}
	del := kmsg.NewPtrDeleteTopicsRequest()
	del.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: a.ID}}
	if got := ask[*kmsg.DeleteTopicsResponse](t, s, 6, del).Topics[0].ErrorCode; got != 0 {
		t.Errorf("got %d", got)
	}
	if got := ask[*kmsg.CreateTopicsResponse](t, s, 7, create).Topics[0].ErrorCode; got != 0 {
		t.Errorf("got %d", got)
	}
}

func TestCreatePartitions(t *testing.T) {
	for version := range int16(4) {
		s := newAdmin(t)
		for _, name := range []string{"a", "same", "less", "twice", "short", "foreign", "auto"} {
			s.make(t, name, 2)
		}
		if err := s.Groups.EnsureOffsetsTopic(); err != nil {
			t.Fatal(err)
		}
		seven := []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{7}}}
		eight := []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{8}}}
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Topics = []kmsg.CreatePartitionsRequestTopic{
			{Topic: "a", Count: 3, Assignment: seven},
			{Topic: "same", Count: 2},
			{Topic: "less", Count: 1},
			{Topic: "none", Count: 3},
			{Topic: "twice", Count: 3},
			{Topic: "twice", Count: 4},
			{Topic: "short", Count: 4, Assignment: seven},
			{Topic: "foreign", Count: 3, Assignment: eight},
			{Topic: offsetslog.Topic, Count: 9},
			{Topic: "auto", Count: 5},
		}
		for _, validateOnly := range []bool{true, false} {
			req.ValidateOnly = validateOnly
			resp := ask[*kmsg.CreatePartitionsResponse](t, s, version, req)
			var got []string
			for _, topic := range resp.Topics {
				got = append(got, fmt.Sprintf("%s:%d", topic.Topic, topic.ErrorCode))
			}
			if want := "a:0 same:37 less:37 none:3 twice:42 short:39 foreign:39 __consumer_offsets:17 auto:0"; strings.Join(got, " ") != want {
				t.Errorf("v%d: got %q, want %q", version, got, want)
			}
			want := map[bool]int{true: 2, false: 5}[validateOnly]
			if got := len(s.Store.Topic("auto").Partitions); got != want {
				t.Errorf("v%d, validate only %v: got %d partitions, want %d", version, validateOnly, got, want)
			}
			if message(resp.Topics[1].ErrorMessage) != "Topic already has 2 partition(s)." {
				t.Errorf("v%d: got %q", version, message(resp.Topics[1].ErrorMessage))
			}
		}
	}
}
