package broker

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// cleanerBackoff is how often the store looks for something to compact or to retain no longer, unless
// log.retention.check.interval.ms is shorter.
//
// Source: log.cleaner.backoff.ms.
const cleanerBackoff = 15 * time.Second

// openStore opens the data directory, and checks what must not change under it.
func (b *Broker) openStore(c Config) error {
	store, err := partitionlog.Open(partitionlog.Config{
		Dir: c.DataDir, FS: c.FS, Now: b.clock.now, NoSync: c.NoSync, Defaults: b.settings.TopicDefaults(),
		ProducerIDExpiration: b.settings.ProducerIDExpiration, MaintenanceInterval: min(b.settings.LogRetentionCheckInterval, cleanerBackoff),
		Observe: b.observe,
	})
	if err != nil {
		return err
	}
	b.store = store
	const name = "offsets.topic.num.partitions"
	if t := store.Topic(offsetslog.Topic); t != nil && b.settings.IsExplicit(name) {
		if have, want := len(t.Partitions), int(b.settings.OffsetsTopicNumPartitions); have != want {
			_ = store.Close() // nothing was changed; the refusal is what matters
			return fmt.Errorf("%s is %d, but the offsets topic in %s has %d partitions: groups would move to other partitions and lose their offsets; set it to %d or leave it out", name, want, c.DataDir, have, have)
		}
	}
	return nil
}

// observe turns the store's events into log lines.
func (b *Broker) observe(e partitionlog.Event) {
	level := zerolog.WarnLevel
	switch e.Kind {
	case partitionlog.EventRecovered, partitionlog.EventDiskHealed:
		level = zerolog.InfoLevel
	case partitionlog.EventCompacted:
		level = zerolog.DebugLevel
	case partitionlog.EventFailed, partitionlog.EventOffline:
		level = zerolog.ErrorLevel
	default:
	}
	line := b.log.WithLevel(level)
	if level < b.log.GetLevel() {
		return
	}
	if e.Err != nil {
		line = line.Err(e.Err)
	}
	if e.Topic != "" {
		line = line.Str("topic", e.Topic).Int32("partition", e.Partition)
	}
	line.Msg(e.String())
}
