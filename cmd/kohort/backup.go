package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// backupCommand is `kohort backup`.
type backupCommand struct {
	Dir               string        `arg:"" help:"Data directory, of a broker that runs or not."`
	To                string        `arg:"" help:"Directory for the copy; it must be empty or not exist."`
	CheckpointTimeout time.Duration `default:"5s" help:"How long a running broker may take to write a checkpoint first; without one the copy has more to replay. 0: it is not asked."`
	Output            string        `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// errStopped ends a backup.
var errStopped = errors.New("stopped by a signal; there is no copy")

// copied is what a backup holds.
type copied struct {
	Dir        string `json:"dir"`
	To         string `json:"to"`
	Running    bool   `json:"running"`
	Fresh      bool   `json:"fresh"` // the broker wrote the checkpoint for this copy
	Checkpoint uint64 `json:"checkpoint"`
	Replays    int64  `json:"replays"` // frames above the checkpoint
	Files      int    `json:"files"`
	Bytes      int64  `json:"bytes"`
	Tries      int    `json:"tries"`

	stop <-chan os.Signal
}

// Run copies a directory, after its broker, if it runs, has written a checkpoint. Everything that was acknowledged before
// it began is in the copy; of what came later, the copy holds all up to some moment.
func (c *backupCommand) Run(w *world) error {
	if entries, err := os.ReadDir(c.To); err == nil && len(entries) > 0 {
		return fmt.Errorf("%q is not empty; a backup goes into a directory of its own", c.To)
	}
	var done *copied
	var fresh bool
	var missing, err error
	w.during("waiting for a checkpoint of "+c.Dir, func() { fresh, missing = freshCheckpoint(c.Dir, c.CheckpointTimeout, w.signals) })
	if errors.Is(missing, errStopped) {
		return missing
	}
	if missing != nil {
		fmt.Fprintf(w.stderr, "kohort: copying without a new checkpoint: %s\n", sentence(missing))
	}
	w.during("copying "+c.Dir, func() { done, err = backup(c.Dir, c.To, w.signals) })
	if err != nil {
		return err
	}
	done.Fresh = fresh
	if c.Output == "json" {
		return w.printJSON(done)
	}
	fmt.Fprintf(w.stdout, "%s: %s, %d bytes, checkpoint at entry %d and %s to replay; a start on it was tried and went well\n",
		done.To, count(done.Files, "file"), done.Bytes, done.Checkpoint, count(done.Replays, "frame"))
	fmt.Fprintf(w.stdout, "restore it with: kohort serve --data %s\n", done.To)
	return nil
}

// backup copies until a copy is whole: a running broker may drop what a checkpoint has replaced while it is being
// copied. Each copy is proved by trying a start on it.
func backup(from, to string, stop <-chan os.Signal) (*copied, error) {
	for try := 1; ; try++ {
		done, err := copyDir(from, to, stop)
		if err == nil {
			var v *verdict
			if v, err = lookAt(to); err == nil {
				if v.Starts && len(v.Damage) == 0 {
					done.Tries, done.Replays = try, v.Replayed
					return done, nil
				}
				err = errors.New(problem(v))
			}
		}
		if errors.Is(err, errStopped) {
			return nil, errors.Join(err, os.RemoveAll(to))
		}
		if _, running := vfs.Holder(path.Join(from, partitionlog.LockFile)); !running || try == looks {
			return nil, errors.Join(fmt.Errorf("no whole copy of %q: %w; `kohort log verify` says more", from, err), os.RemoveAll(to))
		}
		if err := os.RemoveAll(to); err != nil {
			return nil, err
		}
	}
}

// problem is the first thing that is wrong.
func problem(v *verdict) string {
	if !v.Starts {
		return v.Refusal
	}
	return fmt.Sprintf("%s at %d: %s", v.Damage[0].File, v.Damage[0].Position, v.Damage[0].Reason)
}

// copyDir makes one copy: the table as it is now, then the journal, then what that table knows of the segments. The
// journal is as old as the table or newer, so a recovery brings the segments from the one to the other. The name of
// the meta file comes last: what has none is no data directory.
func copyDir(from, to string, stop <-chan os.Signal) (*copied, error) {
	done := &copied{Dir: from, To: to, stop: stop}
	_, done.Running = vfs.Holder(path.Join(from, partitionlog.LockFile))
	o, err := capture(from)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	layout, err := partitionlog.ReadLayout(o, from)
	if err != nil {
		return nil, err
	}
	done.Checkpoint = layout.LSN
	for _, topic := range layout.Topics {
		for _, p := range topic.Partitions {
			for _, g := range p.Segments {
				if err := done.copyFile(o, g.Path, g.Size); err != nil {
					return nil, err
				}
			}
		}
	}
	names, err := o.List(path.Join(from, partitionlog.JournalDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		if filepath.Ext(name) == ".journal" {
			if err := done.copyFile(o, path.Join(partitionlog.JournalDir, name), -1); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range []string{partitionlog.TableFile, partitionlog.MetaFile} {
		if err := done.copyFile(o, name, -1); err != nil {
			return nil, err
		}
	}
	return done, syncTree(to)
}

// copyFile copies the first bytes of a file, or all of them, and syncs them.
func (c *copied) copyFile(o *vfs.Overlay, name string, size int64) error {
	select {
	case <-c.stop:
		return errStopped
	default:
	}
	f, err := o.Open(path.Join(c.Dir, name))
	if err != nil {
		return err
	}
	if size < 0 {
		if size, err = f.Size(); err != nil {
			return err
		}
	}
	target := filepath.Join(c.To, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.NewSectionReader(f, 0, size))
	if err == nil && n < size {
		err = fmt.Errorf("%q has %d bytes, and should have %d", path.Join(c.Dir, name), n, size)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	c.Files++
	c.Bytes += n
	return nil
}

// syncTree makes the names in a directory and in all below it durable.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return vfs.OS.SyncDir(name)
	})
}
