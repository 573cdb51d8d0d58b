package api

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// describing asks for resources in the form kind, name, kind, name.
func describing(pairs ...any) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for i := 0; i < len(pairs); i += 2 {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = pairs[i].(kmsg.ConfigResourceType), pairs[i+1].(string)
		req.Resources = append(req.Resources, resource)
	}
	return req
}

// find returns one config of a resource.
func find(t testing.TB, resource *kmsg.DescribeConfigsResponseResource, name string) *kmsg.DescribeConfigsResponseResourceConfig {
	t.Helper()
	for i := range resource.Configs {
		if resource.Configs[i].Name == name {
			return &resource.Configs[i]
		}
	}
	t.Fatalf("%s has no config %s", resource.ResourceName, name)
	return nil
}

func TestDescribeConfigsVersions(t *testing.T) {
	for version := range int16(5) {
		s := newAdmin(t, "log.segment.bytes=1048576", "group.max.size=5")
		s.make(t, "a", 1, "cleanup.policy=compact")
		req := describing(kmsg.ConfigResourceTypeTopic, "a", kmsg.ConfigResourceTypeBroker, "7")
		req.IncludeSynonyms, req.IncludeDocumentation = true, true
		resp := ask[*kmsg.DescribeConfigsResponse](t, s, version, req)
		for _, c := range []struct {
			resource int
			name     string
			value    string
			source   kmsg.ConfigSource
			synonyms string
			typ      kmsg.ConfigType
			readOnly bool
		}{
			{0, "cleanup.policy", "compact", 1, "cleanup.policy=compact/1 log.cleanup.policy=delete/5", kmsg.ConfigTypeList, false},
			{0, "segment.bytes", "1048576", 4, "log.segment.bytes=1048576/4 log.segment.bytes=1073741824/5", kmsg.ConfigTypeInt, false},
			{0, "retention.ms", "604800000", 5, "", kmsg.ConfigTypeLong, false},
			{0, "max.message.bytes", "1048588", 5, "message.max.bytes=1048588/5", kmsg.ConfigTypeInt, false},
			{1, "group.max.size", "5", 4, "group.max.size=5/4 group.max.size=2147483647/5", kmsg.ConfigTypeInt, true},
			{1, "delete.topic.enable", "true", 5, "delete.topic.enable=true/5", kmsg.ConfigTypeBoolean, true},
			{1, "default.replication.factor", "1", 5, "default.replication.factor=1/5", kmsg.ConfigTypeInt, true},
			{1, "log.cleaner.min.cleanable.ratio", "0.5", 5, "log.cleaner.min.cleanable.ratio=0.5/5", kmsg.ConfigTypeDouble, true},
			{1, "inter.broker.protocol.version", "4.0-IV3", 5, "inter.broker.protocol.version=4.0-IV3/5", kmsg.ConfigTypeString, true},
		} {
			got := find(t, &resp.Resources[c.resource], c.name)
			if message(got.Value) != c.value || got.ReadOnly != c.readOnly || got.IsSensitive {
				t.Errorf("v%d %s: got %+v", version, c.name, got)
			}
			if version == 0 {
				if got.IsDefault != (c.source == 5) {
					t.Errorf("v0 %s: got default %v", c.name, got.IsDefault)
				}
				continue
			}
			var synonyms []string
			for _, s := range got.ConfigSynonyms {
				synonyms = append(synonyms, fmt.Sprintf("%s=%s/%d", s.Name, message(s.Value), s.Source))
			}
			if got.Source != c.source || strings.Join(synonyms, " ") != c.synonyms {
				t.Errorf("v%d %s: got source %d, synonyms %q, want %d, %q", version, c.name, got.Source, synonyms, c.source, c.synonyms)
			}
			if version >= 3 && (got.ConfigType != c.typ || message(got.Documentation) == "") {
				t.Errorf("v%d %s: got type %d, documentation %q", version, c.name, got.ConfigType, message(got.Documentation))
			}
		}
		if got := find(t, &resp.Resources[1], "log.retention.ms"); got.Value != nil {
			t.Errorf("v%d: got log.retention.ms %q, want null", version, *got.Value)
		}
		if got := len(resp.Resources[0].Configs); got != len(partitionlog.TopicProperties()) {
			t.Errorf("v%d: got %d topic configs", version, got)
		}
	}
}

