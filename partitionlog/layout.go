package partitionlog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kohort/kohort/partitionlog/journal"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// minJournalFile keeps a journal of a few pages usable for tests.
const minJournalFile = 8 << 10

// journalConfig cuts the journal's size into files.
func (s *Store) journalConfig() journal.Config {
	size := s.config.JournalBytes / journalFiles &^ 4095
	return journal.Config{
		FS: s.config.FS, Dir: path.Join(s.config.Dir, journalDir), DirID: s.dirID,
		FileBytes: max(size, minJournalFile), Files: journalFiles, NoSync: s.config.NoSync,
		Observe: s.observeSync,
	}
}

// format makes a new data directory: journal and an empty table first, and as the last step meta.properties, which
// makes it one. What a crash left before that step is made again.
//
// Errors: ErrDamaged when there are topics without meta.properties; what the disk says.
func (s *Store) format() error {
	disk, dir := s.config.FS, s.config.Dir
	if names, err := disk.List(path.Join(dir, topicsDir)); err == nil && len(names) > 0 {
		return fmt.Errorf("%w: %q has topics, but no %s; restore it, or give another directory", ErrDamaged, dir, metaFile)
	}
	var err error
	if s.dirID, err = randomID(s.config.Rand); err != nil {
		return err
	}
	cluster, err := randomID(s.config.Rand)
	if err != nil {
		return err
	}
	s.id = formatID(cluster)
	for _, stale := range []string{journalDir, topicsDir} {
		if err := disk.RemoveAll(path.Join(dir, stale)); err != nil {
			return err
		}
	}
	full := s.journalConfig()
	small := full
	small.FileBytes = min(full.FileBytes, s.config.firstJournalFile)
	if s.journal, err = journal.Create(small); err != nil {
		return err
	}
	if err := disk.MkdirAll(path.Join(dir, topicsDir)); err != nil {
		return err
	}
	s.leaderEpoch.Store(-1)
	if err := s.writeTable(s.snapshot()); err != nil {
		return err
	}
	meta := fmt.Sprintf("#\nversion=%d\ndirectory.id=%s\ncluster.id=%s\n", formatVersion, formatID(s.dirID), s.id)
	if err := writeFile(disk, path.Join(dir, metaFile+".tmp"), []byte(meta)); err != nil {
		return err
	}
	if err := disk.Rename(path.Join(dir, metaFile+".tmp"), path.Join(dir, metaFile)); err != nil {
		return err
	}
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	if err := s.syncParent(); err != nil {
		return err
	}
	return s.enlargeJournal(full)
}

// syncParent makes the data directory's own name durable. Where this process may not look at the parent, whoever
// made the directory has to see to that.
func (s *Store) syncParent() error {
	err := s.config.FS.SyncDir(path.Dir(s.config.Dir))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// enlargeJournal goes on with files of the full size. The first one is small, since a file is written whole before
// its use and the first one is waited for; the journal takes any size of those that are there.
func (s *Store) enlargeJournal(full journal.Config) (err error) {
	if full.FileBytes <= s.config.firstJournalFile {
		return nil
	}
	if err = s.journal.Close(); err != nil {
		return err
	}
	s.journal, _, err = journal.Open(full, 0, func(uint64, []byte) error { return nil })
	return err
}

// loadMeta reads meta.properties; false when there is none.
//
// Errors: ErrDamaged, ErrNewerFormat, and what the disk says.
func (s *Store) loadMeta() (bool, error) {
	name := path.Join(s.config.Dir, metaFile)
	b, err := readFile(s.config.FS, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	properties := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), "="); ok {
			properties[k] = v
		}
	}
	version, err := strconv.Atoi(properties["version"])
	if err != nil {
		return false, fmt.Errorf("%w: %q has version %q", ErrDamaged, name, properties["version"])
	}
	if version > formatVersion {
		return false, fmt.Errorf("%w: %q has version %d, this program knows %d", ErrNewerFormat, name, version, formatVersion)
	}
	var ok bool
	if s.dirID, ok = parseID(properties["directory.id"]); !ok {
		return false, fmt.Errorf("%w: %q has directory.id %q", ErrDamaged, name, properties["directory.id"])
	}
	s.id = properties["cluster.id"]
	return true, nil
}

// writeFile makes a file with durable contents; its name is not durable yet.
func writeFile(disk vfs.FS, name string, b []byte) error {
	f, err := disk.Create(name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

func readFile(disk vfs.FS, name string) ([]byte, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
