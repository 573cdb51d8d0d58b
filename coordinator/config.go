package coordinator

import (
	"math"
	"time"
)

// Config holds the limits and delays of a core. NewMemberJoinTimeout, MaxGroupSize and RetentionCheckInterval cannot be 0,
// which stands for Kafka's default; elsewhere 0 is a value like any other, so start from DefaultConfig. The comment of each field names the Kafka property it stands for.
type Config struct {
	// MinSessionTimeout and MaxSessionTimeout bound what a member may ask for, inclusively
	// (group.min.session.timeout.ms, group.max.session.timeout.ms).
	MinSessionTimeout time.Duration
	MaxSessionTimeout time.Duration

	// InitialRebalanceDelay is how long the first join phase of an empty group waits for more members
	// (group.initial.rebalance.delay.ms).
	InitialRebalanceDelay time.Duration

	// FirstBarrier gathers the members that start together when InitialRebalanceDelay is 0; 0 ends the first join phase
	// at the very next Tick, as Kafka does. See initial.go.
	FirstBarrier time.Duration

	// NewMemberJoinTimeout bounds how long a parked JoinGroup keeps a member that never completed a join phase. Kafka
	// has no property for it.
	NewMemberJoinTimeout time.Duration

	// MaxGroupSize is the most members that a group may have (group.max.size).
	MaxGroupSize int

	// OffsetMetadataMaxBytes limits the metadata string of a committed offset, counted in UTF-16 code units in spite of
	// its name (offset.metadata.max.bytes).
	OffsetMetadataMaxBytes int

	// OffsetsRetention is how long offsets outlive their use (offsets.retention.minutes).
	OffsetsRetention time.Duration

	// RetentionCheckInterval is the pause between two searches for expired offsets and empty groups
	// (offsets.retention.check.interval.ms).
	RetentionCheckInterval time.Duration

	// Check makes the core prove its invariants after each event. Every test sets it.
	Check bool
}

// DefaultConfig returns Kafka's defaults.
//
// Source: Kafka GroupCoordinatorConfig; 5 minutes for new members is a constant of GroupMetadataManager.
func DefaultConfig() Config {
	return Config{
		MinSessionTimeout:      6 * time.Second,
		MaxSessionTimeout:      30 * time.Minute,
		InitialRebalanceDelay:  3 * time.Second,
		FirstBarrier:           3 * time.Millisecond,
		NewMemberJoinTimeout:   5 * time.Minute,
		MaxGroupSize:           math.MaxInt32,
		OffsetMetadataMaxBytes: 4096,
		OffsetsRetention:       7 * 24 * time.Hour,
		RetentionCheckInterval: 10 * time.Minute,
	}
}

// filled replaces the zeros that make no sense.
func (c Config) filled() Config {
	d := DefaultConfig()
	if c.NewMemberJoinTimeout == 0 {
		c.NewMemberJoinTimeout = d.NewMemberJoinTimeout
	}
	if c.MaxGroupSize == 0 {
		c.MaxGroupSize = d.MaxGroupSize
	}
	if c.RetentionCheckInterval == 0 {
		c.RetentionCheckInterval = d.RetentionCheckInterval
	}
	return c
}
