package partitionlog

import (
	"fmt"
	"io"
	"maps"
)

// TopicSpec describes a topic to be created.
type TopicSpec struct {
	Name       string
	Partitions int32
	Overrides  map[string]string
	Internal   bool
}

// maxPartitions bounds one topic; a typing error must not cost the machine's memory.
const maxPartitions = 100_000

// CreateTopic makes a topic, durably, and serves it. An empty partition costs no file.
//
// Errors: ErrTopicExists (also while a topic of that name is being deleted), ErrInvalidTopic, ErrInvalidPartitions,
// *ConfigError, ErrDiskFull, ErrStorage, ErrClosed.
func (s *Store) CreateTopic(spec TopicSpec) (*Topic, error) {
	if err := checkTopicName(spec.Name); err != nil {
		return nil, err
	}
	if spec.Partitions < 1 || spec.Partitions > maxPartitions {
		return nil, fmt.Errorf("%w: %d; use 1 to %d", ErrInvalidPartitions, spec.Partitions, maxPartitions)
	}
	if _, err := ParseTopicConfig(s.config.Defaults, spec.Overrides); err != nil {
		return nil, err
	}
	spec.Overrides = maps.Clone(spec.Overrides)
	var id [16]byte
	err := s.run(func() error {
		if s.catalog.byName(spec.Name) != nil {
			return fmt.Errorf("%w: %q", ErrTopicExists, spec.Name)
		}
		if s.diskFull.Load() {
			return s.diskFullError()
		}
		var err error
		if id, err = s.newTopicID(); err != nil {
			return err
		}
		s.frame.createTopic(id, spec)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.topicAfter(id)
}

// CreatePartitions raises a topic's number of partitions to total.
//
// Errors: ErrUnknownTopic, ErrInvalidPartitions, ErrDiskFull, ErrStorage, ErrClosed.
func (s *Store) CreatePartitions(id [16]byte, total int32) (*Topic, error) {
	err := s.run(func() error {
		t := s.TopicByID(id)
		if t == nil {
			return fmt.Errorf("%w: id %s", ErrUnknownTopic, formatID(id))
		}
		if int(total) <= len(t.Partitions) || total > maxPartitions {
			return fmt.Errorf("%w: %d; %q has %d", ErrInvalidPartitions, total, t.Name, len(t.Partitions))
		}
		if s.diskFull.Load() {
			return s.diskFullError()
		}
		s.frame.createPartitions(id, total)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.topicAfter(id)
}

// AlterTopicConfig replaces a topic's overrides; what the map does not name has its default again.
//
// Errors: ErrUnknownTopic, *ConfigError, ErrStorage, ErrClosed.
func (s *Store) AlterTopicConfig(id [16]byte, overrides map[string]string) error {
	if _, err := ParseTopicConfig(s.config.Defaults, overrides); err != nil {
		return err
	}
	overrides = maps.Clone(overrides)
	return s.run(func() error {
		if s.TopicByID(id) == nil {
			return fmt.Errorf("%w: id %s", ErrUnknownTopic, formatID(id))
		}
		s.frame.topicConfig(id, overrides)
		return nil
	})
}

// BeginDeleteTopic is the first step of a deletion: the topic is no longer served, its name stays reserved, and
// start-up finds it in DeletingTopics. Between the steps the broker writes the offset tombstones.
//
// Errors: ErrUnknownTopic, ErrStorage, ErrClosed.
func (s *Store) BeginDeleteTopic(id [16]byte) error {
	return s.run(func() error {
		if s.TopicByID(id) == nil {
			return fmt.Errorf("%w: id %s", ErrUnknownTopic, formatID(id))
		}
		s.frame.topicStep(entryBeginDelete, id)
		return nil
	})
}

// FinishDeleteTopic is the last step: the name is free, the files go with the next checkpoint.
//
// Errors: ErrUnknownTopic (also without the first step), ErrStorage, ErrClosed.
func (s *Store) FinishDeleteTopic(id [16]byte) error {
	return s.run(func() error {
		if t := s.catalog.byTopicID(id); t == nil || !t.Deleting {
			return fmt.Errorf("%w: id %s is not being deleted", ErrUnknownTopic, formatID(id))
		}
		s.frame.topicStep(entryFinishDelete, id)
		return nil
	})
}

// AlterGroupConfig replaces a group's properties; the store does not judge them.
//
// Errors: ErrStorage, ErrClosed.
func (s *Store) AlterGroupConfig(group string, overrides map[string]string) error {
	overrides = maps.Clone(overrides)
	return s.run(func() error {
		s.frame.groupConfig(group, overrides)
		return nil
	})
}

// topicAfter looks up what an operation has made; somebody may have deleted it again.
func (s *Store) topicAfter(id [16]byte) (*Topic, error) {
	if t := s.TopicByID(id); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: id %s was deleted at once", ErrUnknownTopic, formatID(id))
}

// newTopicID draws an id. Kafka reserves two small ones, and no id is used twice.
func (s *Store) newTopicID() (id [16]byte, err error) {
	for {
		if id, err = randomID(s.config.Rand); err != nil {
			return id, fmt.Errorf("draw a topic id: %w", err)
		}
		if formatID(id)[0] != '-' && s.catalog.byTopicID(id) == nil {
			return id, nil
		}
	}
}

// randomID draws a random (version 4) UUID.
func randomID(random io.Reader) (id [16]byte, err error) {
	_, err = io.ReadFull(random, id[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id, err
}

// maxTopicName is Kafka's: a directory name of 255 less the longest partition suffix.
const maxTopicName = 249

func checkTopicName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > maxTopicName {
		return fmt.Errorf("%w: %q; use 1 to %d characters, not . or ..", ErrInvalidTopic, name, maxTopicName)
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
		default:
			return fmt.Errorf("%w: %q; use letters, digits, dot, underscore and hyphen", ErrInvalidTopic, name)
		}
	}
	return nil
}
