package partitionlog

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// encoder appends the store's own primitive forms: varints, length-prefixed bytes, raw ids.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) byte(v byte)     { e.b = append(e.b, v) }
func (e *encoder) id(v [16]byte)   { e.b = append(e.b, v[:]...) }
func (e *encoder) bytes(v []byte)  { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) string(v string) { e.uint(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) bool(v bool)     { e.byte(map[bool]byte{true: 1}[v]) }

// pairs writes a map in the order of its keys, so that equal maps have equal bytes.
func (e *encoder) pairs(m map[string]string) {
	e.uint(uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.string(k)
		e.string(m[k])
	}
}

// decoder is the inverse of encoder. The first mistake sticks; what is read after it is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = fmt.Errorf("%w: truncated or malformed encoding", ErrDamaged)
	}
	d.b = nil
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) id() (v [16]byte) {
	copy(v[:], d.take(len(v)))
	return v
}

func (d *decoder) fixed64() uint64 {
	if v := d.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) bool() bool { return d.byte() != 0 }

// bytes aliases the input.
func (d *decoder) bytes() []byte { return d.take(d.length()) }

func (d *decoder) string() string { return string(d.take(d.length())) }

// length reads a count of things of at least one byte each, so it cannot exceed what is left.
func (d *decoder) length() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) pairs() map[string]string {
	n := d.length()
	if n == 0 {
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		k := d.string()
		m[k] = d.string()
	}
	return m
}
