package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// kafkaDir is what lies in the log directories of an Apache Kafka.
type kafkaDir struct {
	offsets []*kafkaPartition
	topics  map[string][]*kafkaPartition // by name, in the order of their numbers; internal ones are not here
}

// kafkaPartition is the directory of one partition.
type kafkaPartition struct {
	dir      string
	topic    string
	index    int32
	segments []kafkaSegment
	logStart int64 // as the checkpoint file or the first segment's name says
}

type kafkaSegment struct {
	path string
	base int64
}

// internalTopics are Kafka's own; nothing in them means anything to another broker, but for the offsets topic.
var internalTopics = []string{"__transaction_state", "__share_group_state", "__cluster_metadata", "__remote_log_metadata"}

// openKafkaDirs finds the partitions in all directories.
func openKafkaDirs(dirs []string) (*kafkaDir, error) {
	d := &kafkaDir{topics: map[string][]*kafkaPartition{}}
	for _, dir := range dirs {
		if err := d.open(dir); err != nil {
			return nil, err
		}
	}
	if len(d.offsets) == 0 {
		return nil, fmt.Errorf("%q has no directory %s-N; give the log directories (log.dirs) of a Kafka broker", dirs, offsetslog.Topic)
	}
	if err := sortPartitions(d.offsets); err != nil {
		return nil, err
	}
	for _, partitions := range d.topics {
		if err := sortPartitions(partitions); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// sortPartitions sorts by number, and refuses copies: nobody knows which one is the leader's.
func sortPartitions(partitions []*kafkaPartition) error {
	slices.SortFunc(partitions, func(a, b *kafkaPartition) int { return cmp.Compare(a.index, b.index) })
	for i, p := range partitions[1:] {
		if other := partitions[i]; other.index == p.index {
			return fmt.Errorf("%q and %q are the same partition; give the directories of one broker", other.dir, p.dir)
		}
	}
	return nil
}

// open finds the partitions in one directory.
func (d *kafkaDir) open(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%q: %w; give a log directory of Kafka (log.dirs)", dir, errors.Unwrap(err))
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if topic, index, ok := kafkaPartitionName(filepath.Base(absolute)); ok && topic == offsetslog.Topic {
		p, err := openKafkaPartition(dir, topic, index, 0)
		d.offsets = append(d.offsets, p)
		return err
	}
	starts, err := logStarts(filepath.Join(dir, "log-start-offset-checkpoint"))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		topic, index, ok := kafkaPartitionName(entry.Name())
		if !ok || !entry.IsDir() || slices.Contains(internalTopics, topic) {
			continue
		}
		p, err := openKafkaPartition(filepath.Join(dir, entry.Name()), topic, index, starts[entry.Name()])
		if err != nil {
			return err
		}
		if topic == offsetslog.Topic {
			d.offsets = append(d.offsets, p)
		} else {
			d.topics[topic] = append(d.topics[topic], p)
		}
	}
	return nil
}

// kafkaPartitionName takes TOPIC-PARTITION apart. Directories that are about to be deleted end otherwise.
func kafkaPartitionName(name string) (topic string, index int32, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	return name[:i], int32(n), err == nil && n >= 0 && strconv.FormatInt(n, 10) == name[i+1:]
}

// openKafkaPartition lists the segments of a partition.
func openKafkaPartition(dir, topic string, index int32, logStart int64) (*kafkaPartition, error) {
	p := &kafkaPartition{dir: dir, topic: topic, index: index}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		digits, isLog := strings.CutSuffix(entry.Name(), ".log")
		if strings.HasSuffix(entry.Name(), ".log.swap") {
			return nil, fmt.Errorf("%q: a compaction was interrupted; start and stop that Kafka once, so that it finishes", filepath.Join(dir, entry.Name()))
		}
		base, err := strconv.ParseInt(digits, 10, 64)
		if isLog && err == nil && base >= 0 {
			p.segments = append(p.segments, kafkaSegment{filepath.Join(dir, entry.Name()), base})
		}
	}
	slices.SortFunc(p.segments, func(a, b kafkaSegment) int { return cmp.Compare(a.base, b.base) })
	if len(p.segments) > 0 {
		p.logStart = max(logStart, p.segments[0].base)
	}
	return p, nil
}

// logStarts reads the file in which Kafka keeps where logs begin whose records were deleted.
//
// Source: OffsetCheckpointFile.java: a version, a number of lines, lines of topic, partition and offset.
func logStarts(path string) (map[string]int64, error) {
	starts := map[string]int64{}
	if !exists(path) {
		return starts, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			continue
		}
		offset, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || offset < 0 {
			return nil, fmt.Errorf("%q: %q is no topic, partition and offset", path, lines.Text())
		}
		starts[fields[0]+"-"+fields[1]] = offset
	}
	return starts, lines.Err()
}

// walk calls fn with each batch of a partition, in order, and with each stretch that is damaged. Zeros at the end of a
// file are room that Kafka had made, and nothing.
func (p *kafkaPartition) walk(fn func(file string, at int64, b partitionlog.Batch, bad *damage) error) error {
	for _, g := range p.segments {
		if err := g.walk(fn); err != nil {
			return err
		}
	}
	return nil
}

func (g kafkaSegment) walk(fn func(file string, at int64, b partitionlog.Batch, bad *damage) error) error {
	f, err := os.Open(g.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	return walkSegment(f, st.Size(), func(at int64, b partitionlog.Batch, bad *damage) error {
		if bad != nil && bad.at+bad.bytes == st.Size() {
			zeros, err := onlyZeros(f, bad.at, bad.bytes)
			if err != nil || zeros {
				return err
			}
		}
		return fn(g.path, at, b, bad)
	})
}

// onlyZeros tells whether a stretch of a file was never written.
func onlyZeros(f *os.File, at, size int64) (bool, error) {
	b := make([]byte, min(size, searchChunk))
	for size > 0 {
		part := b[:min(size, searchChunk)]
		if _, err := f.ReadAt(part, at); err != nil {
			return false, err
		}
		for _, c := range part {
			if c != 0 {
				return false, nil
			}
		}
		at, size = at+int64(len(part)), size-int64(len(part))
	}
	return true, nil
}

// end is the offset behind the partition's last record, or where an empty last segment begins.
func (p *kafkaPartition) end(lastBatch int64) int64 {
	if len(p.segments) == 0 {
		return lastBatch
	}
	return max(lastBatch, p.logStart, p.segments[len(p.segments)-1].base)
}
