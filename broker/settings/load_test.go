package settings

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog"
)

// load fails the test on an error.
func load(t *testing.T, p Profile, sources ...Source) (*Settings, []Warning) {
	t.Helper()
	s, warnings, err := Load(p, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return s, warnings
}

// given is a source with pairs of name and value.
func given(source string, pairs ...string) Source {
	src := Source{Name: source, Values: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		src.Values[pairs[i]] = pairs[i+1]
	}
	return src
}

func TestProfiles(t *testing.T) {
	serve, _ := load(t, Serve)
	dev, _ := load(t, Dev)
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"serve delay", serve.GroupInitialRebalanceDelay, 3 * time.Second},
		{"serve min session", serve.GroupMinSessionTimeout, 6 * time.Second},
		{"serve max session", serve.GroupMaxSessionTimeout, 30 * time.Minute},
		{"serve offsets retention", serve.OffsetsRetention, 7 * 24 * time.Hour},
		{"dev delay", dev.GroupInitialRebalanceDelay, 0},
		{"dev min session", dev.GroupMinSessionTimeout, 100 * time.Millisecond},
		{"dev max session", dev.GroupMaxSessionTimeout, 30 * time.Minute},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	// what somebody gives wins over the profile
	s, _ := load(t, Dev, given("--set", "group.initial.rebalance.delay.ms", "7"))
	if s.GroupInitialRebalanceDelay != 7*time.Millisecond {
		t.Errorf("got delay %v, want 7ms", s.GroupInitialRebalanceDelay)
	}
	core := s.Coordinator()
	if core.InitialRebalanceDelay != 7*time.Millisecond || core.MaxGroupSize != math.MaxInt32 || core.OffsetMetadataMaxBytes != 4096 {
		t.Errorf("got coordinator config %+v", core)
	}
}

func TestPrecedence(t *testing.T) {
	high, middle, low := given("--set", "num.partitions", "3"), given("environment", "num.partitions", "5", "group.max.size", "9"),
		given("file", "num.partitions", "7", "group.max.size", "8", "offsets.topic.num.partitions", "50")
	s, _ := load(t, Serve, high, middle, low)
	if s.NumPartitions != 3 || s.GroupMaxSize != 9 || s.OffsetsTopicNumPartitions != 50 {
		t.Errorf("got %d, %d, %d, want 3, 9, 50", s.NumPartitions, s.GroupMaxSize, s.OffsetsTopicNumPartitions)
	}
	if !s.IsExplicit("offsets.topic.num.partitions") {
		t.Error("a value that equals the default is not explicit although it was given")
	}
	if s.IsExplicit("default.replication.factor") {
		t.Error("a default is explicit")
	}
	dev, _ := load(t, Dev)
	if dev.IsExplicit("group.initial.rebalance.delay.ms") {
		t.Error("what the profile sets is explicit")
	}
	for _, e := range s.Effective() {
		if want := map[string]string{"num.partitions": "--set", "group.max.size": "environment", "node.id": DefaultSource}[e.Name]; want != "" && e.Source != want {
			t.Errorf("%s: got source %q, want %q", e.Name, e.Source, want)
		}
	}
}

func TestAliases(t *testing.T) {
	s, warnings := load(t, Serve, given("file", "broker.id", "7", "log.dir", "/data"))
	if s.NodeID != 7 || s.LogDir != "/data" || len(warnings) != 0 {
		t.Errorf("got node %d, dir %q, warnings %v", s.NodeID, s.LogDir, warnings)
	}
	s, _ = load(t, Serve, given("file", "broker.id", "7", "node.id", "8"))
	if s.NodeID != 8 {
		t.Errorf("got node %d, want that of node.id", s.NodeID)
	}
}

// A path that stands alone is one path, whatever its name; a list of Kafka's is parted at commas.
func TestWholeValues(t *testing.T) {
	whole := given("--data", "log.dirs", " a,b")
	whole.Whole = true
	s, _ := load(t, Serve, whole, given("file", "log.dirs", "c"))
	if s.LogDir != " a,b" {
		t.Errorf("got dir %q", s.LogDir)
	}
	if _, _, err := Load(Serve, given("file", "log.dirs", "a,b")); err == nil || !strings.Contains(err.Error(), "one directory") {
		t.Errorf("got %v", err)
	}
}

