package partitionlog

import (
	"fmt"
	"path"
	"strings"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// Layout is a data directory as its last checkpoint describes it: what a copy needs besides the journal.
type Layout struct {
	DirectoryID string         `json:"directoryId"`
	ClusterID   string         `json:"clusterId"`
	LSN         uint64         `json:"lsn"` // of the checkpoint
	LeaderEpoch int32          `json:"leaderEpoch"`
	Topics      []LayoutTopic  `json:"topics"`
	Groups      map[string]any `json:"groups,omitempty"` // configs of groups
}

// LayoutTopic is a topic of a Layout.
type LayoutTopic struct {
	Name       string            `json:"topic"`
	ID         string            `json:"topicId"`
	Internal   bool              `json:"internal,omitempty"`
	Deleting   bool              `json:"deleting,omitempty"`
	Overrides  map[string]string `json:"overrides,omitempty"`
	Partitions []LayoutPartition `json:"partitions"`
}

// LayoutPartition is a partition of a Layout.
type LayoutPartition struct {
	Index    int32           `json:"partition"`
	LogStart int64           `json:"logStart"`
	Next     int64           `json:"next"`
	Segments []LayoutSegment `json:"segments"`
}

// LayoutSegment is a segment file: its first Size bytes are what the checkpoint knows, and do not change any more.
type LayoutSegment struct {
	Path string `json:"path"` // below the directory, with slashes
	Base int64  `json:"base"`
	Next int64  `json:"next"`
	Size int64  `json:"size"`
}

// ReadLayout reads the table of a data directory. It changes nothing, and needs no lock: the table is replaced as a whole.
//
// Errors: ErrDamaged, ErrNewerFormat, fs.ErrNotExist when it is no data directory; what the disk says.
func ReadLayout(disk vfs.FS, dir string) (*Layout, error) {
	s := &Store{config: Config{Dir: dir, FS: disk}.withDefaults()}
	found, err := s.loadMeta()
	if err != nil {
		return nil, err
	}
	if _, listErr := disk.List(dir); listErr != nil && !found {
		return nil, listErr
	}
	if !found {
		return nil, fmt.Errorf("%w: %q has no %s, so it is no data directory, or was never finished", ErrDamaged, dir, metaFile)
	}
	if _, err := s.loadTable(); err != nil {
		return nil, err
	}
	l := &Layout{DirectoryID: formatID(s.dirID), ClusterID: s.id, LSN: s.lsn, LeaderEpoch: s.leaderEpoch.Load(), Topics: []LayoutTopic{}}
	for group, configs := range s.catalog.groupConfigs() {
		if l.Groups == nil {
			l.Groups = map[string]any{}
		}
		l.Groups[group] = configs
	}
	for _, t := range s.catalog.all() {
		topic := LayoutTopic{Name: t.Name, ID: formatID(t.ID), Internal: t.Internal, Deleting: t.Deleting, Overrides: t.Overrides}
		for _, p := range t.Partitions {
			partition := LayoutPartition{Index: p.index, LogStart: p.logStart.Load(), Next: p.loop.nextOffset, Segments: []LayoutSegment{}}
			for _, g := range p.segments {
				below := strings.TrimPrefix(strings.TrimPrefix(g.path, path.Clean(dir)), "/")
				partition.Segments = append(partition.Segments, LayoutSegment{below, g.base, g.next, g.size})
			}
			topic.Partitions = append(topic.Partitions, partition)
		}
		l.Topics = append(l.Topics, topic)
	}
	return l, nil
}

// The names below a data directory that, with the segments of its Layout, are all of it.
const (
	MetaFile   = metaFile
	TableFile  = tableFile
	LockFile   = lockFile
	JournalDir = journalDir
)

// SegmentFiles returns the paths of a partition's segments, oldest first.
func (p *Partition) SegmentFiles() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var names []string
	for _, g := range p.segments {
		names = append(names, g.path)
	}
	return names
}
