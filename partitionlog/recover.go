package partitionlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"time"

	"github.com/kohort/kohort/partitionlog/journal"
)

// Open opens a data directory, or makes one, and recovers it; what was acknowledged before is there when it returns.
// It is the same after kill -9, a power cut and a clean Close:
//
//  1. read the table: catalogue, and a note per partition
//  2. rewind every partition to its note: remove files that it does not name, cut the active one to its size
//  3. apply the journal above the notes, overwriting
//  4. raise the leader epoch, durably
//
// Log start and next offset come from the notes and the journal, never from files.
//
// Errors: *vfs.LockedError when another process has the directory; ErrDamaged, ErrNewerFormat, *journal.DamageError,
// journal.ErrForeign, journal.ErrMissing, journal.ErrVersion when it must not be touched; what the disk says.
func Open(c Config) (*Store, error) {
	memory := c.Dir == ""
	c = c.withDefaults()
	s := &Store{
		config: c, files: newFiles(c.FS, c.MaxOpenFiles),
		failed: make(chan struct{}), closing: make(chan struct{}),
	}
	s.queue.wake = make(chan struct{}, 1)
	s.checkpoint.finished = make(chan *snapshot, 1)
	s.incarnation.Store(1)
	s.resetFrame()
	var err error
	if memory {
		err = s.openMemory()
	} else {
		err = s.openDir()
	}
	if err != nil {
		s.abandon()
		return nil, err
	}
	s.workers.Go(s.loop)
	s.workers.Go(s.maintain)
	return s, nil
}

// abandon closes what a failed Open has opened.
func (s *Store) abandon() {
	if s.journal != nil {
		_ = s.journal.Close()
	}
	s.files.closeAll()
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

func (s *Store) openMemory() error {
	cluster, err := randomID(s.config.Rand)
	s.id = formatID(cluster)
	s.maxBatch, s.maxFrame = 1<<30, frameBytes
	return err
}

func (s *Store) openDir() (err error) {
	began := time.Now()
	if err := s.config.FS.MkdirAll(s.config.Dir); err != nil {
		return err
	}
	if s.lock, err = s.config.FS.Lock(path.Join(s.config.Dir, lockFile)); err != nil {
		return err
	}
	found, err := s.loadMeta()
	if err != nil {
		return err
	}
	var report journal.Report
	if found {
		if err := s.syncNames(); err != nil {
			return err
		}
		report, err = s.recover()
	} else {
		err = s.format()
	}
	if err != nil {
		return err
	}
	s.maxBatch = s.journal.MaxPayload() - entryOverhead
	s.maxFrame = min(frameBytes, s.journal.MaxPayload())
	if err := s.raiseLeaderEpoch(); err != nil {
		return err
	}
	if report.CutBytes > 0 {
		s.config.Observe(Event{Kind: EventTornTail, Bytes: report.CutBytes})
	}
	s.config.Observe(Event{Kind: EventRecovered, Count: int64(report.Frames), Took: time.Since(began)})
	return nil
}

// syncNames makes durable what is visible: the killed process before this one may have renamed files without having
// synced their names, and from here on they are relied upon.
func (s *Store) syncNames() error {
	if err := s.syncParent(); err != nil {
		return err
	}
	for _, dir := range []string{s.config.Dir, path.Join(s.config.Dir, journalDir)} {
		if err := s.config.FS.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// recover brings the store to the state of the last durable frame.
func (s *Store) recover() (report journal.Report, err error) {
	after, err := s.loadTable()
	if err != nil {
		return report, err
	}
	s.durableLSN.Store(s.lsn)
	if err := s.rewind(); err != nil {
		return report, err
	}
	s.replaying = true
	s.journal, report, err = journal.Open(s.journalConfig(), after, func(lsn uint64, frame []byte) error {
		if err := s.apply(lsn, frame); err != nil {
			return err
		}
		s.lsn = max(s.lsn, lsn)
		return nil
	})
	if err != nil {
		return report, err
	}
	s.replaying = false
	s.catalogLSN = s.lsn
	if last := s.journal.LastLSN(); last != s.lsn {
		return report, fmt.Errorf("%w: the journal ends at entry %d, the table at %d", ErrDamaged, last, s.lsn)
	}
	s.garbage = nil // what replay deleted again is an orphan of the table's; the next checkpoint is soon enough
	return report, s.removeOrphans()
}

// rewind makes the files of each partition what its note says.
func (s *Store) rewind() error {
	for _, t := range s.catalog.all() {
		dirs, err := s.list(s.topicDir(t.Name, t.ID))
		if err != nil {
			return err
		}
		present := map[string]bool{}
		for _, name := range dirs {
			present[name] = true
		}
		for _, p := range t.Partitions {
			if present[strconv.Itoa(int(p.index))] {
				// The killed process before this one may have made it, so without segments nobody knows
				// whether its name is durable.
				p.loop.hasDir, p.loop.newDir = true, len(p.segments) == 0
				err = s.rewindPartition(p)
			} else if len(p.segments) > 0 {
				err = fmt.Errorf("%w: directory %q of %d segments is missing", ErrDamaged, p.dir(), len(p.segments))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rewindPartition removes the files that the note does not name, and cuts the others to their size. Bytes behind the
// active segment's size are not in the note; the journal has those that were acknowledged.
func (s *Store) rewindPartition(p *Partition) error {
	names, err := s.list(p.dir())
	if err != nil {
		return err
	}
	named := map[string]*segment{}
	for _, g := range p.segments {
		named[path.Base(g.path)] = g
	}
	for _, name := range names {
		if _, _, ok := parseSegmentName(name); ok && named[name] == nil {
			if err := s.config.FS.Remove(path.Join(p.dir(), name)); err != nil {
				return err
			}
		}
	}
	for _, g := range p.segments {
		if err := s.rewindSegment(g); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) rewindSegment(g *segment) error {
	file, err := s.files.acquire(g)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: segment %q is missing", ErrDamaged, g.path)
	}
	if err != nil {
		return err
	}
	defer s.files.release(file)
	size, err := file.Size()
	switch {
	case err != nil:
		return err
	case size < g.size:
		return fmt.Errorf("%w: segment %q has %d bytes, the table says %d", ErrDamaged, g.path, size, g.size)
	case size > g.size:
		return file.Truncate(g.size)
	}
	return nil
}

// removeOrphans removes directories of topics that neither table nor journal knows any more.
func (s *Store) removeOrphans() error {
	dir := path.Join(s.config.Dir, topicsDir)
	names, err := s.list(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, ok := parseTopicDir(name)
		if !ok || s.catalog.byTopicID(id) != nil {
			continue
		}
		// The table may still name its files: they go with the next checkpoint.
		s.garbage = append(s.garbage, path.Join(dir, name))
	}
	return nil
}

// list is the disk's List, where a missing directory has nothing in it.
func (s *Store) list(dir string) ([]string, error) {
	names, err := s.config.FS.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// raiseLeaderEpoch begins the epoch of this start: nobody is served before it is durable.
func (s *Store) raiseLeaderEpoch() error {
	s.frame.leaderEpoch(s.leaderEpoch.Load() + 1)
	err := s.write()
	s.resetFrame()
	return err
}

func (s *Store) observeSync(took time.Duration, bytes int) {
	if took > slow {
		s.config.Observe(Event{Kind: EventSlowSync, Took: took, Bytes: int64(bytes)})
	}
}
