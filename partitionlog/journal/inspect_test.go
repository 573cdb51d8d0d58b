package journal

import (
	"errors"
	"testing"
)

// A file tells its frames by itself, and where it is torn or damaged.
func TestInspect(t *testing.T) {
	id := [16]byte{1, 2, 3}
	file := func() []byte {
		b := make([]byte, 8*pageBytes)
		copy(b, fileHeader{dirID: id, seq: 5, incarnation: 2, size: int64(len(b))}.encode())
		for i, payload := range []string{"one", "two", "three"} {
			at := int64(1+i) * pageBytes
			encodeFrame(b[at:at+pageBytes], newPlace(id, 5), at, kindData, 2, uint64(10+i), []byte(payload))
		}
		return b
	}
	found, err := Inspect("f", file())
	if err != nil || found.DirID != id || found.Number != 5 || found.Incarnation != 2 || len(found.Frames) != 3 || found.End != 4*pageBytes ||
		found.Torn != 0 || found.Later != 0 {
		t.Fatalf("got %+v, %v", found, err)
	}
	if f := found.Frames[1]; f.LSN != 11 || f.Position != 2*pageBytes || string(f.Payload) != "two" || f.Begin {
		t.Errorf("got %+v", f)
	}
	torn := file()
	torn[3*pageBytes+frameHeaderBytes] ^= 1
	if found, err := Inspect("f", torn); err != nil || len(found.Frames) != 2 || found.End != 3*pageBytes || found.Torn != pageBytes || found.Later != 0 {
		t.Errorf("torn: got %+v, %v", found, err)
	}
	damaged := file()
	damaged[2*pageBytes+frameHeaderBytes] ^= 1
	if found, err := Inspect("f", damaged); err != nil || len(found.Frames) != 1 || found.Later != 3*pageBytes {
		t.Errorf("damaged: got %+v, %v", found, err)
	}
	var damage *DamageError
	if _, err := Inspect("f", make([]byte, 10)); !errors.As(err, &damage) {
		t.Errorf("short: %v", err)
	}
	if _, err := Inspect("f", make([]byte, 2*pageBytes)); !errors.Is(err, ErrForeign) {
		t.Errorf("zeros: %v", err)
	}
}
