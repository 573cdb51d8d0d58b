package partitionlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
)

// The names in a data directory.
const (
	lockFile   = "LOCK"
	metaFile   = "meta.properties"
	tableFile  = "table"
	tableTmp   = "table.tmp"
	journalDir = "journal"
	topicsDir  = "topics"
)

// tableMagic begins every table; formatVersion follows it and stands in meta.properties too.
const (
	tableMagic    = "KOHORTTB"
	formatVersion = 1
)

// table is a checkpoint as it is on disk: the catalogue and one note per partition.
//
//	Shape:
//	| "KOHORTTB" (8) | format version (4) | directory id (16) |
//	| LSN | leader epoch | producer ids | groups | topics, each with its partitions' notes | CRC32C (4) |
//
// The checksum covers everything before it.
type table struct {
	lsn         uint64
	leaderEpoch int32
	producerIDs int64
	groups      map[string]map[string]string
	topics      []*Topic
	dirs        []newDir
}

// newDir is a partition's directory with entries that are not durable yet.
type newDir struct {
	p     *Partition
	isNew bool // the directory itself too
}

// errNameUnknown says that a rename may or may not survive a crash, and that asking again would not tell.
var errNameUnknown = errors.New("the table's new name could not be synced")

// writeTable replaces the table on disk.
//
// Errors: errNameUnknown when the outcome is unknown; otherwise the old table is still there.
func (s *Store) writeTable(snap *snapshot) error {
	b := s.encodeTable(snap)
	tmp := path.Join(s.config.Dir, tableTmp)
	if err := writeFile(s.config.FS, tmp, b); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if err := s.config.FS.Rename(tmp, path.Join(s.config.Dir, tableFile)); err != nil {
		return fmt.Errorf("rename the table: %w", err)
	}
	if err := s.config.FS.SyncDir(s.config.Dir); err != nil {
		return fmt.Errorf("%w: %w", errNameUnknown, err)
	}
	return nil
}

func (s *Store) encodeTable(snap *snapshot) []byte {
	t := &snap.table
	e := encoder{b: make([]byte, 0, 256+64*len(snap.noted))}
	e.b = append(e.b, tableMagic...)
	e.b = binary.BigEndian.AppendUint32(e.b, formatVersion)
	e.id(s.dirID)
	e.uint(t.lsn)
	e.int(int64(t.leaderEpoch))
	e.int(t.producerIDs)
	e.uint(uint64(len(t.groups)))
	for _, group := range sortedKeys(t.groups) {
		e.string(group)
		e.pairs(t.groups[group])
	}
	e.uint(uint64(len(t.topics)))
	notes := snap.noted
	for _, topic := range t.topics {
		e.id(topic.ID)
		e.string(topic.Name)
		e.bool(topic.Internal)
		e.bool(topic.Deleting)
		e.pairs(topic.Overrides)
		e.uint(uint64(len(topic.Partitions)))
		for range topic.Partitions {
			e.uint(notes[0].note.lsn)
			e.bytes(notes[0].note.encoded)
			notes = notes[1:]
		}
	}
	return binary.BigEndian.AppendUint32(e.b, crc32.Checksum(e.b, castagnoli))
}

// loadTable reads the table into the store, which is empty. It returns the LSN after which the journal is needed.
//
// Errors: ErrDamaged, ErrNewerFormat, and what the disk says.
func (s *Store) loadTable() (after uint64, err error) {
	name := path.Join(s.config.Dir, tableFile)
	b, err := readFile(s.config.FS, name)
	if err != nil {
		return 0, fmt.Errorf("read the table: %w", err)
	}
	after, err = s.decodeTable(b)
	if err != nil {
		return 0, fmt.Errorf("table %q: %w", name, err)
	}
	return after, nil
}

func (s *Store) decodeTable(b []byte) (after uint64, err error) {
	const head = len(tableMagic) + 4 + 16
	if len(b) < head+4 || string(b[:len(tableMagic)]) != tableMagic {
		return 0, fmt.Errorf("%w: it does not begin with %q", ErrDamaged, tableMagic)
	}
	if v := binary.BigEndian.Uint32(b[len(tableMagic):]); v > formatVersion {
		return 0, fmt.Errorf("%w: version %d, this program knows %d", ErrNewerFormat, v, formatVersion)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return 0, fmt.Errorf("%w: checksum %08x instead of %08x", ErrDamaged, got, sum)
	}
	d := decoder{b: body[len(tableMagic)+4:]}
	if id := d.id(); id != s.dirID {
		return 0, fmt.Errorf("%w: it belongs to directory %s, this is %s", ErrDamaged, formatID(id), formatID(s.dirID))
	}
	s.lsn = d.uint()
	s.catalogLSN = s.lsn
	s.leaderEpoch.Store(int32(d.int()))
	s.producerIDs = d.int()
	groups := make(map[string]map[string]string)
	for range d.length() {
		group := d.string()
		groups[group] = d.pairs()
	}
	s.catalog.groups.Store(&groups)
	after = s.lsn
	for range d.length() {
		pinned, err := s.decodeTopic(&d)
		if err != nil {
			return 0, err
		}
		after = min(after, pinned)
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return after, d.err
}

func (s *Store) decodeTopic(d *decoder) (after uint64, err error) {
	after = s.lsn
	t := &Topic{ID: d.id(), Name: d.string(), Internal: d.bool(), Deleting: d.bool()}
	s.configure(t, d.pairs())
	n := d.length()
	for i := range n {
		lsn := d.uint()
		p := newPartition(s, t.Name, t.ID, int32(i), &t.Config, lsn)
		encoded := d.bytes()
		if err := p.decodeNote(encoded); err != nil {
			return 0, fmt.Errorf("note of %s: %w", p, err)
		}
		p.loop.durable = note{lsn, append([]byte(nil), encoded...)}
		p.loop.note, p.loop.stale = p.loop.durable.encoded, false
		if t.Deleting {
			p.retire()
		}
		t.Partitions = append(t.Partitions, p)
		after = min(after, lsn)
	}
	if d.err == nil {
		s.catalog.put(t)
	}
	return after, d.err
}