func TestBadValues(t *testing.T) {
	for _, c := range []struct {
		name, value string
		wants       []string // parts of the sentence
	}{
		{"num.partitions", "many", []string{"num.partitions", `"many"`, "--set", "whole number", "from 1 to 2147483647"}},
		{"num.partitions", "0", []string{"from 1 to 2147483647", "leave it out"}},
		{"num.partitions", "3000000000", []string{"from 1 to 2147483647"}},
		{"offsets.topic.replication.factor", "40000", []string{"from 1 to 32767"}},
		{"auto.create.topics.enable", "yes", []string{"true or false"}},
		{"log.cleaner.min.cleanable.ratio", "1.5", []string{"a number, from 0 to 1"}},
		{"log.cleanup.policy", "compact,burn", []string{`"burn"`, "compact, delete"}},
		{"compression.type", "brotli", []string{"one of uncompressed, zstd"}},
		{"group.initial.rebalance.delay.ms", "-1", []string{"of ms", "0 to"}},
		{"log.dirs", "/a,/b", []string{"one directory", "journal"}},
		{"group.max.session.timeout.ms", "5000", []string{"at least group.min.session.timeout.ms, which is 6000"}},
		{"group.consumer.session.timeout.ms", "61000", []string{"group.consumer.max.session.timeout.ms"}},
		{"listeners", "127.0.0.1:9092", []string{"NAME://", "PLAINTEXT://HOST:PORT"}},
		{"listeners", "SSL://:9092", []string{"SSL", "speaks PLAINTEXT only"}},
		{"listeners", "PLAINTEXT://:99999", []string{"65535"}},
		{"listeners", "PLAINTEXT://host", []string{"no HOST:PORT"}},
		{"advertised.listeners", "PLAINTEXT://0.0.0.0:9092", []string{"no address that a client can connect to"}},
		{"advertised.listeners", "PLAINTEXT://:9092", []string{"no address that a client can connect to"}},
		{"log.cleaner.min.compaction.lag.ms", "9223372036854775807", nil},
	} {
		_, _, err := Load(Serve, given("--set", c.name, c.value))
		if c.wants == nil {
			if err != nil {
				t.Errorf("%s=%s: got %v", c.name, c.value, err)
			}
			continue
		}
		var bad *ValueError
		if !errors.As(err, &bad) {
			t.Errorf("%s=%s: got %v, want a *ValueError", c.name, c.value, err)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s=%s: sentence %q lacks %q", c.name, c.value, err, want)
			}
		}
	}
}

func TestUnknownNames(t *testing.T) {
	env := Environment([]string{"KAFKA_GRUOP_MAX_SIZE=3", "KAFKA_HEAP_OPTS=-Xmx1g", "KAFKA_PROCESS_ROLES=broker,controller", "HOME=/root"})
	s, warnings := load(t, Serve, given("--set", "num.partition", "3", "frobnicate", "1"), env)
	if s.NumPartitions != 1 {
		t.Errorf("got %d partitions, want the default", s.NumPartitions)
	}
	var texts []string
	for _, w := range warnings {
		texts = append(texts, w.String())
	}
	all := strings.Join(texts, "\n")
	if len(warnings) != 3 || !strings.Contains(all, "num.partition (from --set)") || !strings.Contains(all, "did you mean num.partitions?") ||
		!strings.Contains(all, "KAFKA_GRUOP_MAX_SIZE (from environment)") || !strings.Contains(all, "did you mean group.max.size?") {
		t.Errorf("got warnings:\n%s", all)
	}
	for name, want := range map[string]string{
		"max.connection": "max.connections", "log.cleaner.delete.retention.m": "log.cleaner.delete.retention.ms",
		"group.consumer.min.sesion.timeout.ms": "group.consumer.min.session.timeout.ms", "listener.name.plaintext.ssl.keystore": "",
	} {
		_, warnings := load(t, Serve, given("file", name, "1"))
		if (want == "") != (len(warnings) == 0) || (want != "" && !strings.HasSuffix(warnings[0].Text, "did you mean "+want+"?")) {
			t.Errorf("%s: got %v, want %q", name, warnings, want)
		}
	}
	if strings.Contains(texts[0], "did you mean") { // frobnicate is near nothing
		t.Errorf("got %q", texts[0])
	}
}