func TestDescribeConfigsResources(t *testing.T) {
	s := newAdmin(t)
	s.make(t, "a", 1)
	if err := s.Store.AlterGroupConfig("g", map[string]string{"consumer.session.timeout.ms": "50000"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind    kmsg.ConfigResourceType
		name    string
		code    *kerr.Error
		configs int // -1 for some
	}{
		{kmsg.ConfigResourceTypeTopic, "a", nil, -1},
		{kmsg.ConfigResourceTypeTopic, "none", kerr.UnknownTopicOrPartition, 0},
		{kmsg.ConfigResourceTypeTopic, "b b", kerr.InvalidTopicException, 0},
		{kmsg.ConfigResourceTypeTopic, "", kerr.InvalidTopicException, 0},
		{kmsg.ConfigResourceTypeBroker, "7", nil, -1},
		{kmsg.ConfigResourceTypeBroker, "", nil, 0},
		{kmsg.ConfigResourceTypeBroker, "8", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceTypeBroker, "x", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceTypeBrokerLogger, "7", nil, 0},
		{kmsg.ConfigResourceTypeBrokerLogger, "", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceTypeBrokerLogger, "8", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceTypeClientMetrics, "m", nil, 0},
		{kmsg.ConfigResourceTypeClientMetrics, "", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceTypeGroupConfig, "g", nil, 2},
		{kmsg.ConfigResourceTypeGroupConfig, "never seen", nil, 2},
		{kmsg.ConfigResourceTypeGroupConfig, "", kerr.InvalidRequest, 0},
		{kmsg.ConfigResourceType(99), "x", kerr.InvalidRequest, 0},
	} {
		resp := ask[*kmsg.DescribeConfigsResponse](t, s, 4, describing(c.kind, c.name))
		got := resp.Resources[0]
		code := int16(0)
		if c.code != nil {
			code = c.code.Code
		}
		if got.ErrorCode != code || got.ResourceType != c.kind || got.ResourceName != c.name {
			t.Errorf("%d %q: got %+v, want code %d", c.kind, c.name, got, code)
		}
		if (c.configs >= 0 && len(got.Configs) != c.configs) || (c.configs < 0 && len(got.Configs) < 20) {
			t.Errorf("%d %q: got %d configs", c.kind, c.name, len(got.Configs))
		}
		for _, config := range got.Configs {
			if len(config.ConfigSynonyms) != 0 || config.Documentation != nil {
				t.Errorf("%d %q: %s has what was not asked for", c.kind, c.name, config.Name)
			}
		}
	}
	resp := ask[*kmsg.DescribeConfigsResponse](t, s, 4, describing(kmsg.ConfigResourceTypeGroupConfig, "g"))
	if got := find(t, &resp.Resources[0], "consumer.session.timeout.ms"); *got.Value != "50000" || got.Source != kmsg.ConfigSourceGroupConfig || got.ReadOnly ||
		len(got.ConfigSynonyms) > 1 && got.ConfigSynonyms[1].Name != "group.consumer.session.timeout.ms" {
		t.Errorf("got %+v", got)
	}
	if got := find(t, &resp.Resources[0], "consumer.heartbeat.interval.ms"); *got.Value != "5000" || got.Source != kmsg.ConfigSourceDefaultConfig {
		t.Errorf("got %+v", got)
	}
	s.make(t, "order", 1, "cleanup.policy=delete,compact")
	resp = ask[*kmsg.DescribeConfigsResponse](t, s, 4, describing(kmsg.ConfigResourceTypeTopic, "order"))
	if got := find(t, &resp.Resources[0], "cleanup.policy"); *got.Value != "delete,compact" {
		t.Errorf("got %q, want the order that was given", *got.Value)
	}
	req := describing(kmsg.ConfigResourceTypeTopic, "a")
	req.Resources[0].ConfigNames = []string{"retention.ms", "no.such.config"}
	if got := ask[*kmsg.DescribeConfigsResponse](t, s, 4, req).Resources[0].Configs; len(got) != 1 || got[0].Name != "retention.ms" {
		t.Errorf("got %+v", got)
	}
}

// op is one operation of an alteration: "name=value", "-name", "name+=value", "name-=value".
func op(text string) kmsg.IncrementalAlterConfigsRequestResourceConfig {
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	name, value, _ := strings.Cut(text, "=")
	config.Value = &value
	switch {
	case strings.HasPrefix(name, "-"):
		name, config.Op, config.Value = name[1:], kmsg.IncrementalAlterConfigOpDelete, nil
	case strings.HasSuffix(name, "+"):
		config.Op = kmsg.IncrementalAlterConfigOpAppend
	case strings.HasSuffix(name, "-"):
		config.Op = kmsg.IncrementalAlterConfigOpSubtract
	}
	config.Name = strings.TrimRight(name, "+-")
	return config
}

func altering(kind kmsg.ConfigResourceType, name string, ops ...string) kmsg.IncrementalAlterConfigsRequestResource {
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	for _, text := range ops {
		resource.Configs = append(resource.Configs, op(text))
	}
	return resource
}

func TestIncrementalAlterTopicConfigs(t *testing.T) {
	topic := kmsg.ConfigResourceTypeTopic
	for _, c := range []struct {
		about    string
		resource kmsg.IncrementalAlterConfigsRequestResource
		code     *kerr.Error
		message  string
		want     map[string]string
	}{
		{"set", altering(topic, "a", "segment.ms=9"), nil, "", map[string]string{"retention.ms": "5", "segment.ms": "9"}},
		{"set again", altering(topic, "a", "retention.ms=6"), nil, "", map[string]string{"retention.ms": "6"}},
		{"delete", altering(topic, "a", "-retention.ms"), nil, "", map[string]string{}},
		{"delete what is not set", altering(topic, "a", "-segment.ms"), nil, "", map[string]string{"retention.ms": "5"}},
		{"append to the default", altering(topic, "a", "cleanup.policy+=compact"), nil, "", map[string]string{"retention.ms": "5", "cleanup.policy": "delete,compact"}},
		{"append what is there", altering(topic, "a", "cleanup.policy+=delete"), nil, "", map[string]string{"retention.ms": "5", "cleanup.policy": "delete"}},
		{"append and subtract in one", altering(topic, "b", "cleanup.policy-=delete"), nil, "", map[string]string{"cleanup.policy": "compact"}},
		{"append to no list", altering(topic, "a", "retention.ms+=5"), kerr.InvalidConfig, "Can't APPEND to key retention.ms because its type is not LIST.", nil},
		{"subtract from no list", altering(topic, "a", "x-=5"), kerr.InvalidConfig, "SUBTRACT", nil},
		{"unknown", altering(topic, "a", "no.such.config=1"), kerr.InvalidConfig, "no.such.config", nil},
		{"bad value", altering(topic, "a", "retention.ms=-2"), kerr.InvalidConfig, "retention.ms", nil},
		{"bad with a good one", altering(topic, "a", "segment.ms=9", "retention.ms=x"), kerr.InvalidConfig, "retention.ms", nil},
		{"twice", altering(topic, "a", "retention.ms=1", "retention.ms=2"), kerr.InvalidRequest, "duplicate config keys", nil},
		{"no such topic", altering(topic, "none", "retention.ms=1"), kerr.UnknownTopicOrPartition, "none", nil},
		{"no name", altering(topic, "", "retention.ms=1"), kerr.InvalidRequest, "Default topic resources", nil},
		{"bad name", altering(topic, "a b", "retention.ms=1"), kerr.InvalidTopicException, "", nil},
		{"broker", altering(kmsg.ConfigResourceTypeBroker, "7", "num.partitions=1"), kerr.InvalidRequest, "restart it with --set", nil},
		{"all brokers", altering(kmsg.ConfigResourceTypeBroker, "", "num.partitions=1"), kerr.InvalidRequest, "restart it with --set", nil},
		{"logger", altering(kmsg.ConfigResourceTypeBrokerLogger, "7", "x=DEBUG"), kerr.InvalidRequest, "", nil},
		{"unknown type", altering(99, "7", "x=1"), kerr.InvalidRequest, "99", nil},
	} {
		for version := range int16(2) {
			for _, validateOnly := range []bool{true, false} {
				s := newAdmin(t)
				s.make(t, "a", 1, "retention.ms=5")
				s.make(t, "b", 1, "cleanup.policy=compact,delete")
				before := map[string]map[string]string{"a": s.Store.Topic("a").Overrides, "b": s.Store.Topic("b").Overrides}
				req := kmsg.NewPtrIncrementalAlterConfigsRequest()
				req.Resources, req.ValidateOnly = []kmsg.IncrementalAlterConfigsRequestResource{c.resource}, validateOnly
				got := ask[*kmsg.IncrementalAlterConfigsResponse](t, s, version, req).Resources[0]
				code := int16(0)
				if c.code != nil {
					code = c.code.Code
				}
				if got.ErrorCode != code || !strings.Contains(message(got.ErrorMessage), c.message) || got.ResourceName != c.resource.ResourceName {
					t.Errorf("%s, v%d: got %+v %q, want %d %q", c.about, version, got, message(got.ErrorMessage), code, c.message)
				}
				for name, old := range before {
					want := old
					if name == c.resource.ResourceName && c.want != nil && !validateOnly {
						want = c.want
					}
					if now := s.Store.Topic(name).Overrides; !maps.Equal(now, want) {
						t.Errorf("%s, v%d, validate only %v: %s has %v, want %v", c.about, version, validateOnly, name, now, want)
					}
				}
			}
		}
	}
}

func TestIncrementalAlterConfigsRefusals(t *testing.T) {
	s := newAdmin(t)
	s.make(t, "a", 1)
	null := altering(kmsg.ConfigResourceTypeTopic, "a", "retention.ms=1")
	null.Configs[0].Value = nil
	unknown := altering(kmsg.ConfigResourceTypeGroupConfig, "g", "consumer.session.timeout.ms=50000")
	unknown.Configs[0].Op = 9
	twice := altering(kmsg.ConfigResourceTypeBroker, "7", "x=1")
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{null, unknown, twice, twice}
	resp := ask[*kmsg.IncrementalAlterConfigsResponse](t, s, 1, req)
	for i, want := range []string{"Null value not supported", "Unknown operations type 9", "at most once", "at most once"} {
		got := resp.Resources[i]
		if got.ErrorCode != kerr.InvalidRequest.Code || !strings.Contains(message(got.ErrorMessage), want) {
			t.Errorf("resource %d: got %d %q, want %q", i, got.ErrorCode, message(got.ErrorMessage), want)
		}
	}
}

func TestIncrementalAlterGroupConfigs(t *testing.T) {
	group := kmsg.ConfigResourceTypeGroupConfig
	s := newAdmin(t)
	for _, c := range []struct {
		resource     kmsg.IncrementalAlterConfigsRequestResource
		validateOnly bool
		code         *kerr.Error
		want         map[string]string // of group g afterwards
	}{
		{altering(group, "g", "consumer.session.timeout.ms=50000"), true, nil, nil},
		{altering(group, "g", "consumer.session.timeout.ms=50000"), false, nil, map[string]string{"consumer.session.timeout.ms": "50000"}},
		{altering(group, "g", "consumer.session.timeout.ms=1"), false, kerr.InvalidConfig, map[string]string{"consumer.session.timeout.ms": "50000"}},
		{altering(group, "g", "consumer.heartbeat.interval.ms=6000"), false, nil, map[string]string{"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "6000"}},
		{altering(group, "g", "-consumer.session.timeout.ms"), false, nil, map[string]string{"consumer.heartbeat.interval.ms": "6000"}},
		{altering(group, "g", "consumer.heartbeat.interval.ms+=1"), false, kerr.InvalidConfig, map[string]string{"consumer.heartbeat.interval.ms": "6000"}},
		{altering(group, "g", "retention.ms=1"), false, kerr.InvalidConfig, map[string]string{"consumer.heartbeat.interval.ms": "6000"}},
		{altering(group, "", "consumer.heartbeat.interval.ms=6000"), false, kerr.InvalidRequest, map[string]string{"consumer.heartbeat.interval.ms": "6000"}},
		{altering(group, "g", "-consumer.heartbeat.interval.ms"), false, nil, map[string]string{}},
	} {
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources, req.ValidateOnly = []kmsg.IncrementalAlterConfigsRequestResource{c.resource}, c.validateOnly
		got := ask[*kmsg.IncrementalAlterConfigsResponse](t, s, 1, req).Resources[0]
		code := int16(0)
		if c.code != nil {
			code = c.code.Code
		}
		if got.ErrorCode != code {
			t.Errorf("%+v: got %d %q, want %d", c.resource.Configs, got.ErrorCode, message(got.ErrorMessage), code)
		}
		if now := s.Store.GroupConfigs("g"); !maps.Equal(now, c.want) {
			t.Errorf("%+v: group has %v, want %v", c.resource.Configs, now, c.want)
		}
	}
}

func TestDescribeCluster(t *testing.T) {
	s := newAdmin(t)
	for version := range int16(3) {
		for _, c := range []struct {
			endpoint int8
			code     int16
		}{{1, 0}, {2, kerr.MismatchedEndpointType.Code}, {9, kerr.UnsupportedEndpointType.Code}} {
			req := kmsg.NewPtrDescribeClusterRequest()
			req.EndpointType, req.IncludeClusterAuthorizedOperations = c.endpoint, c.endpoint == 1
			resp := ask[*kmsg.DescribeClusterResponse](t, s, version, req)
			want := c.code
			if version == 0 {
				want = 0
			}
			if resp.ErrorCode != want {
				t.Errorf("v%d, endpoint %d: got %d, want %d", version, c.endpoint, resp.ErrorCode, want)
			}
			if want != 0 {
				continue
			}
			operations := map[bool]int32{true: 8096, false: -2147483648}[c.endpoint == 1]
			if resp.ClusterID != s.Store.ClusterID() || resp.ControllerID != 7 || len(resp.Brokers) != 1 || resp.Brokers[0].Host != "host" ||
				resp.Brokers[0].Port != 9 || resp.Brokers[0].NodeID != 7 || resp.ClusterAuthorizedOperations != operations {
				t.Errorf("v%d: got %+v", version, resp)
			}
		}
	}
}

func TestListPartitionReassignments(t *testing.T) {
	s := newAdmin(t)
	resp := ask[*kmsg.ListPartitionReassignmentsResponse](t, s, 0, kmsg.NewPtrListPartitionReassignmentsRequest())
	if resp.ErrorCode != 0 || len(resp.Topics) != 0 {
		t.Errorf("got %+v", resp)
	}
}

// Many clients poll Metadata: what it costs must not grow beyond one slice a topic.
func BenchmarkMetadata(b *testing.B) {
	s := newAdmin(b)
	for i := range 100 {
		s.make(b, fmt.Sprintf("topic-%d", i), 12)
	}
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("topics=%d", count), func(b *testing.B) {
			req := metadataFor()
			for i := range count {
				req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(fmt.Sprintf("topic-%d", i))})
			}
			req.SetVersion(13)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.metadata(b.Context(), &Call{Request: req}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The words that a refusal names are those that the store takes.
func TestTopicWords(t *testing.T) {
	for _, p := range partitionlog.TopicProperties() {
		words := topicWords[p.Name]
		if ofWords := p.Type == partitionlog.StringValue || p.Type == partitionlog.ListValue; ofWords != (len(words) > 0) {
			t.Errorf("%s: words %v", p.Name, words)
		}
		for _, word := range words {
			if _, err := partitionlog.ParseTopicConfig(partitionlog.DefaultTopicConfig(), map[string]string{p.Name: word}); err != nil {
				t.Errorf("%s=%s: %v", p.Name, word, err)
			}
		}
	}
}
