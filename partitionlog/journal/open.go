package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// Report says what Open found.
type Report struct {
	Frames  int    // handed out
	LastLSN uint64 // of the last frame, handed out or not
	// A torn tail that was cut off: the bytes that its frame took, and where. CutFile is "" when there was none.
	CutBytes int64
	CutFile  string
	CutAt    int64
}

// Open recovers a journal: it cuts a torn tail, makes the last frame durable, and then calls fn with the payload of
// every frame whose LSN is above after, in order. A payload is valid only within the call. Frames up to after count
// as released.
//
// With NoSync, a journal that ends before after is accepted: the power cut that ate its end left the checkpoint.
//
// Errors: ErrMissing, ErrForeign, ErrVersion, *DamageError; what the disk or fn returned.
func Open(c Config, after uint64, fn func(lsn uint64, payload []byte) error) (*Journal, Report, error) {
	if err := c.fill(); err != nil {
		return nil, Report{}, err
	}
	r := recovery{j: newJournal(c), after: after}
	if err := r.run(fn); err != nil {
		if f := r.j.appender.file; f != nil {
			err = errors.Join(err, f.Close())
		}
		return nil, r.report, err
	}
	r.j.start()
	return r.j, r.report, nil
}

// listFiles returns the numbers of the journal's files in order.
func listFiles(c Config) ([]uint64, error) {
	names, err := c.FS.List(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: no directory %q; restore it, or begin with an empty data directory", ErrMissing, c.Dir)
	}
	if err != nil {
		return nil, err
	}
	var seqs []uint64
	for _, name := range names {
		if seq, ok := parseFileName(name); ok {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return seqs, nil
}

// found is a file, as recovery sees it.
type found struct {
	logFile
	scanned
	header fileHeader
}

// recovery is the state of one Open.
type recovery struct {
	j      *Journal
	after  uint64
	report Report
	buf    []byte

	files []found
	tail  int // index of the last file with a frame
}

func (r *recovery) run(fn func(lsn uint64, payload []byte) error) error {
	j := r.j
	seqs, err := listFiles(j.c)
	if err != nil {
		return err
	}
	if len(seqs) == 0 {
		return fmt.Errorf("%w: no file in %q; restore it, or begin with an empty data directory", ErrMissing, j.c.Dir)
	}
	for _, seq := range seqs {
		f, err := r.read(seq)
		if err != nil {
			return err
		}
		r.files = append(r.files, f)
		if len(f.frames) > 0 {
			r.tail = len(r.files) - 1
		}
	}
	ch, err := link(r.files[:r.tail+1], r.after, j.path)
	if err != nil {
		return err
	}
	if err := r.checkSpares(); err != nil {
		return err
	}
	if ch.last < r.after && !j.c.NoSync {
		return &DamageError{
			File: j.path(r.files[r.tail].seq), Position: r.files[r.tail].end,
			Reason: fmt.Sprintf("it ends with frame %d, but the checkpoint holds frame %d", ch.last, r.after),
		}
	}
	if err := r.adopt(ch); err != nil {
		return err
	}
	if err := r.mend(); err != nil {
		return err
	}
	return r.replay(ch, fn)
}

// read scans one file.
func (r *recovery) read(seq uint64) (f found, err error) {
	name := r.j.path(seq)
	file, err := r.j.c.FS.Open(name)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return f, err
	}
	page := make([]byte, min(size, pageBytes))
	if err := readFull(file, page, 0); err != nil {
		return f, err
	}
	if f.header, err = decodeHeader(name, page, r.j.c.DirID); err != nil {
		return f, err
	}
	if f.header.seq != seq {
		return f, &DamageError{File: name, Reason: fmt.Sprintf("its header says that it is %q", fileName(f.header.seq))}
	}
	if f.header.size != size || size > maxFileBytes || size%pageBytes != 0 {
		return f, &DamageError{File: name, Position: size, Reason: fmt.Sprintf("it has %d bytes, its header says %d", size, f.header.size)}
	}
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	b := r.buf[:size]
	if err := readFull(file, b, 0); err != nil {
		return f, err
	}
	f.logFile = logFile{seq: seq, size: size}
	f.scanned = scan(b, newPlace(r.j.c.DirID, seq))
	if f.later > 0 {
		return f, &DamageError{File: name, Position: f.end, Reason: fmt.Sprintf("no good frame, but there is a later one at %d", f.later)}
	}
	return f, nil
}

// readFull fills b; the end of the file right behind it is no error.
func readFull(file vfs.File, b []byte, pos int64) error {
	n, err := file.ReadAt(b, pos)
	if n == len(b) {
		return nil
	}
	return err
}

// checkSpares wants the files behind the tail to follow it without holes.
func (r *recovery) checkSpares() error {
	for i := r.tail + 1; i < len(r.files); i++ {
		if prev, f := r.files[i-1].seq, r.files[i].seq; f != prev+1 {
			return &DamageError{File: r.j.path(prev + 1), Reason: fmt.Sprintf("it is missing between %q and %q", fileName(prev), fileName(f))}
		}
	}
	return nil
}

// adopt takes over what was found. Files that recovery can do without are unlinked: leftovers below a hole in the
// numbers, and spares of another size.
func (r *recovery) adopt(ch chain) error {
	j := r.j
	j.incarnation, j.lastLSN, j.released = max(ch.incarnation, 1), ch.last, r.after
	j.newest = j.incarnation
	for _, f := range r.files {
		j.newest = max(j.newest, f.header.incarnation)
	}
	unlink := func(f found) error { return j.c.FS.Remove(j.path(f.seq)) }
	for _, f := range r.files[:ch.first] {
		if err := unlink(f); err != nil {
			return err
		}
	}
	for i := ch.first; i < r.tail; i++ {
		f := r.files[i].logFile
		f.last = ch.lastOf[i]
		j.live = append(j.live, f)
	}
	tail := r.files[r.tail]
	keep := r.tail + 1
	for keep < len(r.files) && r.files[keep].size == j.c.FileBytes && r.files[keep].torn == 0 {
		j.spares = append(j.spares, r.files[keep].logFile)
		keep++
	}
	for i := len(r.files) - 1; i >= keep; i-- { // from the end, so that a crash leaves no hole
		if err := unlink(r.files[i]); err != nil {
			return err
		}
		if err := j.c.FS.SyncDir(j.c.Dir); err != nil {
			return err
		}
	}
	j.nextSeq = r.files[keep-1].seq + 1
	if err := j.c.FS.Remove(filepath.Join(j.c.Dir, tempName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Names, too, may be in the cache only: the process before may have died of the very error of this sync.
	for _, dir := range []string{j.c.Dir, filepath.Dir(j.c.Dir)} {
		if err := j.c.FS.SyncDir(dir); err != nil {
			return err
		}
	}
	return j.activate(tail.logFile, tail.end)
}

// mend makes the tail safe to build upon: the last frame is written again, what is behind it is zeroed if it is torn,
// and both are synced. A torn spare was unlinked by adopt.
func (r *recovery) mend() error {
	j := r.j
	for _, f := range r.files[r.tail:] {
		if f.torn > 0 {
			r.report.CutBytes, r.report.CutFile, r.report.CutAt = f.torn, j.path(f.seq), f.end
			break
		}
	}
	a, tail := &j.appender, r.files[r.tail]
	if tail.torn > 0 {
		zeros := make([]byte, zeroChunkBytes)
		for pos := tail.end; pos < tail.size; pos += int64(len(zeros)) {
			if _, err := a.file.WriteAt(zeros[:min(int64(len(zeros)), tail.size-pos)], pos); err != nil {
				return err
			}
		}
	}
	if n := len(tail.frames); n > 0 {
		last := tail.frames[n-1]
		b := r.buf[:last.pages()]
		if err := readFull(a.file, b, last.pos); err != nil {
			return err
		}
		if _, err := a.file.WriteAt(b, last.pos); err != nil {
			return err
		}
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	if j.lastLSN >= r.after {
		return nil
	}
	// Only with NoSync: all frames are released, and the next one gets the number that the checkpoint implies.
	j.mu.Lock()
	j.lastLSN = r.after
	j.retire()
	j.mu.Unlock()
	return j.Restart()
}

// replay hands out the frames.
func (r *recovery) replay(ch chain, fn func(lsn uint64, payload []byte) error) error {
	r.report.LastLSN = r.j.lastLSN
	var file vfs.File
	defer func() {
		if file != nil {
			_ = file.Close() // it was only read
		}
	}()
	open := -1
	for _, at := range ch.frames {
		if at.lsn <= r.after {
			continue
		}
		if open != at.file {
			if file != nil {
				_ = file.Close() // it was only read
			}
			f, err := r.j.c.FS.Open(r.j.path(r.files[at.file].seq))
			if err != nil {
				return err
			}
			file, open = f, at.file
		}
		payload, err := r.payload(file, at)
		if err != nil {
			return err
		}
		if err := fn(at.lsn, payload); err != nil {
			return err
		}
		r.report.Frames++
	}
	r.buf = nil
	r.j.mu.Lock()
	defer r.j.mu.Unlock()
	r.j.retire()
	return nil
}

// payload reads a frame for the second time and trusts it no more than the first time.
func (r *recovery) payload(file vfs.File, at located) ([]byte, error) {
	b := r.buf[:at.pages()]
	if err := readFull(file, b, at.pos); err != nil {
		return nil, err
	}
	p := newPlace(r.j.c.DirID, r.files[at.file].seq)
	if f, ok := decodeFrame(b, p, at.pos); !ok || f != at.frame || p.sum(at.pos, b[frameHeaderBytes:][:f.length]) != f.payloadCRC {
		return nil, &DamageError{File: r.j.path(p.seq), Position: at.pos, Reason: "the disk returned other bytes than a moment ago"}
	}
	return b[frameHeaderBytes:][:at.length:at.length], nil
}
