package partitionlog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The model of the crash simulation: what a store must hold, told without segments, journal or checkpoints.

type modelRecord struct {
	offset     int64
	key, value string
	tombstone  bool
	appended   int64 // ms
}

type modelBatch struct {
	bytes    Batch // with base offset and leader epoch, as the store wrote it
	appended int64
}

type modelProducer struct {
	epoch  int16
	next   int32 // sequence
	recent []modelBatch
}

type modelPartition struct {
	batches   []modelBatch
	logStart  int64
	next      int64
	producers map[int64]*modelProducer

	maybe       []modelBatch // unacknowledged, in order; base offsets as they would be
	maybeTrim   int64        // unacknowledged, -1 none
	maybeNext   int64        // unacknowledged skip, 0 none
	maybeRetain bool         // retention may have moved the log start
	offline     bool
}

type modelTopic struct {
	name       string
	id         [16]byte
	partitions []*modelPartition
	overrides  map[string]string
	config     TopicConfig
	deleting   bool

	// Unacknowledged changes, one at most of each kind.
	maybePartitions int
	maybeOverrides  map[string]string
	maybeDeleting   bool
	maybeGone       bool
}

type model struct {
	topics      map[string]*modelTopic
	maybeTopics map[string]*modelTopic // creation not acknowledged; id unknown
	groups      map[string]string      // value of the one property
	maybeGroups map[string]string
	epoch       int32
	producerID  int64
}

func newModel() *model {
	return &model{
		topics: map[string]*modelTopic{}, maybeTopics: map[string]*modelTopic{},
		groups: map[string]string{}, maybeGroups: map[string]string{}, epoch: -1, producerID: -1,
	}
}

func newModelTopic(name string, partitions int, overrides map[string]string) *modelTopic {
	t := &modelTopic{name: name}
	t.setOverrides(overrides)
	t.extend(partitions)
	return t
}

func (t *modelTopic) setOverrides(overrides map[string]string) {
	t.overrides = overrides
	t.config, _ = ParseTopicConfig(DefaultTopicConfig(), overrides)
}

func (t *modelTopic) extend(total int) {
	for len(t.partitions) < total {
		t.partitions = append(t.partitions, &modelPartition{producers: map[int64]*modelProducer{}, maybeTrim: -1})
	}
}

// accept counts an acknowledged batch.
func (p *modelPartition) accept(b modelBatch) {
	p.batches = append(p.batches, b)
	p.next = b.bytes.NextOffset()
	if id := b.bytes.ProducerID(); id != NoProducerID {
		m := p.producers[id]
		if m == nil {
			m = &modelProducer{}
			p.producers[id] = m
		}
		if m.epoch != b.bytes.ProducerEpoch() {
			m.recent = nil
		}
		m.epoch, m.next = b.bytes.ProducerEpoch(), b.bytes.LastSequence()+1
		if m.recent = append(m.recent, b); len(m.recent) > retainedBatches {
			m.recent = m.recent[1:]
		}
	}
}

// settle decides about what was not acknowledged by what a reopened store has, and complains about what neither was
// acknowledged nor can be explained.
func (m *model) settle(s *Store, now int64) error {
	if epoch := s.LeaderEpoch(); epoch <= m.epoch {
		return fmt.Errorf("leader epoch %d after %d", epoch, m.epoch)
	}
	m.epoch = s.LeaderEpoch()
	all := map[string]*Topic{}
	for _, t := range s.catalog.all() {
		all[t.Name] = t
	}
	for name, t := range m.topics {
		if all[name] != nil && all[name].ID == t.id {
			continue
		}
		if !t.maybeGone {
			return fmt.Errorf("topic %s is lost", name)
		}
		delete(m.topics, name)
	}
	for name, t := range all {
		mt := m.topics[name]
		if mt == nil {
			if mt = m.maybeTopics[name]; mt == nil {
				return fmt.Errorf("topic %s was never created, or deleted", name)
			}
			mt.id = t.ID
			m.topics[name] = mt
		}
		if err := mt.settle(t, now); err != nil {
			return fmt.Errorf("topic %s: %w", name, err)
		}
	}
	clear(m.maybeTopics)
	for group, value := range m.maybeGroups {
		if s.GroupConfigs(group)["k"] == value {
			m.groups[group] = value
		}
	}
	clear(m.maybeGroups)
	for group, want := range m.groups {
		if got := s.GroupConfigs(group)["k"]; got != want {
			return fmt.Errorf("group %s has %q, want %q", group, got, want)
		}
	}
	return nil
}