// What the official image, the usual compose files and a Kubernetes service set gives no warning.
func TestContainerSettingsAreQuiet(t *testing.T) {
	env := Environment([]string{
		"KAFKA_NODE_ID=1", "KAFKA_PROCESS_ROLES=broker,controller", "KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093",
		"KAFKA_LISTENERS=PLAINTEXT://:19092,CONTROLLER://:9093,PLAINTEXT_HOST://:9092", "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
		"KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://broker:19092,PLAINTEXT_HOST://localhost:29092",
		"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT",
		"KAFKA_INTER_BROKER_LISTENER_NAME=PLAINTEXT", "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
		"KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1", "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1", "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0",
		"KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR=1", "KAFKA_LOG_DIRS=/tmp/kraft-combined-logs", "KAFKA_HEAP_OPTS=-Xmx256M",
		"KAFKA_OPTS=-Dx=y", "KAFKA_JMX_PORT=9999", "KAFKA_JMX_HOSTNAME=localhost", "KAFKA_LOG4J_ROOT_LOGLEVEL=WARN", "KAFKA_LOG4J_LOGGERS=a=b",
		"KAFKA_ZOOKEEPER_CONNECT=", "KAFKA_PORT=tcp://10.0.0.1:9092", "KAFKA_SERVICE_HOST=10.0.0.1", "KAFKA_PORT_9092_TCP_ADDR=10.0.0.1",
		"KAFKA_CONFLUENT_SUPPORT_METRICS_ENABLE=false", "KAFKA_NUM_NETWORK_THREADS=3", "KAFKA_SOCKET_SEND_BUFFER_BYTES=102400",
		"KAFKA_NUM_RECOVERY_THREADS_PER_DATA_DIR=1", "KAFKA_REPLICA_FETCH_MAX_BYTES=1", "KAFKA_BROKER_RACK=a",
	})
	s, warnings := load(t, Dev, env)
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "only the first is opened: :19092") {
		t.Errorf("got warnings %v, want the one about listeners", warnings)
	}
	if len(s.Listeners) != 2 || s.Listeners[0].Addr() != ":19092" || s.Listeners[1].Name != "PLAINTEXT_HOST" {
		t.Errorf("got listeners %+v", s.Listeners)
	}
	if host, port, ok := s.Advertised("PLAINTEXT_HOST"); host != "localhost" || port != 29092 || !ok {
		t.Errorf("got %s:%d %v", host, port, ok)
	}
	if _, _, ok := s.Advertised("OTHER"); ok {
		t.Error("an unknown listener of several is advertised")
	}
	if s.LogDir != "/tmp/kraft-combined-logs" {
		t.Errorf("got dir %q", s.LogDir)
	}
}

func TestAdvertised(t *testing.T) {
	s, _ := load(t, Serve)
	if _, _, ok := s.Advertised("PLAINTEXT"); ok || s.Listeners != nil {
		t.Error("the default is advertised")
	}
	s, _ = load(t, Serve, given("--set", "advertised.listeners", "PLAINTEXT://[::1]:5"))
	if host, port, ok := s.Advertised("ANY"); host != "::1" || port != 5 || !ok {
		t.Errorf("got %s:%d %v: one advertised address serves all", host, port, ok)
	}
}

func TestEnvironmentNames(t *testing.T) {
	src := Environment([]string{
		"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=5", "KAFKA_A__B=1", "KAFKA_A___B=2", "KAFKA_=3", "kafka_num_partitions=4", "KAFKA_EMPTY=",
		"KAFKA_X=a=b",
	})
	want := map[string]string{"group.initial.rebalance.delay.ms": "5", "a_b": "1", "a-b": "2", "x": "a=b"}
	if len(src.Values) != len(want) {
		t.Errorf("got %v", src.Values)
	}
	for name, text := range want {
		if src.Values[name] != text {
			t.Errorf("%s: got %q, want %q", name, src.Values[name], text)
		}
	}
}

