package journal

import (
	"encoding/binary"
	"testing"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// forge writes a fuzzed content as a file, with a good header and, where a page looks like a frame, good checksums.
func forge(t *testing.T, c Config, seq uint64, content []byte, fix bool) {
	b := make([]byte, min((int64(len(content))+pageBytes-1)&^(pageBytes-1)+pageBytes, c.FileBytes))
	p := newPlace(c.DirID, seq)
	if fix {
		copy(b[pageBytes:], content)
		copy(b, fileHeader{dirID: c.DirID, seq: seq, size: int64(len(b))}.encode())
		for pos := int64(pageBytes); pos < int64(len(b)); pos += pageBytes {
			f := b[pos:]
			if f[0] != 'k' {
				continue
			}
			binary.LittleEndian.PutUint32(f, frameMagic)
			binary.LittleEndian.PutUint64(f[40:], seq)
			length := int64(binary.LittleEndian.Uint32(f[8:]))
			if length <= int64(len(f)-frameHeaderBytes) {
				binary.LittleEndian.PutUint32(f[12:], p.sum(pos, f[frameHeaderBytes:][:length]))
			}
			binary.LittleEndian.PutUint32(f[4:], p.sum(pos, f[8:frameHeaderBytes]))
		}
	} else {
		b = content
	}
	f := must(c.FS.Create(c.Dir + "/" + fileName(seq)))
	if len(b) > 0 {
		must(f.WriteAt(b, 0))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzOpen: no content of the files makes recovery panic or take memory beyond their size; and what is accepted once is
// accepted again, and can be appended to.
func FuzzOpen(f *testing.F) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	for i := range uint64(6) {
		must(j.Append(payload(i, int(i)*1500)))
	}
	if err := j.Restart(); err != nil {
		f.Fatal(err)
	}
	must(j.Append(payload(7, 10)))
	_ = j.Close()
	for _, fix := range []bool{false, true} {
		a, b := load(d, j.path(1)), load(d, j.path(2))
		if fix {
			a, b = a[pageBytes:], b[pageBytes:]
		}
		f.Add(a, b, fix, uint64(0))
		f.Add(b, a, fix, uint64(3))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, fix bool, after uint64) {
		c := config(vfs.NewMem())
		if err := c.FS.MkdirAll(c.Dir); err != nil {
			t.Fatal(err)
		}
		forge(t, c, 1, a, fix)
		forge(t, c, 2, b, fix)
		j, report, got, err := open(c, after)
		if err != nil {
			return
		}
		for i, lsn := range got.lsns {
			if lsn != after+1+uint64(i) {
				t.Fatalf("after %d came %v", after, got.lsns)
			}
		}
		lsn, err := j.Append([]byte("next"))
		if err != nil || lsn != report.LastLSN+1 {
			t.Fatalf("append after %d: %d, %v", report.LastLSN, lsn, err)
		}
		_ = j.Close()
		_, _, again, err := open(c, after)
		got.lsns, got.payloads = append(got.lsns, lsn), append(got.payloads, []byte("next"))
		if err != nil || !again.equal(got) {
			t.Fatalf("first %v, then %v, %v", got.lsns, again.lsns, err)
		}
	})
}
