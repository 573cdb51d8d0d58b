package partitionlog

import (
	"crypto/rand"
	"io"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// Config says where a store lives. The zero value is a store in memory with Kafka's defaults.
type Config struct {
	// Dir is the data directory. Empty: memory mode, a private in-memory disk and no journal.
	Dir string
	// FS is the disk. Nil: the operating system's.
	FS vfs.FS
	// Now is the clock that stamps turns, retention and compaction. Nil: time.Now.
	Now func() time.Time
	// Rand is the source of topic and cluster ids. Nil: crypto/rand.
	Rand io.Reader
	// NoSync leaves out the fdatasync of the journal, for those who want Kafka's own default durability.
	NoSync bool
	// JournalBytes bounds all journal files together. 0: 128 MiB.
	JournalBytes int64
	// MinFreeBytes is the floor of free disk space below which appends are refused. 0: twice JournalBytes.
	MinFreeBytes int64
	// MaxOpenFiles bounds the open segment files; when half of it waits for a checkpoint, one begins. 0: 600.
	MaxOpenFiles int
	// MaintenanceInterval is the pause between two rounds of retention and compaction. 0: 15 s (the shorter
	// of Kafka's log.cleaner.backoff.ms); negative: only RunMaintenance runs them.
	MaintenanceInterval time.Duration
	// ProducerIDExpiration is Kafka's producer.id.expiration.ms. 0: one day.
	ProducerIDExpiration time.Duration
	// Defaults are the broker-wide topic properties. The zero value: DefaultTopicConfig.
	Defaults TopicConfig
	// Observe receives events, from several goroutines; it must not block and must not call the store.
	Observe func(Event)

	// inline runs checkpoints in the loop, so that a test with one caller is deterministic.
	inline bool
	// firstJournalFile is the size of the journal's first file.
	firstJournalFile int64
}

const (
	defaultJournalBytes        = 128 << 20
	journalFiles               = 8
	defaultMaxOpenFiles        = 600 // under the usual limit of 1024, beside as many connections
	defaultMaintenanceInterval = 15 * time.Second
	// defaultProducerIDExpiration is Kafka's producer.id.expiration.ms.
	defaultProducerIDExpiration = 24 * time.Hour
)

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.JournalBytes == 0 {
		c.JournalBytes = defaultJournalBytes
	}
	if c.MinFreeBytes == 0 {
		c.MinFreeBytes = 2 * c.JournalBytes
	}
	if c.MaxOpenFiles == 0 {
		c.MaxOpenFiles = defaultMaxOpenFiles
	}
	if c.MaintenanceInterval == 0 {
		c.MaintenanceInterval = defaultMaintenanceInterval
	}
	if c.ProducerIDExpiration == 0 {
		c.ProducerIDExpiration = defaultProducerIDExpiration
	}
	if c.Defaults == (TopicConfig{}) {
		c.Defaults = DefaultTopicConfig()
	}
	if c.firstJournalFile == 0 {
		c.firstJournalFile = 1 << 20
	}
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	if c.Dir == "" {
		c.Dir, c.FS = "memory", vfs.NewMem()
	} else if c.FS == nil {
		c.FS = vfs.OS
	}
	return c
}
