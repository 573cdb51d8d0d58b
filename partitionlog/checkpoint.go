package partitionlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"
)

// checkpointState is what the loop remembers between checkpoints.
type checkpointState struct {
	running  bool
	finished chan *snapshot // capacity 1: a background checkpoint has ended
	retryAt  time.Time      // after one that went wrong
	beganAt  time.Time      // the last one
	asked    []chan<- error // callers who wait for the next one, each with room for its outcome
}

// checkpointInterval is the age at which maintenance renews a checkpoint that lags behind.
// Source: Kafka's log.flush.offset.checkpoint.interval.ms.
const checkpointInterval = time.Minute

// checkpointRetry is the pause after a checkpoint that went wrong.
const checkpointRetry = time.Second

// snapshot is a picture of everything at one LSN, taken by the loop, and what became of its checkpoint.
//
// Order, oldest first, and what a crash leaves:
//
//  1. sync segments and directories      the old table; more is durable than it says
//  2. write, sync, rename the table      the old table or the new one
//  3. sync the data directory            the new table
//  4. release the journal                the new table and a shorter journal
//  5. unlink files that no table names   orphans, removed at the next start
type snapshot struct {
	table   table
	noted   []notedPartition
	files   []heldFile
	removed []removal
	garbage []string

	asked  []chan<- error
	began  time.Time
	failed map[*Partition]bool // a file could not be synced
	err    error
	fatal  bool // err must stop the store
}

type notedPartition struct {
	*Partition
	note   note
	pinned bool // offline: the note is the one of the table before
}

type heldFile struct {
	p *Partition
	f *openFile
}

// removal is a segment that is no longer part of its partition.
type removal struct {
	p *Partition
	g *segment
}

// considerCheckpoint begins one in the background when half of the journal is used, or too many files wait for it.
func (s *Store) considerCheckpoint() {
	if s.journal == nil {
		s.unlink(s.removed, s.garbage)
		s.removed, s.garbage = s.removed[:0], s.garbage[:0]
		return
	}
	used, capacity := s.journal.Used()
	if used*2 < capacity && s.held*2 < s.config.MaxOpenFiles {
		return
	}
	if now := s.config.Now(); s.checkpoint.retryAt.After(now) {
		return
	}
	s.beginCheckpoint()
}

// checkpointDue says whether maintenance should begin one: files wait to be unlinked, or the table has become old.
func (s *Store) checkpointDue(now time.Time) bool {
	return len(s.removed)+len(s.garbage) > 0 ||
		s.lsn > s.durableLSN.Load() && now.Sub(s.checkpoint.beganAt) >= checkpointInterval
}

// beginCheckpoint starts a checkpoint in the background unless one is running.
func (s *Store) beginCheckpoint() {
	if s.journal == nil || s.checkpoint.running || s.Err() != nil {
		return
	}
	snap := s.snapshot()
	if s.config.inline {
		s.writeCheckpoint(snap)
		s.endCheckpoint(snap)
		return
	}
	s.checkpoint.running = true
	go func() {
		s.writeCheckpoint(snap)
		s.checkpoint.finished <- snap
	}()
}

// awaitCheckpoint waits for the one that is running.
func (s *Store) awaitCheckpoint() {
	if s.checkpoint.running {
		s.endCheckpoint(<-s.checkpoint.finished)
	}
}

// checkpointNow is a checkpoint in the foreground.
func (s *Store) checkpointNow() error {
	if s.journal == nil {
		return nil
	}
	s.awaitCheckpoint()
	if err := s.Err(); err != nil {
		return err // that one left names behind that nobody may rely upon
	}
	snap := s.snapshot()
	s.writeCheckpoint(snap)
	s.endCheckpoint(snap)
	return snap.err
}

