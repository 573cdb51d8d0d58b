package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/partitionlog"
)

// configEntry is one config of a resource, as CreateTopics and DescribeConfigs answer it.
type configEntry struct {
	Name     string
	Value    *string
	ReadOnly bool
	Source   kmsg.ConfigSource
	Type     kmsg.ConfigType
	Synonyms []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym
	Doc      string
}

// synonym adds one place that the value comes from; the first gives the entry its source.
func (e *configEntry) synonym(name string, value *string, source kmsg.ConfigSource) {
	if len(e.Synonyms) == 0 {
		e.Source = source
	}
	e.Synonyms = append(e.Synonyms, kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{Name: name, Value: value, Source: source})
}

// broker adds what the broker's settings say.
func (e *configEntry) broker(synonyms []settings.Synonym) {
	for i := range synonyms {
		source := kmsg.ConfigSourceDefaultConfig
		if synonyms[i].Explicit {
			source = kmsg.ConfigSourceStaticBrokerConfig
		}
		e.synonym(synonyms[i].Name, &synonyms[i].Value, source)
	}
}

// topicEntries returns the configs of a topic, in alphabetical order.
// Source: ConfigHelper.createTopicConfigEntry
func (s *Server) topicEntries(overrides map[string]string, config partitionlog.TopicConfig) []configEntry {
	properties := partitionlog.TopicProperties()
	entries := make([]configEntry, 0, len(properties))
	for i := range properties {
		name := properties[i].Name
		value, _ := config.Value(name)
		synonyms, doc := s.Settings.TopicSynonyms(name)
		e := configEntry{Name: name, Value: &value, Source: kmsg.ConfigSourceDefaultConfig, Type: topicTypes[properties[i].Type], Doc: doc}
		if given, set := overrides[name]; set {
			if properties[i].Type == partitionlog.ListValue {
				value = given // the order of a list is the client's
			}
			e.synonym(name, &value, kmsg.ConfigSourceDynamicTopicConfig)
		}
		e.broker(synonyms)
		entries = append(entries, e)
	}
	return entries
}

// topicTypes maps the store's types to those of the wire.
var topicTypes = map[partitionlog.ValueType]kmsg.ConfigType{
	partitionlog.BoolValue:   kmsg.ConfigTypeBoolean,
	partitionlog.IntValue:    kmsg.ConfigTypeInt,
	partitionlog.LongValue:   kmsg.ConfigTypeLong,
	partitionlog.DoubleValue: kmsg.ConfigTypeDouble,
	partitionlog.StringValue: kmsg.ConfigTypeString,
	partitionlog.ListValue:   kmsg.ConfigTypeList,
}

// brokerEntries returns the settings of this broker. All are read-only: they are read at start.
// Source: ConfigHelper.createBrokerConfigEntry
func (s *Server) brokerEntries() []configEntry {
	all := s.Settings.Effective()
	entries := make([]configEntry, 0, len(all))
	for i := range all {
		p := &all[i]
		e := configEntry{
			Name: p.Name, ReadOnly: true, Source: kmsg.ConfigSourceDefaultConfig, Type: kmsg.ConfigType(p.Type), Doc: p.Doc,
		}
		if !p.Null {
			e.Value = &p.Value
		}
		e.broker(s.Settings.Synonyms(p.Name))
		entries = append(entries, e)
	}
	return entries
}

// groupEntries returns the configs of a group, which need not exist.
// Source: ConfigHelper.createGroupConfigEntry
func (s *Server) groupEntries(group string) []configEntry {
	overrides := s.Store.GroupConfigs(group)
	properties := s.Settings.GroupProperties()
	entries := make([]configEntry, 0, len(properties))
	for i := range properties {
		p := &properties[i]
		e := configEntry{Name: p.Name, Value: &p.Default, Type: kmsg.ConfigTypeInt, Source: kmsg.ConfigSourceDefaultConfig, Doc: p.Doc}
		if value, set := overrides[p.Name]; set {
			e.Value = &value
			e.synonym(p.Name, &value, kmsg.ConfigSourceGroupConfig)
		}
		e.synonym(p.From, &p.Default, kmsg.ConfigSourceDefaultConfig)
		entries = append(entries, e)
	}
	return entries
}
