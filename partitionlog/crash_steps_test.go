package partitionlog

import (
	"errors"
	"fmt"
	"math"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// The operations of the crash simulation: each changes store and model, and notes what an error leaves open.

func (m *sim) step() error {
	m.now.Add(int64(m.rng.IntN(2000)))
	live := m.liveTopics()
	if len(live) == 0 {
		return m.createTopic()
	}
	mt := live[m.rng.IntN(len(live))]
	switch n := m.rng.IntN(100); {
	case n < 50:
		return m.append(live)
	case n < 55:
		return m.keep(mt)
	case n < 60:
		return m.retry(mt)
	case n < 68:
		err := m.store.Checkpoint()
		m.logf("checkpoint: %v", err)
	case n < 76:
		return m.maintain()
	case n < 82:
		return m.trim(mt)
	case n < 86:
		return m.createTopic()
	case n < 89:
		return m.deleteTopic(mt)
	case n < 91:
		return m.alter(mt)
	case n < 93:
		return m.extend(mt)
	case n < 95:
		return m.alterGroup()
	case n < 97:
		return m.producerID()
	default:
		m.now.Add(int64(m.rng.IntN(40_000)))
	}
	return m.verify()
}

// verify compares, unless the machine is off: then nothing is served, and the next life compares.
func (m *sim) verify() error {
	if m.broken() {
		return nil
	}
	err := m.model.verify(m.store, m.now.Load(), m.faults)
	if errors.Is(err, vfs.ErrHalted) {
		return nil
	}
	return err
}

// broken says that an outcome is open until the next start: the store gave up, nobody knows how far it came.
func (m *sim) broken() bool { return m.store.Err() != nil }

func (m *sim) append(live []*modelTopic) error {
	var appends []*Append
	var to []*modelPartition
	expect := map[*modelPartition]int64{}
	for range 1 + m.rng.IntN(4) {
		mt := live[m.rng.IntN(len(live))]
		i := m.rng.IntN(len(mt.partitions))
		mp := mt.partitions[i]
		t := m.store.Topic(mt.name)
		if t == nil {
			return fmt.Errorf("topic %s is not served", mt.name)
		}
		if _, ok := expect[mp]; !ok {
			expect[mp] = mp.next
		}
		b := m.batch(mp, appends, to)
		appends = append(appends, &Append{Partition: t.Partitions[i], Records: b})
		to = append(to, mp)
	}
	m.store.Append(appends...)
	for i, a := range appends {
		mp := to[i]
		sent := modelBatch{Batch(a.Records), m.now.Load()}
		m.logf("append %s producer %d: offset %d, %v", a.Partition, sent.bytes.ProducerID(), a.BaseOffset, a.Err)
		switch {
		case a.Err == nil:
			if a.Duplicate || a.BaseOffset != expect[mp] || mp.offline {
				return fmt.Errorf("append to %s: offset %d, duplicate %v; want %d", a.Partition, a.BaseOffset, a.Duplicate, expect[mp])
			}
			expect[mp] = sent.bytes.NextOffset()
			mp.accept(sent)
		case mp.offline: // refused before the journal
		case m.broken() || errors.Is(a.Err, ErrOffline):
			sent.bytes.SetBaseOffset(expect[mp])
			expect[mp] = sent.bytes.NextOffset()
			mp.maybe = append(mp.maybe, sent)
		case !errors.Is(a.Err, ErrStorage):
			return fmt.Errorf("append to %s: %w", a.Partition, a.Err)
		}
	}
	for i, a := range appends {
		if errors.Is(a.Err, ErrOffline) {
			to[i].offline = true
		}
	}
	return nil
}

// batch makes a batch, half of them idempotent and in sequence with what this call has sent already.
func (m *sim) batch(mp *modelPartition, sent []*Append, to []*modelPartition) Batch {
	b := NewBuilder([]Codec{None, None, None, Snappy, LZ4}[m.rng.IntN(5)])
	if m.rng.IntN(2) == 0 {
		id := int64(m.rng.IntN(2))
		b.ProducerID = id
		if known := mp.producers[id]; known != nil {
			b.ProducerEpoch, b.BaseSequence = known.epoch, known.next
			if m.rng.IntN(10) == 0 {
				b.ProducerEpoch, b.BaseSequence = known.epoch+1, 0
			}
		} else {
			b.ProducerEpoch, b.BaseSequence = 0, int32(m.rng.IntN(3))
		}
		for i, a := range sent {
			if earlier := Batch(a.Records); to[i] == mp && earlier.ProducerID() == id {
				b.ProducerEpoch, b.BaseSequence = earlier.ProducerEpoch(), earlier.LastSequence()+1
			}
		}
	}
	for i := range 1 + m.rng.IntN(3) {
		key := []byte{byte('a' + m.rng.IntN(5))}
		var value []byte
		if m.rng.IntN(5) > 0 {
			value = fmt.Appendf(nil, "%d/%s", m.rng.Uint64(), zeros[:m.rng.IntN(len(zeros))])
		}
		b.Add(int32(i), m.now.Load()-int64(m.rng.IntN(3000)), key, value, nil)
	}
	return b.Bytes(0)
}

var zeros = make([]byte, 300)

// retry sends something that is not next in sequence: a known batch twice in one turn, or a gap.
func (m *sim) retry(mt *modelTopic) error {
	i := m.rng.IntN(len(mt.partitions))
	mp, p := mt.partitions[i], m.store.Topic(mt.name).Partitions[i]
	known := mp.producers[0]
	if known == nil || mp.offline {
		return nil
	}
	b := NewBuilder(None)
	b.ProducerID, b.ProducerEpoch, b.BaseSequence = 0, known.epoch, known.next
	b.Add(0, m.now.Load(), []byte("a"), []byte("twice"), nil)
	first, second := &Append{Partition: p, Records: b.Bytes(0)}, &Append{Partition: p, Records: b.Bytes(0)}
	b.BaseSequence += 7
	gap := &Append{Partition: p, Records: b.Bytes(0)}
	m.store.Append(first, second, gap)
	m.logf("twice and gap %s: %v, %v, %v", p, first.Err, second.Err, gap.Err)
	sent := modelBatch{Batch(first.Records), m.now.Load()}
	if first.Err != nil {
		mp.offline = errors.Is(first.Err, ErrOffline)
		if m.broken() || mp.offline {
			sent.bytes.SetBaseOffset(mp.next)
			mp.maybe = append(mp.maybe, sent)
		}
		return nil
	}
	mp.accept(sent)
	if second.Err != nil || !second.Duplicate || second.BaseOffset != first.BaseOffset {
		return fmt.Errorf("retry within the turn: offset %d, duplicate %v, %v; want a duplicate at %d", second.BaseOffset, second.Duplicate, second.Err, first.BaseOffset)
	}
	if !errors.Is(gap.Err, ErrOutOfOrderSequence) {
		return fmt.Errorf("gap in sequence: %v", gap.Err)
	}
	return nil
}

func (m *sim) maintain() error {
	err := m.store.RunMaintenance(m.store.config.Now())
	m.logf("maintenance: %v", err)
	for _, mt := range m.liveTopics() {
		t := m.store.Topic(mt.name)
		for i, mp := range mt.partitions {
			switch logStart, _ := t.Partitions[i].Offsets(); {
			case m.broken() || t.Partitions[i].check() != nil:
				mp.maybeRetain = true
				mp.offline = mp.offline || !m.broken()
			case logStart != mp.logStart:
				if err := mp.retained(mt, logStart, m.now.Load()); err != nil {
					return err
				}
			}
		}
	}
	if m.broken() {
		return nil
	}
	return m.verify()
}

func (m *sim) trim(mt *modelTopic) error {
	i := m.rng.IntN(len(mt.partitions))
	mp, p := mt.partitions[i], m.store.Topic(mt.name).Partitions[i]
	before := mp.logStart + m.rng.Int64N(mp.next-mp.logStart+1)
	if m.rng.IntN(8) == 0 {
		before = -1
	}
	low, err := m.store.DeleteRecords(p, before)
	m.logf("trim %s to %d: %d, %v", p, before, low, err)
	if before == -1 {
		before = mp.next
	}
	switch {
	case mp.offline: // refused before the journal
	case err == nil && low != max(before, mp.logStart):
		return fmt.Errorf("trim of %s to %d left %d", p, before, low)
	case err == nil:
		mp.logStart = low
	case m.broken() || errors.Is(err, ErrOffline):
		mp.maybeTrim = before
		mp.offline = mp.offline || errors.Is(err, ErrOffline)
	case !errors.Is(err, ErrStorage):
		return err
	}
	return nil
}

func (m *sim) overrides() map[string]string {
	o := map[string]string{"segment.bytes": fmt.Sprint(200 + m.rng.IntN(1500)), "index.interval.bytes": fmt.Sprint(m.rng.IntN(600))}
	switch m.rng.IntN(4) {
	case 0:
		o["cleanup.policy"], o["delete.retention.ms"], o["min.cleanable.dirty.ratio"] = "compact", "20000", "0.1"
	case 1:
		o["cleanup.policy"], o["delete.retention.ms"], o["retention.ms"] = "compact,delete", "5000", "60000"
	case 2:
		o["retention.ms"] = "30000"
	case 3:
		o["retention.ms"], o["retention.bytes"] = "-1", "2000"
	}
	return o
}

func (m *sim) createTopic() error {
	m.names++
	name := fmt.Sprintf("t%d", m.names%5)
	mt := newModelTopic(name, 1+m.rng.IntN(3), m.overrides())
	t, err := m.store.CreateTopic(TopicSpec{Name: name, Partitions: int32(len(mt.partitions)), Overrides: mt.overrides})
	m.logf("create %s: %v", name, err)
	switch {
	case m.model.topics[name] != nil:
		if !errors.Is(err, ErrTopicExists) && !m.broken() {
			return fmt.Errorf("second creation of %s: %v", name, err)
		}
	case err == nil:
		mt.id = t.ID
		m.model.topics[name] = mt
	case m.broken():
		m.model.maybeTopics[name] = mt
	case !errors.Is(err, ErrStorage):
		return err
	}
	return nil
}

func (m *sim) deleteTopic(mt *modelTopic) error {
	err := m.store.BeginDeleteTopic(mt.id)
	m.logf("begin delete %s: %v", mt.name, err)
	if err != nil {
		mt.maybeDeleting = true
		return m.tolerate(err)
	}
	mt.deleting = true
	if m.rng.IntN(3) == 0 {
		return nil
	}
	err = m.store.FinishDeleteTopic(mt.id)
	m.logf("finish delete %s: %v", mt.name, err)
	if err != nil {
		mt.maybeGone = true
		return m.tolerate(err)
	}
	delete(m.model.topics, mt.name)
	return nil
}

func (m *sim) alter(mt *modelTopic) error {
	o := m.overrides()
	// The policy stays: the model's promise for records that were written under another one would be vague.
	for _, k := range []string{"cleanup.policy", "delete.retention.ms", "retention.ms", "retention.bytes"} {
		delete(o, k)
		if v, ok := mt.overrides[k]; ok {
			o[k] = v
		}
	}
	err := m.store.AlterTopicConfig(mt.id, o)
	m.logf("alter %s: %v", mt.name, err)
	if err != nil {
		mt.maybeOverrides = o
		return m.tolerate(err)
	}
	mt.setOverrides(o)
	return nil
}

func (m *sim) extend(mt *modelTopic) error {
	total := len(mt.partitions) + 1
	_, err := m.store.CreatePartitions(mt.id, int32(total))
	m.logf("extend %s to %d: %v", mt.name, total, err)
	if err != nil {
		mt.maybePartitions = total
		return m.tolerate(err)
	}
	mt.extend(total)
	return nil
}

func (m *sim) alterGroup() error {
	group, value := fmt.Sprintf("g%d", m.rng.IntN(3)), fmt.Sprint(m.rng.IntN(1000))
	err := m.store.AlterGroupConfig(group, map[string]string{"k": value})
	m.logf("alter group %s to %s: %v", group, value, err)
	if err != nil {
		m.model.maybeGroups[group] = value
		return m.tolerate(err)
	}
	m.model.groups[group] = value
	return nil
}

func (m *sim) producerID() error {
	id, err := m.store.NextProducerID()
	m.logf("producer id %d: %v", id, err)
	if err != nil {
		return m.tolerate(err)
	}
	if id <= m.model.producerID || id == math.MaxInt64 {
		return fmt.Errorf("producer id %d after %d", id, m.model.producerID)
	}
	m.model.producerID = id
	return nil
}

// tolerate accepts an error that the disk explains. What was refused for good must not appear later, but the model's
// maybe is good enough for the catalogue: a live store shows what it has.
func (m *sim) tolerate(err error) error {
	if m.broken() || errors.Is(err, ErrStorage) {
		return nil
	}
	return err
}
