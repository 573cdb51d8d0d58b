package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// selection is a topic, with some of its partitions or none for all.
type selection struct {
	topic      string
	partitions []int32
}

// place is one partition.
type place struct {
	topic     string
	partition int32
}

// String returns a place as it is written on the command line.
func (p place) String() string { return fmt.Sprintf("%s:%d", p.topic, p.partition) }

// parseSelections reads what stands on the command line: TOPIC or TOPIC:0,1.
func parseSelections(args []string) ([]selection, error) {
	selections := make([]selection, 0, len(args))
	for _, arg := range args {
		topic, list, some := strings.Cut(arg, ":")
		sel := selection{topic: topic}
		for text := range strings.SplitSeq(list, ",") {
			if !some {
				break
			}
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("a topic is named as TOPIC or TOPIC:0,1, and not %q", arg)
			}
			sel.partitions = append(sel.partitions, int32(n))
		}
		if topic == "" {
			return nil, fmt.Errorf("a topic is named as TOPIC or TOPIC:0,1, and not %q", arg)
		}
		selections = append(selections, sel)
	}
	return selections, nil
}

// expand returns the partitions that are selected, in order. All must exist.
func (s *session) expand(selections []selection) ([]place, error) {
	names := make([]string, len(selections))
	for i, sel := range selections {
		names[i] = sel.topic
	}
	topics, err := s.topics(names...)
	if err != nil {
		return nil, err
	}
	var places []place
	for _, sel := range selections {
		details := topics[sel.topic].Partitions
		partitions := sel.partitions
		if partitions == nil {
			partitions = details.Numbers()
		}
		for _, partition := range partitions {
			if _, exists := details[partition]; !exists {
				return nil, fmt.Errorf("topic %q has %s and no partition %d", sel.topic, count(len(details), "partition"), partition)
			}
			places = append(places, place{sel.topic, partition})
		}
	}
	return sortPlaces(places), nil
}

// sortPlaces orders partitions and drops those that are there twice.
func sortPlaces(places []place) []place {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(strings.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	return slices.Compact(places)
}

// topics returns topics by name; all must exist.
func (s *session) topics(names ...string) (kadm.TopicDetails, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := s.request()
	defer cancel()
	topics, err := s.admin.ListTopicsWithInternal(ctx, names...)
	if err != nil {
		return nil, s.asked("look up topics", kmsg.Metadata, err)
	}
	for _, name := range names {
		if topic, ok := topics[name]; !ok || topic.Err != nil {
			if ok && !unknownTopic(topic.Err) {
				return nil, s.asked(fmt.Sprintf("look up topic %q", name), kmsg.Metadata, topic.Err)
			}
			return nil, s.noTopic(name)
		}
	}
	return topics, nil
}