// Checkpoint writes the table in the background, and returns when it is durable: a start then replays nothing of what
// was answered before the call, except for partitions that are offline. Appends go on meanwhile. One that runs already
// does not count, for it may lack what came last; the next one follows it.
//
// Errors: what the disk says, ErrClosed.
func (s *Store) Checkpoint() error {
	outcome := make(chan error, 1)
	err := s.run(func() error {
		if s.journal == nil {
			outcome <- nil
			return nil
		}
		s.checkpoint.asked = append(s.checkpoint.asked, outcome)
		s.beginCheckpoint()
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case err := <-outcome:
		return err
	case <-s.failed:
	}
	select {
	case err := <-outcome: // it may be what failed
		return err
	default:
		return ErrClosed
	}
}

// snapshot takes the picture. Only partitions that changed are encoded again.
func (s *Store) snapshot() *snapshot {
	snap := &snapshot{
		table: table{
			lsn: s.lsn, leaderEpoch: s.leaderEpoch.Load(), producerIDs: s.producerIDs,
			groups: s.catalog.groupConfigs(), topics: s.catalog.all(),
		},
		removed: s.removed, garbage: s.garbage, asked: s.checkpoint.asked, began: time.Now(), failed: make(map[*Partition]bool),
	}
	s.removed, s.garbage, s.checkpoint.asked = nil, nil, nil
	s.checkpoint.beganAt = s.config.Now()
	for _, t := range snap.table.topics {
		for _, p := range t.Partitions {
			snap.noted = append(snap.noted, s.notePartition(snap, p))
		}
	}
	return snap
}

func (s *Store) notePartition(snap *snapshot, p *Partition) notedPartition {
	l := &p.loop
	if p.isOffline() {
		p.letGo(l.dirty)
		return notedPartition{p, l.durable, true}
	}
	if l.stale {
		l.note = p.encodeNote(nil)
		l.stale = false
	}
	for _, g := range l.dirty {
		snap.files = append(snap.files, heldFile{p, g.file})
		g.file = nil
	}
	l.dirty = l.dirty[:0]
	if l.newFiles || l.newDir {
		snap.table.dirs = append(snap.table.dirs, newDir{p, l.newDir})
		l.newFiles, l.newDir = false, false
	}
	return notedPartition{p, note{s.lsn, l.note}, false}
}

// writeCheckpoint does the work on the disk. It touches nothing of the loop's.
func (s *Store) writeCheckpoint(snap *snapshot) {
	for _, h := range snap.files {
		if err := h.f.Sync(); err != nil {
			snap.failed[h.p] = true
			h.p.takeOffline(fmt.Errorf("sync %q: %w", h.f.segment.path, err))
		}
	}
	if snap.err = s.syncDirs(snap); snap.err != nil {
		snap.fatal = true
		return
	}
	release := snap.table.lsn
	for i := range snap.noted {
		n := &snap.noted[i]
		if snap.failed[n.Partition] {
			n.note, n.pinned = n.loop.durable, true
		}
		release = min(release, n.note.lsn)
	}
	if snap.err = s.writeTable(snap); snap.err != nil {
		snap.fatal = errors.Is(snap.err, errNameUnknown)
		return
	}
	s.journal.Release(release)
	s.durableLSN.Store(snap.table.lsn)
	s.unlink(snap.removable(), snap.garbage)
}

// syncDirs makes the names of new segments and partitions durable, from the leaf up.
func (s *Store) syncDirs(snap *snapshot) error {
	parents := map[string]bool{}
	for _, d := range snap.table.dirs {
		if err := s.config.FS.SyncDir(d.p.dir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			snap.failed[d.p] = true
			d.p.takeOffline(fmt.Errorf("sync %q: %w", d.p.dir(), err))
		}
		if d.isNew {
			parents[path.Dir(d.p.dir())] = true
		}
	}
	if len(parents) == 0 {
		return nil
	}
	for dir := range parents {
		if err := s.config.FS.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sync %q: %w", dir, err)
		}
	}
	if err := s.config.FS.SyncDir(path.Join(s.config.Dir, topicsDir)); err != nil {
		return fmt.Errorf("sync the topics' directory: %w", err)
	}
	return nil
}

// removable are the segments that the new table does not name. That of a pinned partition is the old one's.
func (snap *snapshot) removable() []removal {
	pinned := map[*Partition]bool{}
	for _, n := range snap.noted {
		if n.pinned {
			pinned[n.Partition] = true
		}
	}
	var out []removal
	for _, r := range snap.removed {
		if !pinned[r.p] {
			out = append(out, r)
		}
	}
	return out
}

// unlink removes files. What cannot be removed is an orphan, and goes at the next start.
func (s *Store) unlink(removed []removal, dirs []string) {
	for _, r := range removed {
		s.files.drop(r.g)
		_ = s.config.FS.Remove(r.g.path)
	}
	for _, dir := range dirs {
		_ = s.config.FS.RemoveAll(dir)
	}
}

// endCheckpoint is the loop's part after the work: remember what is durable, let files go.
func (s *Store) endCheckpoint(snap *snapshot) {
	s.checkpoint.running = false
	s.held -= len(snap.files)
	for _, h := range snap.files {
		if snap.failed[h.p] {
			s.files.drop(h.f.segment)
		}
		s.files.release(h.f)
	}
	snap.answer()
	if snap.err != nil {
		s.removed = append(snap.removed, s.removed...)
		s.garbage = append(snap.garbage, s.garbage...)
		s.checkpoint.retryAt = s.config.Now().Add(checkpointRetry)
		s.config.Observe(Event{Kind: EventCheckpointFailed, Err: snap.err})
		if snap.fatal {
			s.fail(snap.err)
		}
		return
	}
	for _, n := range snap.noted {
		n.loop.durable = n.note
	}
	if took := time.Since(snap.began); took > slow {
		s.config.Observe(Event{Kind: EventSlowCheckpoint, Took: took})
	}
}

// answer tells those who wait for the checkpoint what became of it.
func (snap *snapshot) answer() {
	for _, outcome := range snap.asked {
		outcome <- snap.err
	}
}

// finishCheckpoint ends one that ran in the background, and begins the next one if somebody waits for it.
func (s *Store) finishCheckpoint(snap *snapshot) {
	s.endCheckpoint(snap)
	if len(s.checkpoint.asked) > 0 {
		s.beginCheckpoint()
	}
}

// pinned says whether an offline partition keeps a part of the journal.
func (s *Store) pinned() bool {
	for _, t := range s.catalog.all() {
		for _, p := range t.Partitions {
			if p.isOffline() {
				return true
			}
		}
	}
	return false
}

// removeTopicFiles lets the files of a deleted topic go with the next checkpoint.
func (s *Store) removeTopicFiles(t *Topic) {
	dir := s.topicDir(t.Name, t.ID)
	for _, p := range t.Partitions {
		p.removeSegments(p.segments)
	}
	s.garbage = append(s.garbage, dir)
}