func (mt *modelTopic) settle(t *Topic, now int64) error {
	if n := len(t.Partitions); n == mt.maybePartitions {
		mt.extend(n)
	}
	if mt.maybeOverrides != nil && maps.Equal(t.Overrides, mt.maybeOverrides) {
		mt.setOverrides(mt.maybeOverrides)
	}
	if mt.maybeDeleting && t.Deleting {
		mt.deleting = true
	}
	mt.maybePartitions, mt.maybeOverrides, mt.maybeDeleting, mt.maybeGone = 0, nil, false, false
	if len(t.Partitions) != len(mt.partitions) || !maps.Equal(t.Overrides, mt.overrides) || t.Deleting != mt.deleting {
		return fmt.Errorf("has %d partitions, %v, deleting %v; want %d, %v, %v",
			len(t.Partitions), t.Overrides, t.Deleting, len(mt.partitions), mt.overrides, mt.deleting)
	}
	for i, p := range t.Partitions {
		if err := mt.partitions[i].settle(p, mt, now); err != nil {
			return fmt.Errorf("partition %d: %w", i, err)
		}
	}
	return nil
}

func (mp *modelPartition) settle(p *Partition, mt *modelTopic, now int64) error {
	logStart, next := p.Offsets()
	for len(mp.maybe) > 0 && mp.maybe[0].bytes.NextOffset() <= next {
		mp.accept(mp.maybe[0])
		mp.maybe = mp.maybe[1:]
	}
	if mp.maybeNext > mp.next && next == mp.maybeNext {
		mp.next = next
	}
	if next != mp.next {
		return fmt.Errorf("next offset %d, want %d", next, mp.next)
	}
	if mp.maybeTrim >= 0 && logStart == mp.maybeTrim {
		mp.logStart = logStart
	}
	if mp.maybeRetain && logStart != mp.logStart {
		if err := mp.retained(mt, logStart, now); err != nil {
			return err
		}
	}
	if logStart != mp.logStart {
		return fmt.Errorf("log start %d, want %d", logStart, mp.logStart)
	}
	mp.maybe, mp.maybeTrim, mp.maybeNext, mp.maybeRetain, mp.offline = nil, -1, 0, false, false
	return nil
}

// retained accepts a log start that retention has moved, if it may have.
func (mp *modelPartition) retained(mt *modelTopic, logStart, now int64) error {
	if logStart < mp.logStart || logStart > mp.next {
		return fmt.Errorf("log start went from %d to %d, next offset is %d", mp.logStart, logStart, mp.next)
	}
	for _, b := range mp.batches {
		if mt.config.Compact {
			break // what aged may be only what compaction had left
		}
		if b.bytes.BaseOffset() < mp.logStart || b.bytes.BaseOffset() >= logStart {
			continue
		}
		aged := mt.config.RetentionMs >= 0 && now-b.bytes.MaxTimestamp() > mt.config.RetentionMs
		if !mt.config.Delete || !aged && mt.config.RetentionBytes < 0 {
			return fmt.Errorf("retention took the batch at %d", b.bytes.BaseOffset())
		}
	}
	mp.logStart = logStart
	return nil
}

// verify compares everything that is served. Where the disk was disturbed, partitions may go offline in the background.
func (m *model) verify(s *Store, now int64, disturbed bool) error {
	for _, name := range slices.Sorted(maps.Keys(m.topics)) {
		mt := m.topics[name]
		t := s.Topic(name)
		if mt.deleting {
			if t != nil {
				return fmt.Errorf("topic %s is served while it is being deleted", name)
			}
			continue
		}
		if t == nil {
			return fmt.Errorf("topic %s is not served", name)
		}
		for i, p := range t.Partitions {
			mp := mt.partitions[i]
			if mp.offline {
				continue
			}
			err := mp.verify(p, &mt.config, now)
			if errors.Is(err, ErrOffline) && disturbed {
				mp.offline = true
				continue
			}
			if err != nil {
				return fmt.Errorf("%s-%d: %w", name, i, err)
			}
		}
	}
	return nil
}

