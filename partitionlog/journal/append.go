package journal

import (
	"errors"
	"fmt"
	"time"
)

// Append makes a payload durable as the next frame: one write, one fdatasync, no allocation once the buffer has its
// size. An empty payload is a frame too.
//
// Errors: ErrTooLarge, ErrFull and ErrNoSpare, after which all is as before; ErrFailed until Restart has succeeded;
// ErrClosed. After any other error, which is the disk's, nobody knows whether the frame is durable: the journal has
// failed.
func (j *Journal) Append(payload []byte) (lsn uint64, err error) {
	a := &j.appender
	if a.cause != nil {
		return 0, fmt.Errorf("%w: %w", ErrFailed, a.cause)
	}
	if len(payload) > j.MaxPayload() {
		return 0, fmt.Errorf("%w: %d bytes, %d are permitted", ErrTooLarge, len(payload), j.MaxPayload())
	}
	size := framePages(len(payload))
	if a.pos+size > a.active.size {
		if err := j.nextFile(j.c.Files - 1); err != nil {
			return 0, err
		}
	}
	j.mu.Lock()
	lsn, incarnation, closing := j.lastLSN+1, j.incarnation, j.closing
	j.mu.Unlock()
	if closing {
		return 0, ErrClosed
	}
	if err := j.write(kindData, incarnation, lsn, payload); err != nil {
		return 0, err
	}
	j.mu.Lock()
	j.lastLSN, j.activePos = lsn, a.pos
	j.retire()
	j.mu.Unlock()
	return lsn, nil
}

// write puts one frame behind the last and syncs. A failure is remembered.
func (j *Journal) write(kind uint32, incarnation, lsn uint64, payload []byte) error {
	a := &j.appender
	size := framePages(len(payload))
	if int64(cap(a.buf)) < size {
		a.buf = make([]byte, size, max(size, min(2*size, j.c.FileBytes)))
	}
	b := a.buf[:size]
	encodeFrame(b, a.place, a.pos, kind, incarnation, lsn, payload)
	if _, err := a.file.WriteAt(b, a.pos); err != nil {
		a.cause = err
		return err
	}
	if !j.c.NoSync {
		began := time.Now()
		if err := a.file.Sync(); err != nil {
			a.cause = err
			return err
		}
		if j.c.Observe != nil {
			j.c.Observe(time.Since(began), int(size))
		}
	}
	a.pos += size
	return nil
}

// ErrNoSpare says that the next file could not be made, for lack of space or because of the disk. The journal has
// not failed: what was acknowledged is safe, and the call may be repeated.
var ErrNoSpare = errors.New("next journal file could not be made")

// nextFile goes on in the next spare, and waits for it where there is none yet. permitted is how many files may be
// in use then.
//
// Errors: ErrFull, ErrNoSpare, ErrClosed.
func (j *Journal) nextFile(permitted int) error {
	a := &j.appender
	j.mu.Lock()
	if len(j.live)+2 > permitted {
		j.mu.Unlock()
		return ErrFull
	}
	j.spareErr = nil
	j.changed.Broadcast()
	for len(j.spares) == 0 && !j.closing && j.spareErr == nil {
		if !j.started {
			j.makeSpare()
		} else {
			j.changed.Wait()
		}
	}
	if j.closing {
		j.mu.Unlock()
		return ErrClosed
	}
	if len(j.spares) == 0 {
		err := j.spareErr
		j.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrNoSpare, err)
	}
	next := j.spares[0]
	j.mu.Unlock()

	old, oldFile := a.active, a.file
	if err := j.activate(next, pageBytes); err != nil {
		return fmt.Errorf("%w: %w", ErrNoSpare, err)
	}
	j.mu.Lock()
	j.spares = append(j.spares[:0], j.spares[1:]...)
	old.last = j.lastLSN
	j.live = append(j.live, old)
	j.changed.Broadcast()
	j.mu.Unlock()
	// What the old file holds was synced frame by frame, or is not counted on: nothing to learn from an error.
	_ = oldFile.Close()
	return nil
}

// Restart heals a failed Append: it abandons the file and begins a new incarnation in another one. The next frame's
// LSN is one above the last acknowledged; the frame that failed will never be replayed. One file is kept back for it.
//
// Errors: of the disk; the journal is still failed then, and the caller had better give up.
func (j *Journal) Restart() error {
	a := &j.appender
	if err := j.nextFile(j.c.Files); err != nil {
		return err
	}
	j.mu.Lock()
	j.newest++
	incarnation, lsn := j.newest, j.lastLSN
	j.mu.Unlock()
	if err := j.write(kindBegin, incarnation, lsn, nil); err != nil {
		return err
	}
	a.cause = nil
	j.mu.Lock()
	j.incarnation, j.activePos = incarnation, a.pos
	j.retire()
	j.mu.Unlock()
	return nil
}
