package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// importCommand is `kohort import-offsets`.
type importCommand struct {
	Dir         []string `arg:"" help:"Log directories (all of log.dirs) of Apache Kafka, which must be stopped, or one of its __consumer_offsets-N directories."`
	Data        string   `required:"" placeholder:"DIR" help:"Data directory that no broker uses; made if missing."`
	DryRun      bool     `help:"Read, and say what would be imported; write nothing."`
	Topics      bool     `help:"Also copy the topics' records, with their offsets."`
	TopicConfig []string `sep:"none" placeholder:"NAME=VALUE" help:"A config of the topics that are made, for example retention.ms=-1. May be repeated."`
	Set         []string `sep:"none" placeholder:"NAME=VALUE" help:"A Kafka property of the new broker, for example offsets.topic.num.partitions=10. May be repeated."`
	Replace     bool     `help:"Overwrite groups that the data directory has already."`
	Output      string   `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// importer is one import.
type importer struct {
	command   *importCommand
	source    *kafkaDir
	history   *offsetslog.History
	settings  *settings.Settings
	overrides map[string]string
	report    importReport
}

// Run imports. What is damaged is named and left out, and makes the exit code 1.
func (c *importCommand) Run(w *world) error {
	im := &importer{command: c, history: offsetslog.NewHistory()}
	var err error
	w.during("importing "+strings.Join(c.Dir, ", "), func() { err = im.run(w) })
	if err != nil {
		return err
	}
	if err := im.print(w); err != nil {
		return err
	}
	if n := len(im.report.Damage); n > 0 {
		return fmt.Errorf("%s damaged; what is whole was read", countIs(n, "place"))
	}
	return nil
}

func (im *importer) run(w *world) (err error) {
	c := im.command
	sets, err := settings.Sets(c.Set)
	if err != nil {
		return err
	}
	if im.settings, _, err = settings.Load(settings.Serve, sets, settings.Environment(w.environ)); err != nil {
		return err
	}
	topicConfig, err := settings.Sets(c.TopicConfig)
	if err != nil {
		return err
	}
	im.overrides = topicConfig.Values
	if _, err := partitionlog.ParseTopicConfig(im.settings.TopicDefaults(), im.overrides); err != nil {
		return err
	}
	if im.source, err = openKafkaDirs(c.Dir); err != nil {
		return err
	}
	for _, p := range im.source.offsets {
		if err := im.readOffsets(p); err != nil {
			return err
		}
	}
	im.summarize()
	if c.DryRun {
		if c.Topics {
			return im.copyTopics(nil)
		}
		return nil
	}
	return im.write()
}

// readOffsets replays one partition of the offsets topic.
func (im *importer) readOffsets(p *kafkaPartition) error {
	return p.walk(func(file string, at int64, b partitionlog.Batch, bad *damage) error {
		if bad != nil {
			im.damaged(file, bad.at, bad.reason)
			return nil
		}
		err := im.history.Replay(b, func(offset int64, err error) {
			im.damaged(file, at, fmt.Sprintf("record at offset %d: %v", offset, err))
		})
		if err != nil {
			im.damaged(file, at, err.Error())
		}
		return nil
	})
}

// write opens the data directory, and brings everything into it. Maintenance waits for the broker.
func (im *importer) write() error {
	c := im.command
	store, err := partitionlog.Open(partitionlog.Config{Dir: c.Data, Defaults: im.settings.TopicDefaults(), MaintenanceInterval: -1})
	if err != nil {
		return fmt.Errorf("data directory %q: %w", c.Data, err)
	}
	err = im.writeTo(store)
	return errors.Join(err, store.Close())
}

func (im *importer) writeTo(store *partitionlog.Store) error {
	topic := store.Topic(offsetslog.Topic)
	if topic != nil && !im.command.Replace {
		if err := im.refuseKnown(topic); err != nil {
			return err
		}
	}
	if im.command.Topics {
		if err := im.copyTopics(store); err != nil {
			return err
		}
	}
	if topic == nil {
		var err error
		topic, err = store.CreateTopic(partitionlog.TopicSpec{
			Name: offsetslog.Topic, Partitions: im.settings.OffsetsTopicNumPartitions,
			Overrides: im.settings.OffsetsTopicOverrides(), Internal: true,
		})
		if err != nil {
			return err
		}
	}
	im.report.Partitions = len(topic.Partitions)
	return im.history.Write(store, topic, time.Now().UnixMilli())
}

// refuseKnown keeps an import from rewinding groups that have gone on here.
func (im *importer) refuseKnown(topic *partitionlog.Topic) error {
	have := offsetslog.NewHistory()
	for _, p := range topic.Partitions {
		next, end := p.Offsets()
		for next < end {
			b, err := p.Read(next, searchChunk, true)
			if err != nil {
				return err
			}
			if len(b) == 0 {
				break
			}
			for len(b) > 0 {
				var batch partitionlog.Batch
				if batch, b, err = partitionlog.NextBatch(b); err != nil {
					return err
				}
				if err := have.Replay(batch, func(int64, error) {}); err != nil {
					return err
				}
				next = batch.NextOffset()
			}
		}
	}
	known := have.Groups()
	for _, g := range im.history.Groups() {
		if slices.ContainsFunc(known, func(k offsetslog.Group) bool { return k.Name == g.Name }) {
			return fmt.Errorf("group %q is in %q already; import into a new directory, or overwrite what is there with --replace", g.Name, im.command.Data)
		}
	}
	return nil
}

// damaged notes a damage.
func (im *importer) damaged(file string, at int64, reason string) {
	im.report.Damage = append(im.report.Damage, importDamage{file, at, reason})
}

// exists tells whether a path is there.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
