package settings

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// Coordinator returns the limits and delays of groups. What is no Kafka property keeps the coordinator's default.
func (s *Settings) Coordinator() coordinator.Config {
	c := coordinator.DefaultConfig()
	c.MinSessionTimeout = s.GroupMinSessionTimeout
	c.MaxSessionTimeout = s.GroupMaxSessionTimeout
	c.InitialRebalanceDelay = s.GroupInitialRebalanceDelay
	c.MaxGroupSize = int(s.GroupMaxSize)
	c.OffsetMetadataMaxBytes = int(s.OffsetMetadataMaxBytes)
	c.OffsetsRetention = s.OffsetsRetention
	c.RetentionCheckInterval = s.OffsetsRetentionCheckInterval
	return c
}

// TopicDefaults returns the broker-wide defaults of topic configs.
func (s *Settings) TopicDefaults() partitionlog.TopicConfig { return s.topicDefaults }

// OffsetsTopicOverrides returns the configs that __consumer_offsets is created with.
// Source: GroupCoordinatorService.groupMetadataTopicConfigs
func (s *Settings) OffsetsTopicOverrides() map[string]string {
	return map[string]string{
		"cleanup.policy":   "compact",
		"compression.type": "producer",
		"segment.bytes":    s.values["offsets.topic.segment.bytes"].text,
	}
}

// settleTopics computes the defaults of topic configs. Of several properties for one topic config the first in the
// table that was given wins, and else the first that has a default.
func (s *Settings) settleTopics() error {
	overrides, from := map[string]string{}, map[string]string{}
	for i := range s.rows {
		r := &s.rows[i]
		v := s.values[r.name]
		if r.topic == "" || v.null || (from[r.topic] != "" && (!v.explicit || s.IsExplicit(from[r.topic]))) {
			continue
		}
		overrides[r.topic], from[r.topic] = r.inMilliseconds(v.text), r.name
	}
	defaults, err := partitionlog.ParseTopicConfig(partitionlog.DefaultTopicConfig(), overrides)
	var refused *partitionlog.ConfigError
	if errors.As(err, &refused) {
		return s.bad(from[refused.Name], "must be good for topics, as "+refused.Name+": "+refused.Reason, "")
	}
	s.topicDefaults = defaults
	return err
}

// inMilliseconds converts a whole number of minutes or hours, saturated; -1 means no limit and stays.
func (r *row) inMilliseconds(text string) string {
	factor := map[string]int64{"minutes": 60_000, "hours": 3_600_000}[r.unit]
	n, err := strconv.ParseInt(text, 10, 64)
	if factor == 0 || err != nil || n < 0 {
		return text
	}
	if n > math.MaxInt64/factor {
		return strconv.FormatInt(math.MaxInt64, 10)
	}
	return strconv.FormatInt(n*factor, 10)
}

// Synonym is one place that the value of a config comes from.
type Synonym struct {
	Name     string // the broker property
	Value    string // in the property's own unit
	Explicit bool   // somebody gave it; else it is a default
}

// Synonyms returns where the value of a broker property comes from. Properties that are one topic config's default in
// several units (ms, minutes, hours) are synonyms: those that were given, in the table's order, then the defaults. As in
// Kafka, the list begins with the property itself, and is empty when it is neither given nor has a default, even if the
// value comes from one of the others.
//
// Source: DynamicBrokerConfig.brokerConfigSynonyms, ConfigHelper.configSynonyms
func (s *Settings) Synonyms(name string) []Synonym {
	var given, defaults []Synonym
	topic := s.row(name).topic
	for i := range s.rows {
		r := &s.rows[i]
		if r.name != name && (topic == "" || r.topic != topic) {
			continue
		}
		if v := s.values[r.name]; v.source != DefaultSource {
			given = append(given, Synonym{Name: r.name, Value: v.text, Explicit: true})
		}
		if !r.null {
			defaults = append(defaults, Synonym{Name: r.name, Value: r.def})
		}
	}
	all := append(given, defaults...)
	first := slices.IndexFunc(all, func(other Synonym) bool { return other.Name == name })
	if first < 0 {
		return nil
	}
	return all[first:]
}

// TopicSynonyms returns, for a topic config, the Synonyms of the first broker property that sets its default, and the
// sentence that describes it.
func (s *Settings) TopicSynonyms(topicConfig string) (synonyms []Synonym, doc string) {
	for i := range s.rows {
		if r := &s.rows[i]; r.topic == topicConfig {
			return s.Synonyms(r.name), r.doc
		}
	}
	return nil, ""
}

// row returns the row of a property of the table.
func (s *Settings) row(name string) *row {
	return &s.rows[slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })]
}
