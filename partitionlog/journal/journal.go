package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// Sentinels.
var (
	ErrForeign  = errors.New("journal belongs to another data directory")
	ErrVersion  = errors.New("journal was written by a newer version")
	ErrMissing  = errors.New("journal is missing")
	ErrFull     = errors.New("journal is full")
	ErrTooLarge = errors.New("frame does not fit a journal file")
	ErrFailed   = errors.New("journal has failed")
	ErrClosed   = errors.New("journal is closed")
)

// Config says where a journal lies and how large it may grow.
type Config struct {
	FS        vfs.FS
	Dir       string
	DirID     [16]byte
	FileBytes int64 // 0 = 16 MiB
	Files     int   // 0 = 8
	NoSync    bool
	Observe   func(took time.Duration, bytes int)
}

// DamageError is a journal that must not be trusted.
type DamageError struct {
	File     string
	Position int64
	Reason   string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %q is damaged at position %d: %s", e.File, e.Position, e.Reason)
}

// Report says what Open found.
type Report struct {
	Frames   int
	LastLSN  uint64
	CutBytes int64
	CutFile  string
	CutAt    int64
}

// Journal appends frames.
type Journal struct{ c Config }

// Create makes a new journal.
func Create(c Config) (*Journal, error) { return &Journal{c}, nil }

// Open recovers.
func Open(c Config, after uint64, fn func(lsn uint64, payload []byte) error) (*Journal, Report, error) {
	return &Journal{c}, Report{}, nil
}

// MaxPayload is the longest payload that fits.
func (j *Journal) MaxPayload() int { return 0 }

// Append makes a payload durable.
func (j *Journal) Append(payload []byte) (lsn uint64, err error) { return 0, ErrFailed }

// Release lets files be recycled.
func (j *Journal) Release(upto uint64) {}

// Used says how full it is.
func (j *Journal) Used() (bytes, capacity int64) { return 0, 0 }

// LastLSN is the last acknowledged.
func (j *Journal) LastLSN() uint64 { return 0 }

// Restart begins anew.
func (j *Journal) Restart() error { return nil }

// Close ends.
func (j *Journal) Close() error { return nil }
