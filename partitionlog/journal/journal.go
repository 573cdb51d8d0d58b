package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// What a journal may be refused or refuse for. A damaged one is a *DamageError.
var (
	ErrForeign  = errors.New("not this directory's journal")
	ErrVersion  = errors.New("journal of a newer format")
	ErrMissing  = errors.New("journal is missing")
	ErrFull     = errors.New("journal is full until a checkpoint releases it")
	ErrTooLarge = errors.New("payload does not fit a journal file")
	ErrFailed   = errors.New("journal write went wrong before")
	ErrClosed   = errors.New("journal is closed")
)

// DamageError says where a journal holds something else than what was acknowledged.
type DamageError struct {
	File     string
	Position int64
	Reason   string
}

// Error names file and position.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal %q is damaged at position %d: %s", e.File, e.Position, e.Reason)
}

// The defaults of Config, and the least number of files: one to write to, one to go on in, and one that is kept
// for Restart.
const (
	DefaultFileBytes = 16 << 20
	DefaultFiles     = 8
	minFiles         = 3
	maxFileBytes     = 1 << 30
	spareTarget      = 2 // one to go on in, one for Restart
)

// Config says where a journal lies and how large it may grow.
type Config struct {
	FS        vfs.FS
	Dir       string
	DirID     [16]byte // of the data directory; another one's journal is refused
	FileBytes int64    // a multiple of 4096; 0 = DefaultFileBytes
	Files     int      // at most; 0 = DefaultFiles
	NoSync    bool     // leaves out the fdatasync of Append and Restart
	// Observe, unless nil, is told how long each fdatasync of Append took, and for how many bytes.
	Observe func(took time.Duration, bytes int)

	inline bool // tests: no goroutine; spares are made when they are needed
}

func (c *Config) fill() error {
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileBytes
	}
	if c.Files == 0 {
		c.Files = DefaultFiles
	}
	if c.FileBytes < 2*pageBytes || c.FileBytes%pageBytes != 0 || c.FileBytes > maxFileBytes {
		return fmt.Errorf("journal file of %d bytes; give a multiple of %d from %d to %d", c.FileBytes, pageBytes, 2*pageBytes, maxFileBytes)
	}
	if c.Files < minFiles {
		return fmt.Errorf("%d journal files; give %d or more", c.Files, minFiles)
	}
	return nil
}

// logFile is a file of the journal.
type logFile struct {
	seq  uint64
	size int64
	last uint64 // the last LSN that counts and lies here or in an older file; set when it is no longer active
}

// Journal appends frames. See the package comment for the caller's duties.
type Journal struct {
	c Config

	// Owner: the appender.
	appender struct {
		file   vfs.File
		active logFile
		place  place
		pos    int64 // where the next frame goes
		buf    []byte
		cause  error // of the failure that Restart has to heal
	}

	mu      sync.Mutex
	changed sync.Cond // spares, retired, closing or spareErr changed
	// Invariant: live, then active, then spares, are consecutive numbers but for files that recovery dropped.
	live        []logFile // older than the active file, oldest first
	retired     []logFile // released; to be recycled, oldest first
	spares      []logFile // ready for use, lowest number first
	nextSeq     uint64    // the next spare's
	spareErr    error     // why the last spare could not be made
	incarnation uint64    // of the frames that are appended
	newest      uint64    // the newest incarnation that was ever tried
	lastLSN     uint64    // the last acknowledged
	released    uint64
	activePos   int64 // copy of appender.pos for Used
	closing     bool
	started     bool // constant once Create or Open has returned
	background  sync.WaitGroup
}

func newJournal(c Config) *Journal {
	j := &Journal{c: c, nextSeq: 1, incarnation: 1, newest: 1, activePos: pageBytes}
	j.changed.L = &j.mu
	return j
}

// Create makes the directory and an empty journal in it. Leftovers of a Create that was interrupted are replaced.
//
// Errors: fs.ErrExist when there is a journal.
func Create(c Config) (*Journal, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	if err := c.FS.MkdirAll(c.Dir); err != nil {
		return nil, err
	}
	if err := c.FS.SyncDir(filepath.Dir(c.Dir)); err != nil {
		return nil, err
	}
	seqs, err := listFiles(c)
	if err != nil {
		return nil, err
	}
	if len(seqs) > 0 {
		return nil, fmt.Errorf("journal in %q: %w; open it, or give another directory", c.Dir, fs.ErrExist)
	}
	j := newJournal(c)
	first, err := j.makeFile(nil, j.nextSeq)
	if err != nil {
		return nil, err
	}
	j.nextSeq++
	if err := j.activate(first, pageBytes); err != nil {
		return nil, err
	}
	j.start()
	return j, nil
}

// activate makes a file the one that Append writes to, from pos on.
func (j *Journal) activate(f logFile, pos int64) error {
	file, err := j.c.FS.Open(j.path(f.seq))
	if err != nil {
		return err
	}
	a := &j.appender
	a.file, a.active, a.place, a.pos = file, f, newPlace(j.c.DirID, f.seq), pos
	j.mu.Lock()
	defer j.mu.Unlock()
	j.activePos = pos
	return nil
}

func (j *Journal) path(seq uint64) string { return filepath.Join(j.c.Dir, fileName(seq)) }

// MaxPayload is the longest payload that Append takes.
func (j *Journal) MaxPayload() int { return int(j.c.FileBytes) - pageBytes - frameHeaderBytes }

// LastLSN is the last acknowledged one; 0 before the first.
func (j *Journal) LastLSN() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastLSN
}

// Release says that frames up to an LSN, inclusive, are in a durable checkpoint. Files that hold nothing else are
// recycled in the background.
func (j *Journal) Release(upto uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.released = max(j.released, upto)
	j.retire()
}

// retire moves released files. The oldest go first, so that the numbers of those that are left have no holes. None
// goes while the active file is empty, for the last LSN must be written somewhere.
func (j *Journal) retire() {
	if j.activePos == pageBytes {
		return
	}
	n := 0
	for n < len(j.live) && j.live[n].last <= j.released {
		n++
	}
	if n == 0 {
		return
	}
	j.retired = append(j.retired, j.live[:n]...)
	j.live = append(j.live[:0], j.live[n:]...)
	j.changed.Broadcast()
}

// Used is how much is waiting for a checkpoint, and how much there may be before Append returns ErrFull.
//
// Units: bytes.
func (j *Journal) Used() (bytes, capacity int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.live {
		bytes += f.size
	}
	return bytes + j.activePos, int64(j.c.Files-1) * j.c.FileBytes
}

// Close stops the goroutine and closes the file. Nothing is left to be written.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closing {
		j.mu.Unlock()
		return ErrClosed
	}
	j.closing = true
	j.changed.Broadcast()
	j.mu.Unlock()
	j.background.Wait()
	if f := j.appender.file; f != nil {
		return f.Close()
	}
	return nil
}