func (mp *modelPartition) verify(p *Partition, c *TopicConfig, now int64) error {
	logStart, next := p.Offsets()
	if logStart != mp.logStart || next != mp.next {
		return fmt.Errorf("offsets [%d, %d], want [%d, %d]", logStart, next, mp.logStart, mp.next)
	}
	got, err := readLog(p)
	if err != nil {
		return err
	}
	if c.Compact {
		return mp.verifyCompacted(got, c, now)
	}
	for _, want := range mp.batches {
		if want.bytes.NextOffset() <= logStart {
			continue
		}
		if len(got) == 0 {
			return fmt.Errorf("batch at %d is lost", want.bytes.BaseOffset())
		}
		if !bytes.Equal(got[0], want.bytes) {
			return fmt.Errorf("batch at %d has other bytes than those acknowledged for %d", got[0].BaseOffset(), want.bytes.BaseOffset())
		}
		if epoch := p.EpochAt(max(logStart, want.bytes.BaseOffset())); epoch != want.bytes.LeaderEpoch() {
			return fmt.Errorf("epoch %d at %d, want %d", epoch, want.bytes.BaseOffset(), want.bytes.LeaderEpoch())
		}
		got = got[1:]
	}
	if len(got) > 0 {
		return fmt.Errorf("batch at %d was never appended", got[0].BaseOffset())
	}
	return nil
}

// verifyCompacted knows the promise of compaction only: the newest record of each key is there, or it is a tombstone
// that has outlived delete.retention.ms and nothing older of its key is there; nothing is there that was not written.
func (mp *modelPartition) verifyCompacted(got []Batch, c *TopicConfig, now int64) error {
	written := map[int64]modelRecord{}
	newest := map[string]modelRecord{}
	for _, b := range mp.batches {
		for _, r := range recordsOf(b) {
			if r.offset >= mp.logStart {
				written[r.offset] = r
				newest[r.key] = r
			}
		}
	}
	held := map[string]int64{} // key to the newest offset that is there
	for _, b := range got {
		for _, r := range recordsOf(modelBatch{bytes: b}) {
			if r.offset < mp.logStart {
				continue
			}
			w, ok := written[r.offset]
			if !ok || w.key != r.key || w.value != r.value || w.tombstone != r.tombstone {
				return fmt.Errorf("record at %d is %q=%q, written was %q=%q", r.offset, r.key, r.value, w.key, w.value)
			}
			if last, ok := held[r.key]; ok && last >= r.offset {
				return fmt.Errorf("record at %d after %d", r.offset, last)
			}
			held[r.key] = r.offset
		}
	}
	for key, w := range newest {
		have, ok := held[key]
		if ok && have == w.offset {
			continue
		}
		if !w.tombstone || now-w.appended < c.DeleteRetentionMs {
			return fmt.Errorf("newest record of %q at %d is lost", key, w.offset)
		}
		if ok {
			return fmt.Errorf("record of %q at %d came back after its tombstone at %d", key, have, w.offset)
		}
	}
	return nil
}

func recordsOf(b modelBatch) (records []modelRecord) {
	_ = b.bytes.Records(func(r Record) error {
		records = append(records, modelRecord{
			b.bytes.BaseOffset() + int64(r.OffsetDelta), string(r.Key), string(r.Value), r.Value == nil, b.appended,
		})
		return nil
	})
	return records
}

// readLog reads a partition from its log start to its high watermark, batch by batch.
func readLog(p *Partition) (all []Batch, err error) {
	offset, end := p.Offsets()
	for offset < end {
		records, err := p.Read(offset, 700, true)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return all, nil
		}
		for len(records) > 0 {
			var b Batch
			if b, records, err = NextBatch(records); err != nil {
				return nil, err
			}
			if b.ComputeCRC() != b.CRC() {
				return nil, fmt.Errorf("batch at %d: %w", b.BaseOffset(), ErrCorruptBatch)
			}
			if b.NextOffset() <= offset {
				return nil, fmt.Errorf("read at %d returned the batch [%d, %d)", offset, b.BaseOffset(), b.NextOffset())
			}
			all = append(all, b)
			offset = b.NextOffset()
		}
	}
	return all, nil
}
