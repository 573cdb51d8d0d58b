package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// appendBytes is how much is made durable at once.
const appendBytes = 4 << 20

// copyTopics copies the records of all topics; without a store it only looks.
func (im *importer) copyTopics(store *partitionlog.Store) error {
	names := slices.Sorted(maps.Keys(im.source.topics))
	if store != nil {
		for _, name := range names {
			if store.Topic(name) != nil {
				return fmt.Errorf("topic %q is in %q already; import into a new directory, or delete the topic", name, im.command.Data)
			}
		}
	}
	for _, name := range names {
		if err := im.copyTopic(store, name, im.source.topics[name]); err != nil {
			return fmt.Errorf("topic %q: %w", name, err)
		}
	}
	return nil
}

// copyTopic makes a topic with as many partitions as the highest number tells, and fills those that are there.
func (im *importer) copyTopic(store *partitionlog.Store, name string, partitions []*kafkaPartition) error {
	total := partitions[len(partitions)-1].index + 1
	var topic *partitionlog.Topic
	if store != nil {
		var err error
		topic, err = store.CreateTopic(partitionlog.TopicSpec{Name: name, Partitions: total, Overrides: im.overrides})
		if err != nil {
			return err
		}
	}
	report := importTopic{Name: name, Partitions: int(total), Missing: int(total) - len(partitions)}
	for _, p := range partitions {
		c := &partitionCopy{importer: im, store: store, source: p, logStart: p.logStart}
		if topic != nil {
			c.target = topic.Partitions[p.index]
		}
		if err := c.run(); err != nil {
			return fmt.Errorf("partition %d: %w", p.index, err)
		}
		report.add(c)
	}
	im.report.Topics = append(im.report.Topics, report)
	return nil
}

// partitionCopy copies one partition. Its batches keep their bytes, but for the leader epoch, which is this broker's,
// and their offsets.
//
// Deviation: batches of transactions that were aborted, or never ended, are left out: there is no list of aborted
// transactions here that a reader could skip them by.
type partitionCopy struct {
	*importer
	store  *partitionlog.Store
	target *partitionlog.Partition
	source *kafkaPartition

	logStart, next int64
	batches        int
	bytes          int64
	uncommitted    int // batches left out
	maxProducer    int64
	begun          bool
	waiting        []*partitionlog.Append
	waitingBytes   int
	leftOut        map[int64]bool // base offsets of transactions' batches that are not committed
}

func (c *partitionCopy) run() error {
	if err := c.findUncommitted(); err != nil {
		return err
	}
	err := c.source.walk(func(_ string, _ int64, b partitionlog.Batch, bad *damage) error {
		if bad != nil || b.NextOffset() <= c.logStart {
			return nil
		}
		c.next = b.NextOffset()
		if c.leftOut[b.BaseOffset()] {
			c.uncommitted++
			return nil
		}
		return c.add(b)
	})
	if err != nil {
		return err
	}
	return c.finish()
}

// findUncommitted goes through the partition once, names its damage, and notes which batches were not committed.
func (c *partitionCopy) findUncommitted() error {
	c.leftOut, c.maxProducer = map[int64]bool{}, -1
	open := map[int64][]int64{}
	err := c.source.walk(func(file string, at int64, b partitionlog.Batch, bad *damage) error {
		switch {
		case bad != nil:
			c.damaged(file, bad.at, bad.reason)
		case b.IsControl():
			commit := false
			err := b.Records(func(r partitionlog.Record) error {
				if was, known := offsetslog.Marker(r.Key); known {
					commit = was
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, base := range open[b.ProducerID()] {
				c.leftOut[base] = !commit
			}
			delete(open, b.ProducerID())
		case b.IsTransactional():
			open[b.ProducerID()] = append(open[b.ProducerID()], b.BaseOffset())
		}
		if bad == nil {
			c.maxProducer = max(c.maxProducer, b.ProducerID())
		}
		return nil
	})
	for _, bases := range open {
		for _, base := range bases {
			c.leftOut[base] = true
		}
	}
	return err
}

// begin moves the log start, before the first batch. That batch may begin below it.
func (c *partitionCopy) begin(first int64) error {
	if c.begun || c.target == nil {
		return nil
	}
	c.begun = true
	if start := min(c.logStart, first); start > 0 {
		if err := c.store.SkipTo(c.target, start); err != nil {
			return err
		}
		if _, err := c.store.DeleteRecords(c.target, start); err != nil {
			return err
		}
	}
	return c.store.ReserveProducerIDs(c.maxProducer + 1)
}

// add appends a batch, together with others.
func (c *partitionCopy) add(b partitionlog.Batch) error {
	c.batches++
	c.bytes += int64(len(b))
	if c.target == nil {
		return nil
	}
	if err := c.begin(b.BaseOffset()); err != nil {
		return err
	}
	c.waiting = append(c.waiting, &partitionlog.Append{
		Partition: c.target, Records: b, Origin: partitionlog.OriginCoordinator, KeepOffset: true,
	})
	if c.waitingBytes += len(b); c.waitingBytes < appendBytes {
		return nil
	}
	return c.flush()
}

func (c *partitionCopy) flush() error {
	c.store.Append(c.waiting...)
	for _, a := range c.waiting {
		if a.Err != nil {
			return a.Err
		}
	}
	c.waiting, c.waitingBytes = nil, 0
	return nil
}

// finish brings the ends of the log to where they were.
func (c *partitionCopy) finish() error {
	c.next = c.source.end(c.next)
	if c.target == nil {
		return nil
	}
	if err := c.begin(c.next); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	if err := c.store.SkipTo(c.target, c.next); err != nil {
		return err
	}
	_, err := c.store.DeleteRecords(c.target, c.logStart)
	return err
}
