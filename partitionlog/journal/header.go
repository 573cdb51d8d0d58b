package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// pageBytes is the unit of alignment: the page of the kernel's cache and the largest sector of common disks.
const pageBytes = 4096

// formatVersion goes up with every change of the bytes.
const formatVersion = 1

// The header of a file has the first page for itself. Numbers are little-endian.
//
//	Shape:
//	   0 | magic "kohortjl"                        |
//	   8 | format version    | crc32c of 0 to 12   |   these 16 bytes never change their meaning
//	  16 | directory id                            |
//	  24 |                                         |
//	  32 | number of the file                      |
//	  40 | incarnation when the file was made      |
//	  48 | size of the file                        |
//	  56 | crc32c of 16 to 56  | zero               |
const (
	headerMagic = "kohortjl"
	headerBytes = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type fileHeader struct {
	dirID       [16]byte
	seq         uint64
	incarnation uint64
	size        int64
}

// encode returns the first page.
func (h fileHeader) encode() []byte {
	b := make([]byte, pageBytes)
	copy(b, headerMagic)
	binary.LittleEndian.PutUint32(b[8:], formatVersion)
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[:12], castagnoli))
	copy(b[16:], h.dirID[:])
	binary.LittleEndian.PutUint64(b[32:], h.seq)
	binary.LittleEndian.PutUint64(b[40:], h.incarnation)
	binary.LittleEndian.PutUint64(b[48:], uint64(h.size))
	binary.LittleEndian.PutUint32(b[56:], crc32.Checksum(b[16:56], castagnoli))
	return b
}

// decodeHeader keeps apart what is not ours, what is newer than we are, and what is damaged.
//
// Errors: ErrForeign, ErrVersion, *DamageError.
func decodeHeader(name string, b []byte, dirID [16]byte) (h fileHeader, err error) {
	if len(b) < headerBytes {
		return h, &DamageError{File: name, Reason: fmt.Sprintf("%d bytes are too few for a header", len(b))}
	}
	versionGood := crc32.Checksum(b[:12], castagnoli) == binary.LittleEndian.Uint32(b[12:])
	restGood := crc32.Checksum(b[16:56], castagnoli) == binary.LittleEndian.Uint32(b[56:])
	if string(b[:8]) != headerMagic && !restGood {
		return h, fmt.Errorf("%w: %q does not begin as one; give another directory, or move it away", ErrForeign, name)
	}
	if !versionGood {
		return h, &DamageError{File: name, Reason: "the checksum of its version is wrong"}
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v > formatVersion {
		return h, fmt.Errorf("%w: %q has format %d, this program knows %d; use a newer program", ErrVersion, name, v, formatVersion)
	} else if v < formatVersion {
		return h, &DamageError{File: name, Reason: fmt.Sprintf("there is no format %d", v)}
	}
	if !restGood {
		return h, &DamageError{File: name, Reason: "the checksum of its header is wrong"}
	}
	copy(h.dirID[:], b[16:])
	h.seq = binary.LittleEndian.Uint64(b[32:])
	h.incarnation = binary.LittleEndian.Uint64(b[40:])
	h.size = int64(binary.LittleEndian.Uint64(b[48:]))
	if h.dirID != dirID {
		return h, fmt.Errorf("%w: %q belongs to directory %x, not to %x; restore the directory as a whole", ErrForeign, name, h.dirID, dirID)
	}
	return h, nil
}

const (
	fileSuffix = ".journal"
	tempName   = "next.tmp"
)

func fileName(seq uint64) string { return fmt.Sprintf("%020d%s", seq, fileSuffix) }

func parseFileName(name string) (seq uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, fileSuffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil && seq > 0
}
