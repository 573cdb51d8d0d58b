package broker_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A topic config that is refused is refused in Kafka's words (conformance scenario 432).
func TestRefusedTopicConfigs(t *testing.T) {
	w := dial(t, start(t))
	for _, c := range []struct{ name, value, want string }{
		{"cleanup.policy", "nope", "Invalid value nope for configuration cleanup.policy: String must be one of: compact, delete"},
		{"cleanup.policy", "compact, nope", "Invalid value nope for configuration cleanup.policy: String must be one of: compact, delete"},
		{"cleanup.policy", "compact,", "Configuration 'cleanup.policy' values must not be empty."},
		{"cleanup.policy", "", "Configuration 'cleanup.policy' must not be empty. Valid values include: [compact, delete]"},
		{"message.timestamp.type", "nope", "Invalid value nope for configuration message.timestamp.type: String must be one of: CreateTime, LogAppendTime"},
		{
			"compression.type", "nope",
			"Invalid value nope for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
		},
		{"preallocate", "maybe", "Invalid value maybe for configuration preallocate: Expected value to be either true or false"},
		{"retention.ms", "x", "Invalid value x for configuration retention.ms: Not a number of type LONG"},
		{"max.message.bytes", "99999999999", "Invalid value 99999999999 for configuration max.message.bytes: Not a number of type INT"},
		{"min.cleanable.dirty.ratio", "x", "Invalid value x for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE"},
		{"no.such", "x", "Unknown topic config name: no.such"},
		// Ours: both bounds.
		{"min.cleanable.dirty.ratio", "2", "Invalid value 2 for configuration min.cleanable.dirty.ratio: must be between 0 and 1"},
	} {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly = 1000, true
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", 1, 1
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = c.name, &c.value
		topic.Configs = append(topic.Configs, config)
		req.Topics = append(req.Topics, topic)
		got := ask[*kmsg.CreateTopicsResponse](w, 7, req).Topics[0]
		if got.ErrorCode != 40 || got.ErrorMessage == nil || *got.ErrorMessage != c.want {
			t.Errorf("%s=%q: got %+v, want %q", c.name, c.value, got, c.want)
		}
	}
}

// There are no loggers to be set: none are listed, and the resource is the one that was asked for.
func TestDescribeBrokerLoggers(t *testing.T) {
	w := dial(t, start(t))
	for _, c := range []struct {
		name    string
		code    int16
		message string
	}{
		{"1", 0, ""},
		{"2", 42, "Unexpected broker id, expected 1 but received 2"},
		{"", 42, "Broker id must not be empty"},
		{"x", 42, "Broker id must be an integer, but it is: x"},
	} {
		req := kmsg.NewPtrDescribeConfigsRequest()
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeBrokerLogger, c.name
		req.Resources = append(req.Resources, r)
		all := ask[*kmsg.DescribeConfigsResponse](w, 4, req).Resources
		if len(all) != 1 {
			t.Fatalf("%q: got %+v", c.name, all)
		}
		got := all[0]
		if got.ErrorCode != c.code || got.ErrorMessage == nil || *got.ErrorMessage != c.message || len(got.Configs) != 0 ||
			got.ResourceType != kmsg.ConfigResourceTypeBrokerLogger || got.ResourceName != c.name {
			t.Errorf("%q: got %+v", c.name, got)
		}
	}
}
