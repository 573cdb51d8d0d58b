package partitionlog

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Topic is an immutable picture of a topic.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions []*Partition
	Overrides  map[string]string
	Config     TopicConfig
	Internal   bool
	Deleting   bool
}

// catalog is every topic and every group's properties.
//
// Owner: changed by the loop only; read by anybody without a lock, but for Topics after a change.
type catalog struct {
	names sync.Map // name to *Topic, also those that are being deleted
	ids   sync.Map // id to *Topic, the same ones

	version atomic.Uint64 // moves with every change
	sorted  atomic.Pointer[sortedTopics]
	groups  atomic.Pointer[map[string]map[string]string]
}

// sortedTopics is the catalogue by name, as of a version.
type sortedTopics struct {
	version uint64
	list    []*Topic
}

func (c *catalog) byTopicID(id [16]byte) *Topic {
	if t, ok := c.ids.Load(id); ok {
		return t.(*Topic)
	}
	return nil
}

func (c *catalog) byName(name string) *Topic {
	if t, ok := c.names.Load(name); ok {
		return t.(*Topic)
	}
	return nil
}

func (c *catalog) put(t *Topic) {
	c.names.Store(t.Name, t)
	c.ids.Store(t.ID, t)
	c.version.Add(1)
}

func (c *catalog) remove(t *Topic) {
	c.names.Delete(t.Name)
	c.ids.Delete(t.ID)
	c.version.Add(1)
}

// all returns every topic by name, also those that are being deleted.
func (c *catalog) all() []*Topic {
	version := c.version.Load()
	if s := c.sorted.Load(); s != nil && s.version == version {
		return s.list
	}
	built := []*Topic{}
	c.names.Range(func(_, t any) bool {
		built = append(built, t.(*Topic))
		return true
	})
	slices.SortFunc(built, func(a, b *Topic) int { return strings.Compare(a.Name, b.Name) })
	c.sorted.Store(&sortedTopics{version, built})
	return built
}

func (c *catalog) groupConfigs() map[string]map[string]string {
	if m := c.groups.Load(); m != nil {
		return *m
	}
	return nil
}

// Topic returns a topic by name, nil when there is none or it is being deleted.
func (s *Store) Topic(name string) *Topic { return served(s.catalog.byName(name)) }

// TopicByID returns a topic by id, nil when there is none or it is being deleted.
func (s *Store) TopicByID(id [16]byte) *Topic { return served(s.catalog.byTopicID(id)) }

func served(t *Topic) *Topic {
	if t == nil || t.Deleting {
		return nil
	}
	return t
}

// Topics returns all topics in the order of their names, without those that are being deleted.
func (s *Store) Topics() []*Topic {
	all := s.catalog.all()
	if !slices.ContainsFunc(all, deleting) {
		return slices.Clip(all)
	}
	return slices.DeleteFunc(slices.Clone(all), deleting)
}

// DeletingTopics returns the topics whose deletion has begun and is not finished: the broker resumes it.
func (s *Store) DeletingTopics() []*Topic {
	return slices.DeleteFunc(slices.Clone(s.catalog.all()), func(t *Topic) bool { return !t.Deleting })
}

func deleting(t *Topic) bool { return t.Deleting }

// GroupConfigs returns the properties that were set for a group. The map belongs to the store.
func (s *Store) GroupConfigs(group string) map[string]string { return s.catalog.groupConfigs()[group] }

// GroupsWithConfigs returns the groups that have properties, sorted.
func (s *Store) GroupsWithConfigs() []string {
	return slices.Sorted(maps.Keys(s.catalog.groupConfigs()))
}

// applyToCatalog executes an entry that is about no single partition.
func (s *Store) applyToCatalog(lsn uint64, e entry) error {
	switch e.kind {
	case entryCreateTopic:
		return s.applyCreateTopic(lsn, e)
	case entryGroupConfig:
		groups := maps.Clone(s.catalog.groupConfigs())
		if groups == nil {
			groups = make(map[string]map[string]string)
		}
		if groups[e.name] = e.overrides; len(e.overrides) == 0 {
			delete(groups, e.name)
		}
		s.catalog.groups.Store(&groups)
		return nil
	case entryLeaderEpoch:
		s.leaderEpoch.Store(int32(e.number))
		return nil
	case entryProducerIDs:
		s.producerIDs = e.number
		return nil
	case entryCreatePartitions, entryTopicConfig, entryBeginDelete, entryFinishDelete:
		return s.applyToTopic(lsn, e)
	case entryAppend, entryTrim, entrySkip: // of a partition
	}
	return fmt.Errorf("%w: entry kind %d", ErrDamaged, e.kind)
}

func (s *Store) applyCreateTopic(lsn uint64, e entry) error {
	if t := s.catalog.byName(e.name); t != nil {
		return fmt.Errorf("%w: topic %q is created, but exists with id %x", ErrDamaged, e.name, t.ID)
	}
	t := &Topic{Name: e.name, ID: e.id, Internal: e.internal}
	s.configure(t, e.overrides)
	s.extend(t, int32(e.number), lsn)
	s.catalog.put(t)
	return nil
}

func (s *Store) applyToTopic(lsn uint64, e entry) error {
	old := s.catalog.byTopicID(e.id)
	if old == nil {
		return fmt.Errorf("%w: entry kind %d of unknown topic %x", ErrDamaged, e.kind, e.id)
	}
	t := *old
	switch e.kind {
	case entryCreatePartitions:
		s.extend(&t, int32(e.number), lsn)
	case entryTopicConfig:
		s.configure(&t, e.overrides)
	case entryBeginDelete:
		t.Deleting = true
	case entryFinishDelete:
		s.catalog.remove(old)
		for _, p := range old.Partitions {
			p.retire()
		}
		s.removeTopicFiles(old)
		return nil
	case entryAppend, entryTrim, entrySkip, entryCreateTopic, entryGroupConfig, entryLeaderEpoch, entryProducerIDs: // not here
	}
	s.catalog.put(&t)
	if t.Deleting {
		for _, p := range t.Partitions {
			p.retire()
		}
	}
	return nil
}

// configure sets a topic's properties. Overrides that an older version accepted and this one refuses fall back to
// the defaults: a topic must not keep the store from opening.
func (s *Store) configure(t *Topic, overrides map[string]string) {
	config, err := ParseTopicConfig(s.config.Defaults, overrides)
	if err != nil {
		config = s.config.Defaults
	}
	t.Overrides, t.Config = overrides, config
	for _, p := range t.Partitions {
		p.config.Store(&t.Config)
	}
}

// extend adds partitions up to a total.
func (s *Store) extend(t *Topic, total int32, lsn uint64) {
	partitions := slices.Clone(t.Partitions)
	for i := int32(len(partitions)); i < total; i++ {
		partitions = append(partitions, newPartition(s, t.Name, t.ID, i, &t.Config, lsn))
	}
	t.Partitions = partitions
}

// maxDirName leaves room for the id within the 255 bytes that file systems permit.
const maxDirName = 200

// topicDir is where a topic's partitions lie. The id alone tells topics apart; the name is there for the reader.
func (s *Store) topicDir(name string, id [16]byte) string {
	return path.Join(s.config.Dir, topicsDir, name[:min(len(name), maxDirName)]+"-"+formatID(id))
}

// idLength is the length of formatID's answer.
const idLength = 22

// parseTopicDir returns the id in a directory's name.
func parseTopicDir(name string) (id [16]byte, ok bool) {
	if len(name) <= idLength {
		return id, false
	}
	return parseID(name[len(name)-idLength:])
}