func TestSets(t *testing.T) {
	src, err := Sets([]string{"a=1", " b = x=y", "a=2"})
	if err != nil || src.Values["a"] != "2" || src.Values["b"] != " x=y" {
		t.Errorf("got %v, %v", src.Values, err)
	}
	for _, bad := range []string{"a", "=1", ""} {
		if _, err := Sets([]string{bad}); err == nil || !strings.Contains(err.Error(), "name=value") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.properties")
	text := "# comment\n! comment\nnum.partitions=3\nnum.partitions : 4\ngroup.max.size 9\nx=${y}\nlog.dirs=/a\\\n  /b\nu=\\u0041\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := File(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"num.partitions": "4", "group.max.size": "9", "x": "${y}", "log.dirs": "/a/b", "u": "A"} {
		if src.Values[name] != want {
			t.Errorf("%s: got %q, want %q", name, src.Values[name], want)
		}
	}
	if src.Name != path {
		t.Errorf("got name %q", src.Name)
	}
	if _, err := File(path + ".missing"); err == nil || !strings.Contains(err.Error(), "-f") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTopicDefaults(t *testing.T) {
	kafka := partitionlog.DefaultTopicConfig()
	if s, _ := load(t, Serve); s.TopicDefaults() != kafka {
		t.Errorf("got %+v\nwant %+v", s.TopicDefaults(), kafka)
	}
	for _, c := range []struct {
		pairs []string
		topic string
		want  string
	}{
		{[]string{"log.retention.hours", "2"}, "retention.ms", "7200000"},
		{[]string{"log.retention.hours", "2", "log.retention.minutes", "3"}, "retention.ms", "180000"},
		{[]string{"log.retention.hours", "2", "log.retention.minutes", "3", "log.retention.ms", "4"}, "retention.ms", "4"},
		{[]string{"log.retention.minutes", "-1"}, "retention.ms", "-1"},
		{[]string{"log.retention.ms", "-1"}, "retention.ms", "-1"},
		{[]string{"log.retention.hours", "2147483647"}, "retention.ms", "7730941129200000"},
		{[]string{"log.roll.hours", "1"}, "segment.ms", "3600000"},
		{[]string{"message.max.bytes", "77"}, "max.message.bytes", "77"},
		{[]string{"log.cleanup.policy", "delete, compact"}, "cleanup.policy", "compact,delete"},
		{[]string{"log.message.timestamp.type", "LogAppendTime"}, "message.timestamp.type", "LogAppendTime"},
		{[]string{"log.cleaner.min.cleanable.ratio", "0.25"}, "min.cleanable.dirty.ratio", "0.25"},
		{[]string{"log.segment.bytes", "1048576"}, "segment.bytes", "1048576"},
		{[]string{"min.insync.replicas", "2"}, "min.insync.replicas", "2"},
	} {
		s, _ := load(t, Serve, given("--set", c.pairs...))
		if got, _ := s.TopicDefaults().Value(c.topic); got != c.want {
			t.Errorf("%v: got %s=%s, want %s", c.pairs, c.topic, got, c.want)
		}
	}
	_, _, err := Load(Serve, given("--set", "log.cleaner.min.compaction.lag.ms", "9", "log.cleaner.max.compaction.lag.ms", "8"))
	if err == nil || !strings.Contains(err.Error(), "log.cleaner.min.compaction.lag.ms") {
		t.Errorf("got %v, want the broker property named", err)
	}
}

func TestOffsetsTopicOverrides(t *testing.T) {
	s, _ := load(t, Serve)
	config, err := partitionlog.ParseTopicConfig(s.TopicDefaults(), s.OffsetsTopicOverrides())
	if err != nil || !config.Compact || config.Delete || config.SegmentBytes != 4<<20 {
		t.Errorf("got %+v, %v", config, err)
	}
	_, _, err = Load(Serve, given("--set", "offsets.topic.segment.bytes", "3"))
	if err == nil || !strings.Contains(err.Error(), "14") {
		t.Errorf("got %v, want the bound of segment.bytes", err)
	}
}

// The names of one config in several units, by the answers of Kafka 4.4.0 (conformance scenarios 424 to 427).
func TestSynonyms(t *testing.T) {
	hours := Synonym{"log.retention.hours", "168", false}
	for _, c := range []struct {
		given string // by --set
		of    string
		want  []Synonym
	}{
		{"", "log.retention.ms", nil},
		{"", "log.retention.hours", []Synonym{hours}},
		{"log.retention.hours=5", "log.retention.ms", nil},
		{"log.retention.hours=5", "log.retention.minutes", nil},
		{"log.retention.hours=5", "log.retention.hours", []Synonym{{"log.retention.hours", "5", true}, hours}},
		{"log.retention.ms=1", "log.retention.ms", []Synonym{{"log.retention.ms", "1", true}, hours}},
		{"log.retention.ms=1", "log.retention.hours", []Synonym{hours}},
		{
			"log.retention.hours=5 log.retention.minutes=7 log.retention.ms=1", "log.retention.ms",
			[]Synonym{{"log.retention.ms", "1", true}, {"log.retention.minutes", "7", true}, {"log.retention.hours", "5", true}, hours},
		},
		{
			"log.retention.hours=5 log.retention.minutes=7 log.retention.ms=1", "log.retention.minutes",
			[]Synonym{{"log.retention.minutes", "7", true}, {"log.retention.hours", "5", true}, hours},
		},
		{"", "log.segment.bytes", []Synonym{{"log.segment.bytes", "1073741824", false}}},
		{"num.partitions=3", "num.partitions", []Synonym{{"num.partitions", "3", true}, {"num.partitions", "1", false}}},
	} {
		sets, err := Sets(strings.Fields(c.given))
		if err != nil {
			t.Fatal(err)
		}
		s, _ := load(t, Serve, sets)
		if got := s.Synonyms(c.of); !slices.Equal(got, c.want) {
			t.Errorf("%s of %q: got %+v, want %+v", c.of, c.given, got, c.want)
		}
	}
	s, _ := load(t, Serve, given("--set", "log.roll.ms", "3"))
	if got, doc := s.TopicSynonyms("segment.ms"); len(got) != 2 || got[0].Name != "log.roll.ms" || doc == "" {
		t.Errorf("got %+v, %q", got, doc)
	}
	if got, _ := s.TopicSynonyms("segment.jitter.ms"); got != nil {
		t.Errorf("got %+v", got)
	}
}

func TestGroupConfigs(t *testing.T) {
	s, _ := load(t, Serve)
	for _, c := range []struct {
		overrides map[string]string
		want      string // part of the sentence, "" for good
	}{
		{map[string]string{}, ""},
		{map[string]string{"consumer.session.timeout.ms": "50000"}, ""},
		{map[string]string{"consumer.session.timeout.ms": "44999"}, "in the range 45000 to 60000 inclusive."},
		{map[string]string{"consumer.session.timeout.ms": "60001"}, "in the range 45000 to 60000 inclusive."},
		{map[string]string{"consumer.heartbeat.interval.ms": "x"}, "Invalid value x for configuration consumer.heartbeat.interval.ms: Not a number of type INT"},
		{map[string]string{"consumer.heartbeat.interval.ms": "15000"}, ""},
		{map[string]string{"share.session.timeout.ms": "1"}, "Unknown group config name: share.session.timeout.ms"},
	} {
		err := s.CheckGroupConfigs(c.overrides)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got %v, want %q", c.overrides, err, c.want)
		}
	}
	wide, _ := load(t, Serve, given("--set", "group.consumer.min.session.timeout.ms", "1000"))
	err := wide.CheckGroupConfigs(map[string]string{"consumer.session.timeout.ms": "5000"})
	if err == nil || !strings.Contains(err.Error(), "greater than") {
		t.Errorf("got %v", err)
	}
}
