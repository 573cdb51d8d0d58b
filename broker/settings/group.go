package settings

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// GroupProperty is one config of a group (resource type GROUP of DescribeConfigs).
type GroupProperty struct {
	Name    string
	Default string // the broker-wide value
	Doc     string
	From    string // broker property that is its default
	min     string // broker properties that bound it
	max     string
}

// GroupProperties returns the configs that a group may have, in alphabetical order.
// Source: GroupConfig, KIP-848
func (s *Settings) GroupProperties() []GroupProperty {
	properties := []GroupProperty{
		{
			Name: "consumer.heartbeat.interval.ms", From: "group.consumer.heartbeat.interval.ms",
			min: "group.consumer.min.heartbeat.interval.ms", max: "group.consumer.max.heartbeat.interval.ms",
			Doc: "Heartbeat interval of the members of this group.",
		},
		{
			Name: "consumer.session.timeout.ms", From: "group.consumer.session.timeout.ms",
			min: "group.consumer.min.session.timeout.ms", max: "group.consumer.max.session.timeout.ms",
			Doc: "Session timeout of the members of this group.",
		},
	}
	for i := range properties {
		properties[i].Default = s.values[properties[i].From].text
	}
	return properties
}

// CheckGroupConfigs checks the whole set of a group's configs against the broker's bounds.
//
// Errors: a sentence for the first config, in alphabetical order, that is unknown, no number or out of bounds, in Kafka's
// words, for clients show them.
// Source: GroupConfig.validate
func (s *Settings) CheckGroupConfigs(overrides map[string]string) error {
	names := make([]string, 0, len(overrides))
	for name := range overrides {
		names = append(names, name)
	}
	sort.Strings(names)
	effective := map[string]int64{}
	known := s.GroupProperties()
	for _, p := range known {
		effective[p.Name] = s.number(p.From)
	}
	for _, name := range names {
		if _, ok := effective[name]; !ok {
			return fmt.Errorf("Unknown group config name: %s", name)
		}
	}
	for _, p := range known {
		text, set := overrides[p.Name]
		if !set {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		if err != nil {
			return fmt.Errorf("Invalid value %s for configuration %s: Not a number of type INT", text, p.Name)
		}
		if low, high := s.number(p.min), s.number(p.max); n < low || n > high {
			return fmt.Errorf("%s must be in the range %d to %d inclusive.", p.Name, low, high)
		}
		effective[p.Name] = n
	}
	if effective["consumer.session.timeout.ms"] <= effective["consumer.heartbeat.interval.ms"] {
		return fmt.Errorf("consumer.session.timeout.ms (%d) must be greater than consumer.heartbeat.interval.ms (%d)",
			effective["consumer.session.timeout.ms"], effective["consumer.heartbeat.interval.ms"])
	}
	return nil
}
