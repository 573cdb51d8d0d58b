package broker_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// frozen is a disk that renames nothing while the test holds the ice.
type frozen struct {
	vfs.FS
	ice sync.RWMutex
}

func (f *frozen) Rename(from, to string) error {
	f.ice.RLock()
	defer f.ice.RUnlock()
	return f.FS.Rename(from, to)
}

// Checkpoint returns when the table is durable, or when the context ends; it then goes on by itself.
func TestCheckpoint(t *testing.T) {
	disk := &frozen{FS: vfs.OS}
	dir := filepath.Join(t.TempDir(), "data")
	b := brokertest.Start(t, func(c *broker.Config) { c.DataDir, c.FS = dir, disk })
	lsn := func() uint64 {
		t.Helper()
		layout, err := partitionlog.ReadLayout(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		return layout.LSN
	}
	before := lsn()
	if err := b.Checkpoint(t.Context()); err != nil || lsn() <= before { // the start has written its leader epoch since
		t.Errorf("got %v, checkpoint at %d, then at %d", err, before, lsn())
	}
	disk.ice.Lock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Checkpoint(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	disk.ice.Unlock()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Checkpoint(t.Context()); !errors.Is(err, partitionlog.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := brokertest.Start(t).Checkpoint(t.Context()); err != nil {
		t.Errorf("in memory: %v", err)
	}
}
