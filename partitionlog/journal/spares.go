package journal

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// zeroChunkBytes is how much is written at once to a file in the making.
const zeroChunkBytes = 256 << 10

// start begins to make spares in the background. Before it, they are made when they are needed.
func (j *Journal) start() {
	if j.c.inline {
		return
	}
	j.started = true
	j.background.Go(func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		for !j.closing {
			if j.spareErr == nil && j.wantsSpare() {
				j.makeSpare()
				continue
			}
			j.changed.Wait()
		}
	})
}

// wantsSpare reports whether a file should be recycled or made. The lock is held.
func (j *Journal) wantsSpare() bool {
	if len(j.retired) > 0 {
		return true
	}
	total := len(j.live) + 1 + len(j.spares)
	return len(j.spares) < spareTarget && total < j.c.Files
}

// makeSpare adds one spare, out of a released file if there is one, or notes why it could not. It is called with the
// lock held and lets go of it while it works.
func (j *Journal) makeSpare() {
	var old *logFile
	if len(j.retired) > 0 {
		f := j.retired[0]
		old = &f
		j.retired = append(j.retired[:0], j.retired[1:]...)
	}
	seq := j.nextSeq
	surplus := len(j.live)+1+len(j.spares)+len(j.retired) >= j.c.Files
	j.mu.Unlock()
	var f logFile
	var err error
	if surplus {
		err = j.drop(old)
	} else {
		f, err = j.makeFile(old, seq)
	}
	j.mu.Lock()
	switch {
	case err != nil:
		j.spareErr = err
		if old != nil {
			j.retired = append([]logFile{*old}, j.retired...)
		}
	case !surplus:
		j.nextSeq++
		j.spares = append(j.spares, f)
	case old == nil:
		j.spareErr = ErrFull
	}
	j.changed.Broadcast()
}

// drop unlinks a released file that is one too many.
func (j *Journal) drop(old *logFile) error {
	if old == nil {
		return nil
	}
	if err := j.c.FS.Remove(j.path(old.seq)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return j.c.FS.SyncDir(j.c.Dir)
}

// makeFile makes the file with number seq, out of an old one unless nil. Its header is durable before it has its
// name, and the old name is durably gone before the header changes:
//
//	old name -> temporary name, sync directory, header, sync file, -> new name, sync directory
//
// A crash anywhere leaves either the old file, or a temporary one, or the new one.
func (j *Journal) makeFile(old *logFile, seq uint64) (f logFile, err error) {
	temp := filepath.Join(j.c.Dir, tempName)
	recycled := false
	if old != nil {
		if recycled, err = j.takeName(*old, temp); err != nil {
			return f, err
		}
	}
	j.mu.Lock()
	h := fileHeader{dirID: j.c.DirID, seq: seq, incarnation: j.newest, size: j.c.FileBytes}
	j.mu.Unlock()
	if err := j.fillFile(temp, recycled, h); err != nil {
		return f, err
	}
	if err := j.c.FS.Rename(temp, j.path(seq)); err != nil {
		return f, err
	}
	if err := j.c.FS.SyncDir(j.c.Dir); err != nil {
		return f, err
	}
	return logFile{seq: seq, size: j.c.FileBytes}, nil
}

// takeName gives an old file the temporary name, durably. It reports whether the file is of use: there, and of the
// right size. It is gone when an earlier attempt came this far and went wrong later.
func (j *Journal) takeName(old logFile, temp string) (usable bool, err error) {
	err = j.c.FS.Rename(j.path(old.seq), temp)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := j.c.FS.SyncDir(j.c.Dir); err != nil {
		return false, err
	}
	return old.size == j.c.FileBytes, nil
}

// fillFile writes the header, and before it zeros unless the file is recycled. A leftover is unlinked, not
// truncated: if its way to the temporary name is not durable, it must still be whole under its old one.
func (j *Journal) fillFile(name string, recycled bool, h fileHeader) (err error) {
	open := j.c.FS.Open
	if !recycled {
		if err := j.c.FS.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		open = j.c.FS.Create
	}
	file, err := open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if !recycled {
		zeros := make([]byte, min(zeroChunkBytes, h.size))
		for pos := int64(0); pos < h.size; pos += int64(len(zeros)) {
			zeros = zeros[:min(int64(len(zeros)), h.size-pos)]
			if _, err := file.WriteAt(zeros, pos); err != nil {
				return err
			}
		}
	}
	if _, err := file.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	return file.Sync()
}
