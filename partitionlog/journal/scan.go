package journal

// placed is a good frame and where it lies.
type placed struct {
	frame
	pos int64
}

// scanned is what one file holds.
type scanned struct {
	frames []placed
	end    int64 // behind the last good frame
	torn   int64 // bytes of what is left of a frame at end; 0 = none
	later  int64 // position of a frame's header behind end; 0 = none
}

// scan reads the frames of a file whose whole content is b. It knows no order but that of the pages.
//
// Invariant: at most one frame is under way when power fails, so a header of this file behind a bad frame proves
// that the bad one was acknowledged.
func scan(b []byte, p place) scanned {
	s := scanned{end: pageBytes}
	for s.end < int64(len(b)) {
		f, ok := decodeFrame(b[s.end:], p, s.end)
		if !ok || p.sum(s.end, b[s.end+frameHeaderBytes:][:f.length]) != f.payloadCRC {
			break
		}
		s.frames = append(s.frames, placed{frame: f, pos: s.end})
		s.end += f.pages()
	}
	for pos := s.end; pos+frameHeaderBytes <= int64(len(b)); pos += pageBytes {
		f, ok := decodeFrame(b[pos:], p, pos)
		switch {
		case pos > s.end && ok:
			s.later = pos
			return s
		case pos == s.end && ok:
			s.torn = f.pages()
		case pos == s.end && resembles(b[pos:], p):
			s.torn = pageBytes
		}
	}
	return s
}
