package journal

// Inspection is what one file of a journal holds, as far as it tells by itself.
type Inspection struct {
	DirID       [16]byte
	Number      uint64
	Incarnation uint64 // when the file was made
	Frames      []Frame
	End         int64 // behind the last good frame
	Torn        int64 // bytes of what is left of a frame at End; 0 = none
	Later       int64 // position of a good frame's header behind End, which makes what is at End damage; 0 = none
}

// Frame is one frame of a file.
type Frame struct {
	Position    int64
	Incarnation uint64
	LSN         uint64
	Begin       bool   // a new incarnation begins after LSN
	Payload     []byte // aliases the file's bytes
}

// Inspect reads a whole file of a journal, whatever directory it belongs to. Whether the file follows the one before it
// is not its concern.
//
// Errors: ErrForeign, ErrVersion, *DamageError when it cannot be read at all.
func Inspect(name string, b []byte) (Inspection, error) {
	var dirID [16]byte
	if len(b) >= headerBytes {
		copy(dirID[:], b[16:])
	}
	h, err := decodeHeader(name, b, dirID)
	if err != nil {
		return Inspection{}, err
	}
	found := scan(b, newPlace(h.dirID, h.seq))
	i := Inspection{DirID: h.dirID, Number: h.seq, Incarnation: h.incarnation, End: found.end, Torn: found.torn, Later: found.later}
	for _, f := range found.frames {
		payload := b[f.pos+frameHeaderBytes:][:f.length:f.length]
		i.Frames = append(i.Frames, Frame{f.pos, f.incarnation, f.lsn, f.kind == kindBegin, payload})
	}
	return i, nil
}
