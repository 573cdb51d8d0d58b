package partitionlog

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// TestAppendsGatherWhileTheJournalSyncs holds one sync until fifty appends wait: they share the next frame.
func TestAppendsGatherWhileTheJournalSyncs(t *testing.T) {
	disk := vfs.NewCrash(1)
	s := mustOpen(t, crashConfig(disk, nil))
	topic := mustCreate(t, s, "t", 5, nil)
	before := s.journal.LastLSN()
	syncing, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	disk.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == "sync" && strings.HasSuffix(op.Path, ".journal") { // not the next file in the making
			once.Do(func() {
				close(syncing)
				<-goOn
			})
		}
		return vfs.Fault{}
	})
	var done sync.WaitGroup
	send := func(p *Partition) *Append {
		a := &Append{Partition: p, Records: batchOf(1_700_000_000_000, "k")}
		done.Add(1)
		s.AppendAsync(done.Done, a)
		return a
	}
	first := send(topic.Partitions[0])
	<-syncing
	for _, p := range topic.Partitions {
		if _, next := p.Offsets(); next != 0 {
			t.Errorf("%s shows %d records that are not durable", p, next)
		}
	}
	rest := make([]*Append, 50)
	for i := range rest {
		rest[i] = send(topic.Partitions[i%5])
	}
	close(goOn)
	done.Wait()
	for _, a := range append(rest, first) {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	if frames := s.journal.LastLSN() - before; frames != 2 {
		t.Errorf("51 appends took %d frames, want 2", frames)
	}
}

// TestMemoryAndDiskAgree runs the same calls against a store with a journal and one without.
func TestMemoryAndDiskAgree(t *testing.T) {
	play := func(c Config) []string {
		at := newClock()
		c.Now = at.now
		s := mustOpen(t, c)
		p := mustCreate(t, s, "t", 1, map[string]string{"segment.bytes": "300", "retention.bytes": "1000", "retention.ms": "-1"}).Partitions[0]
		for i := range int32(30) {
			mustAppend(t, s, p, sequenced(1, 0, i, 1))
		}
		if _, err := s.DeleteRecords(p, 5); err != nil {
			t.Fatal(err)
		}
		s.mustMaintain(t, at)
		return contents(t, p)
	}
	memory, disk := play(Config{}), play(crashConfig(vfs.NewCrash(1), nil))
	if len(memory) == 0 || strings.Join(memory, " ") != strings.Join(disk, " ") {
		t.Errorf("memory %q, disk %q", memory, disk)
	}
}

// TestHostileTable changes bytes of a table under a good checksum: decoding ends in an error or in some state, never
// in a panic or a huge allocation.
func TestHostileTable(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	disk := vfs.NewCrash(1)
	s := mustOpen(t, crashConfig(disk, nil))
	p := mustCreate(t, s, "t", 3, map[string]string{"segment.bytes": "300"}).Partitions[0]
	for i := range int32(20) {
		mustAppend(t, s, p, sequenced(1, 0, i, 1))
	}
	if err := errors.Join(s.AlterGroupConfig("g", map[string]string{"k": "v"}), s.Checkpoint()); err != nil {
		t.Fatal(err)
	}
	good, err := readFile(disk, path.Join("data", tableFile))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() *Store { return &Store{config: s.config, files: newFiles(disk, 10), dirID: s.dirID} }
	if _, err := fresh().decodeTable(good); err != nil {
		t.Fatal(err)
	}
	const head = len(tableMagic) + 4 + 16
	for range 5000 {
		b := append([]byte(nil), good[:len(good)-4]...)
		for range 1 + rng.IntN(3) {
			b[head+rng.IntN(len(b)-head)] = byte(rng.Uint32())
		}
		b = b[:head+rng.IntN(len(b)-head+1)]
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		if _, err := fresh().decodeTable(b); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%v", err)
		}
	}
}
