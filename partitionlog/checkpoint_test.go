package partitionlog

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// gate is a disk whose table is renamed only when the test lets it.
type gate struct {
	vfs.FS
	reached chan struct{}
	pass    chan error
}

func (g *gate) Rename(from, to string) error {
	if filepath.Base(to) == tableFile && g.pass != nil {
		g.reached <- struct{}{}
		if err := <-g.pass; err != nil {
			return err
		}
	}
	return g.FS.Rename(from, to)
}

// inLoop waits until so many callers wait for a checkpoint that has not begun.
func (s *Store) inLoop(t *testing.T, want int) {
	t.Helper()
	for got := -1; got != want; runtime.Gosched() {
		if t.Context().Err() != nil {
			t.Fatalf("%d wait, want %d", got, want)
		}
		if err := s.run(func() error { got = len(s.checkpoint.asked); return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// A checkpoint that is asked for runs in the background, and holds what was answered before: who asks while one runs
// gets the next one. Close answers who still waits.
func TestCheckpointWhenAsked(t *testing.T) {
	disk := &gate{FS: vfs.OS}
	s := mustOpen(t, Config{Dir: t.TempDir(), FS: disk, JournalBytes: 1 << 20})
	p := mustCreate(t, s, "t", 1, nil).Partitions[0]
	disk.reached, disk.pass = make(chan struct{}), make(chan error)
	ask := func() <-chan error {
		outcome := make(chan error, 1)
		go func() { outcome <- s.Checkpoint() }()
		return outcome
	}
	lsn := func() (lsn uint64) {
		if err := s.run(func() error { lsn = s.lsn; return nil }); err != nil {
			t.Fatal(err)
		}
		return lsn
	}
	first := ask()
	<-disk.reached
	mustAppend(t, s, p, batchOf(1_700_000_000_000, "while it runs"))
	second, third := ask(), ask()
	s.inLoop(t, 2)
	after := lsn()
	disk.pass <- nil
	if err := <-first; err != nil || s.durableLSN.Load() >= after {
		t.Errorf("first: %v, durable to %d of %d", err, s.durableLSN.Load(), after)
	}
	<-disk.reached
	s.inLoop(t, 0)
	fourth := ask()
	s.inLoop(t, 1)
	disk.pass <- errors.New("no space left")
	for _, outcome := range []<-chan error{second, third} {
		if err := <-outcome; err == nil || err.Error() != "rename the table: no space left" {
			t.Errorf("got %v", err)
		}
	}
	<-disk.reached
	disk.pass <- nil
	if err := <-fourth; err != nil || s.durableLSN.Load() < after {
		t.Errorf("fourth: %v, durable to %d of %d", err, s.durableLSN.Load(), after)
	}
	fifth := ask()
	<-disk.reached
	sixth := ask()
	s.inLoop(t, 1)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	disk.pass <- nil
	<-disk.reached
	disk.pass <- nil
	if err := errors.Join(<-fifth, <-sixth, <-closed); err != nil {
		t.Error(err)
	}
	if err := s.Checkpoint(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := openMemory(t).Checkpoint(); err != nil {
		t.Errorf("in memory: %v", err)
	}
}
