package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/journal"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// looks is how often a directory is looked at anew when a running broker changed it in the middle of a look.
const looks = 10

// logVerifyCommand is `kohort log verify`.
type logVerifyCommand struct {
	Dir    string `arg:"" help:"Data directory."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// verdict is what `kohort log verify` finds.
type verdict struct {
	Dir        string    `json:"dir"`
	Running    bool      `json:"running"` // a broker has the directory
	Pid        int       `json:"pid,omitempty"`
	Starts     bool      `json:"starts"` // a broker would start on it
	Refusal    string    `json:"refusal,omitempty"`
	Checkpoint uint64    `json:"checkpoint"`
	Epoch      int32     `json:"leaderEpoch"`
	Replayed   int64     `json:"replayed"` // frames above the checkpoint
	Cuts       []finding `json:"cuts"`     // what a start would cut off; none of it was acknowledged
	Damage     []finding `json:"damage"`
	Topics     int       `json:"topics"`
	Partitions int       `json:"partitions"`
	Batches    int64     `json:"batches"`
	Records    int64     `json:"records"`
}

// finding is a place in a file.
type finding struct {
	File     string `json:"file"`
	Position int64  `json:"position"`
	Bytes    int64  `json:"bytes,omitempty"`
	Reason   string `json:"reason"`
}

// Run checks a directory. The exit code is 0 only if a broker would start, and nothing is damaged.
func (c *logVerifyCommand) Run(w *world) error {
	var v *verdict
	var err error
	if stopped := w.look("checking "+c.Dir, func() { v, err = verify(c.Dir) }); stopped != nil {
		return stopped
	}
	if err != nil {
		return err
	}
	if c.Output == "json" {
		err = w.printJSON(v)
	} else {
		_, err = fmt.Fprint(w.stdout, v)
	}
	switch {
	case err != nil:
		return err
	case !v.Starts:
		return fmt.Errorf("%s: a broker would not start", c.Dir)
	case len(v.Damage) > 0:
		return fmt.Errorf("%s: %s damaged", c.Dir, countIs(len(v.Damage), "place"))
	}
	return nil
}

// String is the verdict for people.
func (v *verdict) String() string {
	var b strings.Builder
	switch {
	case v.Running:
		fmt.Fprintf(&b, "%s   in use by process %d; checked as it was at one moment\n", v.Dir, v.Pid)
	default:
		fmt.Fprintf(&b, "%s   not in use\n", v.Dir)
	}
	if v.Starts {
		fmt.Fprintf(&b, "would start: yes, with leader epoch %d; checkpoint at entry %d, and %s to replay\n", v.Epoch, v.Checkpoint, count(v.Replayed, "frame"))
		fmt.Fprintf(&b, "holds: %s, %s, %s, %s\n", count(v.Topics, "topic"), count(v.Partitions, "partition"),
			strings.Replace(count(v.Batches, "batch"), "batchs", "batches", 1), count(v.Records, "record"))
	} else {
		fmt.Fprintf(&b, "would start: no: %s\n", v.Refusal)
	}
	for _, f := range v.Cuts {
		fmt.Fprintf(&b, "would cut: %s at %d, %s: %s\n", f.File, f.Position, count(f.Bytes, "byte"), f.Reason)
	}
	for _, f := range v.Damage {
		fmt.Fprintf(&b, "DAMAGED: %s at %d: %s\n", f.File, f.Position, f.Reason)
	}
	if v.Starts && len(v.Cuts)+len(v.Damage) == 0 {
		b.WriteString("nothing to cut, nothing damaged\n")
	}
	return b.String()
}

// verify looks at a directory until a look was not disturbed.
func verify(dir string) (*verdict, error) {
	for look := 1; ; look++ {
		before, _ := os.ReadFile(filepath.Join(dir, partitionlog.TableFile))
		v, err := lookAt(dir)
		switch {
		case err != nil && v != nil && v.Running && look < looks && errors.Is(err, fs.ErrNotExist):
			continue // a segment that was being read is no longer part of the log
		case err != nil:
			return nil, err
		}
		if v.Starts && len(v.Damage) == 0 || !v.Running || look == looks {
			return v, nil
		}
		after, _ := os.ReadFile(filepath.Join(dir, partitionlog.TableFile))
		if bytes.Equal(before, after) && look > looks/2 {
			return v, nil // nothing moves, so it is not the broker's work that disturbed the look
		}
	}
}

// capture holds fast what a start reads: the table; then the segments that it names, opened only, for what the table
// knows of them does not change any more; then the journal. No frame above the table's is missing unless a checkpoint
// comes between, and then the recovery says so.
func capture(dir string) (*vfs.Overlay, error) {
	o := vfs.NewOverlay()
	for _, name := range []string{partitionlog.MetaFile, partitionlog.TableFile} {
		if err := o.Capture(path.Join(dir, name)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%q has no file %q, so it is no data directory; `kohort serve --data DIR` makes one", dir, name)
			}
			return nil, err
		}
	}
	if layout, err := partitionlog.ReadLayout(o, dir); err == nil { // else the recovery says what is wrong
		for _, topic := range layout.Topics {
			for _, p := range topic.Partitions {
				for _, g := range p.Segments {
					o.Hold(path.Join(dir, g.Path))
				}
			}
		}
	}
	if err := o.CaptureDir(path.Join(dir, partitionlog.JournalDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.Close()
		return nil, err
	}
	return o, nil
}

// lookAt tries what a start would do, on an overlay that keeps all changes to itself, and reads everything. With an
// error, the verdict tells only whether the directory is in use.
func lookAt(dir string) (*verdict, error) {
	v := &verdict{Dir: dir, Cuts: []finding{}, Damage: []finding{}}
	v.Pid, v.Running = vfs.Holder(path.Join(dir, partitionlog.LockFile))
	o, err := capture(dir)
	if err != nil {
		return v, err
	}
	defer o.Close()
	v.tornTails(o, dir)
	if layout, err := partitionlog.ReadLayout(o, dir); err == nil {
		v.Checkpoint = layout.LSN
	}
	store, err := partitionlog.Open(partitionlog.Config{
		Dir: dir, FS: o, MaintenanceInterval: -1,
		Observe: func(e partitionlog.Event) {
			if e.Kind == partitionlog.EventRecovered {
				v.Replayed = e.Count
			}
		},
	})
	if err != nil {
		v.Refusal = sentence(err)
		var damaged *journal.DamageError
		if errors.As(err, &damaged) {
			v.Damage = append(v.Damage, finding{File: below(dir, damaged.File), Position: damaged.Position, Reason: damaged.Reason})
		}
		return v, nil
	}
	v.Starts, v.Epoch = true, store.LeaderEpoch()
	for _, topic := range store.Topics() {
		v.Topics++
		for _, p := range topic.Partitions {
			v.Partitions++
			if err := v.partition(o, dir, p); err != nil {
				return v, errors.Join(err, store.Close())
			}
		}
	}
	return v, store.Close()
}

// below returns a file's name below the directory.
func below(dir, file string) string {
	if relative, err := filepath.Rel(dir, file); err == nil {
		return relative
	}
	return file
}

// tornTails finds what a start would cut off the journal. It is in the middle of a write if a broker runs.
func (v *verdict) tornTails(o *vfs.Overlay, dir string) {
	names, err := o.List(path.Join(dir, partitionlog.JournalDir))
	if err != nil {
		return // the recovery says what is wrong
	}
	for _, name := range names {
		file := path.Join(dir, partitionlog.JournalDir, name)
		b, err := readAll(o, file)
		if err != nil || !strings.HasSuffix(name, ".journal") {
			continue
		}
		if found, err := journal.Inspect(file, b); err == nil && found.Torn > 0 && found.Later == 0 {
			v.Cuts = append(v.Cuts, finding{below(dir, file), found.End, found.Torn, "a torn frame, which was never acknowledged"})
		}
	}
}

// readAll reads a file of the overlay.
func readAll(o *vfs.Overlay, name string) ([]byte, error) {
	f, err := o.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if size == 0 {
		return b, nil
	}
	_, err = f.ReadAt(b, 0)
	return b, err
}

// partition reads every batch and record of a partition, as a recovery has left it.
func (v *verdict) partition(o *vfs.Overlay, dir string, p *partitionlog.Partition) error {
	logStart, end := p.Offsets()
	for _, name := range p.SegmentFiles() {
		f, err := o.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			v.Damage = append(v.Damage, finding{File: below(dir, name), Reason: "it is missing"})
			continue
		}
		if err != nil {
			return err
		}
		size, err := f.Size()
		if err != nil {
			return err
		}
		err = walkSegment(f, size, func(at int64, b partitionlog.Batch, bad *damage) error {
			switch {
			case bad != nil:
				v.Damage = append(v.Damage, finding{below(dir, name), at, bad.bytes, bad.reason})
			case b.NextOffset() > end:
				v.Damage = append(v.Damage, finding{below(dir, name), at, int64(len(b)), fmt.Sprintf("offset %d is beyond the end, %d", b.LastOffset(), end)})
			case b.LastOffset() >= logStart:
				v.Batches++
				if err := v.records(p.Topic(), b); err != nil {
					v.Damage = append(v.Damage, finding{below(dir, name), at, int64(len(b)), err.Error()})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// records reads the records of a batch; those of the offsets topic must be such that a start can load them.
func (v *verdict) records(topic string, b partitionlog.Batch) error {
	return b.Records(func(r partitionlog.Record) error {
		v.Records++
		if !offsets(topic) || b.IsControl() {
			return nil
		}
		_, err := offsetslog.Decode(r.Key, r.Value)
		return err
	})
}
