package settings

import (
	"errors"
	"math"
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

// Synonym is one place that the value of a topic config comes from.
type Synonym struct {
	Name     string // the broker property
	Value    string // in the property's own unit
	Explicit bool   // somebody gave it; else it is a default
}

// TopicSynonyms returns, for a topic config, the broker properties that set its default, those that were given first
// and the default last, and the sentence that describes them.
func (s *Settings) TopicSynonyms(topicConfig string) (synonyms []Synonym, doc string) {
	var last *Synonym
	for i := range s.rows {
		r := &s.rows[i]
		if r.topic != topicConfig {
			continue
		}
		if doc == "" {
			doc = r.doc
		}
		if v := s.values[r.name]; v.explicit {
			synonyms = append(synonyms, Synonym{Name: r.name, Value: v.text, Explicit: true})
		}
		if !r.null {
			last = &Synonym{Name: r.name, Value: r.def}
		}
	}
	if last != nil {
		synonyms = append(synonyms, *last)
	}
	return synonyms, doc
}
