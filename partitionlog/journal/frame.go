package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// A frame begins on a page and is followed by zeros up to the next one. Numbers are little-endian.
//
//	Shape:
//	   0 | magic "kfrm"      | crc32c of salt, 8 to 48 |
//	   8 | payload length    | crc32c of salt, payload |
//	  16 | kind (4 bytes)    | zero                    |
//	  24 | incarnation                                 |
//	  32 | LSN                                         |
//	  40 | number of the file                          |
//	  48 | payload ...                                 |
//
// The salt is directory id, number of the file and position in it. The header has a checksum of its own, so that a
// length is believed before the payload is read.
const (
	frameMagic       = 0x6d72666b
	frameHeaderBytes = 48
)

// The kinds of frames.
const (
	kindData  = 1
	kindBegin = 2 // a new incarnation begins after LSN; no payload, alone in using that LSN twice
)

type frame struct {
	kind        uint32
	length      int // of the payload
	incarnation uint64
	lsn         uint64
	payloadCRC  uint32
}

// pages is the number of bytes that the frame takes in its file.
func (f frame) pages() int64 { return framePages(f.length) }

func framePages(payload int) int64 {
	return (int64(payload) + frameHeaderBytes + pageBytes - 1) &^ (pageBytes - 1)
}

// place is what the checksums are salted with. It is the start of the checksums: a value, to spare allocations.
type place struct {
	dirCRC uint32 // of the directory id and the file's number
	seq    uint64
}

func newPlace(dirID [16]byte, seq uint64) place {
	var b [24]byte
	copy(b[:], dirID[:])
	binary.LittleEndian.PutUint64(b[16:], seq)
	return place{dirCRC: crc32.Checksum(b[:], castagnoli), seq: seq}
}

// sum is the salted checksum. The position is folded in without a buffer, which would escape to the heap.
func (p place) sum(pos int64, b []byte) uint32 {
	return crc32.Update(p.dirCRC^uint32(pos/pageBytes)*0x9e3779b1, castagnoli, b)
}

// encodeFrame writes header, payload and padding to b, which has exactly framePages(len(payload)) bytes.
func encodeFrame(b []byte, p place, pos int64, kind uint32, incarnation, lsn uint64, payload []byte) {
	n := copy(b[frameHeaderBytes:], payload)
	clear(b[frameHeaderBytes+n:])
	binary.LittleEndian.PutUint32(b, frameMagic)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[12:], p.sum(pos, payload))
	binary.LittleEndian.PutUint32(b[16:], kind)
	binary.LittleEndian.PutUint32(b[20:], 0)
	binary.LittleEndian.PutUint64(b[24:], incarnation)
	binary.LittleEndian.PutUint64(b[32:], lsn)
	binary.LittleEndian.PutUint64(b[40:], p.seq)
	binary.LittleEndian.PutUint32(b[4:], p.sum(pos, b[8:frameHeaderBytes]))
}

// decodeFrame reads the header at the start of b, which is the file from pos to its end.
func decodeFrame(b []byte, p place, pos int64) (f frame, ok bool) {
	if len(b) < frameHeaderBytes || binary.LittleEndian.Uint32(b) != frameMagic ||
		binary.LittleEndian.Uint32(b[4:]) != p.sum(pos, b[8:frameHeaderBytes]) {
		return f, false
	}
	length := int64(binary.LittleEndian.Uint32(b[8:]))
	f = frame{
		kind:        binary.LittleEndian.Uint32(b[16:]),
		incarnation: binary.LittleEndian.Uint64(b[24:]),
		lsn:         binary.LittleEndian.Uint64(b[32:]),
		payloadCRC:  binary.LittleEndian.Uint32(b[12:]),
	}
	if length > int64(len(b)-frameHeaderBytes) || (f.kind != kindData && f.kind != kindBegin) || binary.LittleEndian.Uint64(b[40:]) != p.seq {
		return f, false
	}
	f.length = int(length)
	return f, true
}

// resembles reports whether b begins with what is left of a frame of this very file, in contrast to one of the
// file's former life.
func resembles(b []byte, p place) bool {
	return binary.LittleEndian.Uint32(b) == frameMagic && binary.LittleEndian.Uint64(b[40:]) == p.seq
}
