package journal

import "fmt"

// located is a frame that counts, and the index of its file.
type located struct {
	placed
	file int
}

// chain is the one order of frames that several files hold.
//
// Invariant: frames[i+1].lsn = frames[i].lsn + 1.
type chain struct {
	frames      []located
	first       int      // index of the oldest file that counts
	lastOf      []uint64 // by file: the last LSN that counts there or before
	last        uint64
	incarnation uint64
}

// link puts the frames of files in order and leaves out those of abandoned incarnations. Holes in what lies at or
// below after are permitted between files: a recycling that a crash undid halfway leaves them.
//
// Errors: *DamageError.
func link(files []found, after uint64, path func(seq uint64) string) (chain, error) {
	ch := chain{lastOf: make([]uint64, len(files))}
	known := false // whether last means anything
	for i, f := range files {
		hole := i > 0 && f.seq != files[i-1].seq+1
		for k, fr := range f.frames {
			damage := func(format string, args ...any) (chain, error) {
				return chain{}, &DamageError{File: path(f.seq), Position: fr.pos, Reason: fmt.Sprintf(format, args...)}
			}
			switch {
			case fr.kind == kindBegin && k > 0:
				return damage("an incarnation begins in the middle of the file")
			case fr.kind == kindBegin && fr.incarnation <= ch.incarnation:
				return damage("incarnation %d begins after %d", fr.incarnation, ch.incarnation)
			case fr.kind == kindData && known && fr.incarnation != ch.incarnation:
				return damage("incarnation %d within %d", fr.incarnation, ch.incarnation)
			}
			before := fr.lsn // the last LSN before this frame
			if fr.kind == kindData {
				before--
			}
			if fr.kind == kindBegin {
				ch.abandonAbove(before)
			}
			first := !known && after >= before
			jump := k == 0 && before > ch.last && before <= after // released frames are missing
			if !first && !jump && (!known || before != ch.last) {
				return damage("frame %d follows frame %d", before+1, ch.last)
			}
			if first || jump || hole && before <= after {
				ch.frames, ch.first = ch.frames[:0], i
				hole = false
			}
			if hole {
				return damage("the file before it is missing")
			}
			known, ch.incarnation, ch.last = true, fr.incarnation, fr.lsn
			if fr.kind == kindData {
				ch.frames = append(ch.frames, located{placed: fr, file: i})
			}
		}
		ch.lastOf[i] = ch.last
	}
	return ch, nil
}

// abandonAbove drops frames that were never acknowledged.
func (ch *chain) abandonAbove(lsn uint64) {
	for n := len(ch.frames); n > 0 && ch.frames[n-1].lsn > lsn; n-- {
		ch.frames = ch.frames[:n-1]
	}
	ch.last = min(ch.last, lsn)
}
