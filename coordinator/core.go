package coordinator

import "time"

// Core is the group coordinator of one shard: all groups whose offsets live in one partition of __consumer_offsets.
//
// Owner: one goroutine; nothing in it is locked.
type Core struct{ config Config }

// Config holds the limits and delays of a core. Field comments name the Kafka property.
type Config struct {
	MinSessionTimeout      time.Duration
	MaxSessionTimeout      time.Duration
	InitialRebalanceDelay  time.Duration
	FirstBarrier           time.Duration
	NewMemberJoinTimeout   time.Duration
	MaxGroupSize           int
	OffsetMetadataMaxBytes int
	OffsetsRetention       time.Duration
	RetentionCheckInterval time.Duration
	Check                  bool
}

// DefaultConfig returns Kafka's defaults.
func DefaultConfig() Config { return Config{} }

// New returns a core without groups.
func New(config Config, seed uint64) *Core { return &Core{config: config} }

// Replay applies one record of the log.
func (c *Core) Replay(rec Record) {}

// Loaded ends the replay.
func (c *Core) Loaded(now time.Time) {}

// Step reacts to one event.
func (c *Core) Step(now time.Time, ev Event) Effects { return Effects{} }

// Tick fires everything due at or before now.
func (c *Core) Tick(now time.Time) Effects { return Effects{} }

// NextDeadline returns when Tick must be called next.
func (c *Core) NextDeadline() (time.Time, bool) { return time.Time{}, false }

// Parked returns the tokens that still wait for an answer, in ascending order.
func (c *Core) Parked() []Token { return nil }

// Digest is a hash of the hard state.
func (c *Core) Digest() uint64 { return 0 }
