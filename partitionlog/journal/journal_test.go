package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

var (
	seedFlag  = flag.Uint64("journal.seed", 0, "seed of random tests; 0 = fresh")
	scaleFlag = flag.Uint64("journal.scale", 1, "multiplies the number of crashes and random lives")
)

func seed(t testing.TB) uint64 {
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-journal.seed=%d", s)
	return s
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// config is a small journal whose spares are made when they are needed, so that operations have one order.
func config(d vfs.FS) Config {
	return Config{FS: d, Dir: "/j", DirID: [16]byte{1, 2, 3}, FileBytes: 8 * pageBytes, Files: 4, inline: true}
}

// payload is different for every n, and as long as wanted.
func payload(n uint64, size int) []byte {
	b := make([]byte, max(size, 8))
	rng := rand.New(rand.NewPCG(n, uint64(size)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	binary.LittleEndian.PutUint64(b, n)
	return b
}

type replayed struct {
	lsns     []uint64
	payloads [][]byte
}

func open(c Config, after uint64) (*Journal, Report, replayed, error) {
	var got replayed
	j, report, err := Open(c, after, func(lsn uint64, p []byte) error {
		got.lsns = append(got.lsns, lsn)
		got.payloads = append(got.payloads, bytes.Clone(p))
		return nil
	})
	return j, report, got, err
}

func (r replayed) equal(o replayed) bool {
	return slices.Equal(r.lsns, o.lsns) && slices.EqualFunc(r.payloads, o.payloads, bytes.Equal)
}

func TestAppendAndReplay(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	var want replayed
	for i, size := range []int{0, 1, pageBytes - frameHeaderBytes, pageBytes - frameHeaderBytes + 1, 3 * pageBytes, j.MaxPayload()} {
		p := payload(uint64(i), size)[:size]
		lsn := must(j.Append(p))
		if lsn != uint64(i+1) || j.LastLSN() != lsn {
			t.Fatalf("frame %d has LSN %d, last is %d", i, lsn, j.LastLSN())
		}
		want.lsns, want.payloads = append(want.lsns, lsn), append(want.payloads, p)
	}
	if _, err := j.Append(make([]byte, j.MaxPayload()+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large a payload: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(nil); err == nil {
		t.Error("append to a closed journal")
	}
	for after := range uint64(7) {
		j, report, got, err := open(c, after)
		if err != nil {
			t.Fatal(err)
		}
		rest := replayed{want.lsns[after:], want.payloads[after:]}
		if !got.equal(rest) || report.Frames != len(rest.lsns) || report.LastLSN != 6 || report.CutFile != "" {
			t.Errorf("after %d: replayed %v, report %+v", after, got.lsns, report)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFullUntilReleased(t *testing.T) {
	for _, inline := range []bool{true, false} {
		d := vfs.NewMem()
		c := config(d)
		c.inline = inline
		j := must(Create(c))
		fill := func() (last uint64) {
			for {
				lsn, err := j.Append(payload(0, pageBytes)) // two pages
				if errors.Is(err, ErrFull) {
					return last
				}
				last = lsn
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if last := fill(); last != 9 { // three of four files, three frames each
			t.Errorf("full after %d frames", last)
		}
		if used, capacity := j.Used(); used != 3*c.FileBytes-pageBytes || capacity != 3*c.FileBytes {
			t.Errorf("used %d of %d", used, capacity)
		}
		j.Release(2)
		if last := fill(); last != 0 {
			t.Errorf("a release of less than a file made room up to %d", last)
		}
		for round := range uint64(10) {
			j.Release(9 + 3*round - 6)
			if last := fill(); last != 12+3*round {
				t.Errorf("round %d: full after %d", round, last)
			}
		}
		j.Release(39)
		if used, _ := j.Used(); used != c.FileBytes-pageBytes {
			t.Errorf("used %d after all is released", used)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		names := must(d.List(c.Dir))
		if len(names) > c.Files {
			t.Errorf("%d files: %q", len(names), names)
		}
		for _, name := range names {
			if size := must(must(d.Open(filepath.Join(c.Dir, name))).Size()); size != c.FileBytes {
				t.Errorf("%q has %d bytes", name, size)
			}
		}
		j, _, got, err := open(c, 38)
		if err != nil || !slices.Equal(got.lsns, []uint64{39}) {
			t.Fatalf("replayed %v, %v", got.lsns, err)
		}
		if lsn := must(j.Append(nil)); lsn != 40 {
			t.Errorf("LSN %d", lsn)
		}
		_ = j.Close()
	}
}

func TestCreateRefusesExisting(t *testing.T) {
	c := config(vfs.NewMem())
	must(Create(c))
	if _, err := Create(c); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	for _, bad := range []Config{
		{FS: c.FS, Dir: "/k", FileBytes: pageBytes},
		{FS: c.FS, Dir: "/k", FileBytes: 3*pageBytes + 1},
		{FS: c.FS, Dir: "/k", Files: 2},
	} {
		if _, err := Create(bad); err == nil {
			t.Errorf("%d files of %d bytes were accepted", bad.Files, bad.FileBytes)
		}
	}
}

func patch(t *testing.T, d vfs.FS, name string, pos int64, b []byte) {
	t.Helper()
	f := must(d.Open(name))
	if _, err := f.WriteAt(b, pos); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func load(d vfs.FS, name string) []byte {
	f := must(d.Open(name))
	defer f.Close()
	b := make([]byte, must(f.Size()))
	must(f.ReadAt(b, 0))
	return b
}

func first(c Config) string { return filepath.Join(c.Dir, fileName(1)) }

// TestRefusals: four different reasons not to open.
func TestRefusals(t *testing.T) {
	fresh := func() (vfs.FS, Config) {
		d := vfs.NewMem()
		c := config(d)
		j := must(Create(c))
		must(j.Append([]byte("x")))
		_ = j.Close()
		return d, c
	}
	var damage *DamageError
	tests := []struct {
		name string
		do   func(d vfs.FS, c *Config)
		want func(error) bool
	}{
		{"no directory", func(d vfs.FS, c *Config) { c.Dir = "/none" }, is(ErrMissing)},
		{"no file", func(d vfs.FS, c *Config) { _ = d.Remove(first(*c)) }, is(ErrMissing)},
		{"another directory's", func(_ vfs.FS, c *Config) { c.DirID[5] = 9 }, is(ErrForeign)},
		{"no journal", func(d vfs.FS, c *Config) { patch(t, d, first(*c), 0, bytes.Repeat([]byte("text"), 30)) }, is(ErrForeign)},
		{"newer", func(d vfs.FS, c *Config) {
			h := fileHeader{dirID: c.DirID, seq: 1, size: c.FileBytes}.encode()
			binary.LittleEndian.PutUint32(h[8:], formatVersion+1)
			binary.LittleEndian.PutUint32(h[12:], sum(h[:12]))
			clear(h[16:]) // whatever a newer format keeps there
			patch(t, d, first(*c), 0, h)
		}, is(ErrVersion)},
		{"version damaged", func(d vfs.FS, c *Config) { patch(t, d, first(*c), 8, []byte{7}) }, as(&damage)},
		{"magic damaged", func(d vfs.FS, c *Config) { patch(t, d, first(*c), 0, []byte{7}) }, as(&damage)},
		{"header damaged", func(d vfs.FS, c *Config) { patch(t, d, first(*c), 50, []byte{7}) }, as(&damage)},
		{"renamed", func(d vfs.FS, c *Config) { _ = d.Rename(first(*c), filepath.Join(c.Dir, fileName(2))) }, as(&damage)},
		{"cut short", func(d vfs.FS, c *Config) { _ = must(d.Open(first(*c))).Truncate(5 * pageBytes) }, as(&damage)},
		{"emptied", func(d vfs.FS, c *Config) { _ = must(d.Open(first(*c))).Truncate(0) }, as(&damage)},
	}
	for _, test := range tests {
		d, c := fresh()
		test.do(d, &c)
		_, _, _, err := open(c, 0)
		if !test.want(err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	_, c := fresh()
	if _, _, _, err := open(c, 2); !errors.As(err, &damage) {
		t.Errorf("a checkpoint ahead of the journal: %v", err)
	}
}

func sum(b []byte) uint32 { return place{}.sum(0, b) } // no salt

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

func as(want **DamageError) func(error) bool {
	return func(err error) bool { return errors.As(err, want) && (*want).File != "" }
}

// TestCutAtEveryByte: whatever part of the last frame is missing, the frames before it come back, and the journal
// goes on.
func TestCutAtEveryByte(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	for i := range uint64(2) {
		must(j.Append(payload(i, 100)))
	}
	at := j.appender.pos
	before := load(d, first(c))
	must(j.Append(payload(2, pageBytes+500))) // two pages
	after := load(d, first(c))
	_ = j.Close()
	size := pageBytes + 500 + frameHeaderBytes
	for cut := range size {
		for _, fill := range []byte{0, 0xff} {
			b := bytes.Clone(after)
			tail := b[int(at)+cut : at+2*pageBytes]
			copy(tail, before[int(at)+cut:])
			if fill != 0 {
				for i := range tail {
					tail[i] = fill
				}
			}
			patch(t, d, first(c), 0, b)
			k, report, got, err := open(c, 0)
			if err != nil {
				t.Fatalf("cut at byte %d: %v", cut, err)
			}
			whole := fill == 0 && bytes.Equal(b, after)
			if want := map[bool]int{false: 2, true: 3}[whole]; len(got.lsns) != want {
				t.Fatalf("cut at byte %d: frames %v", cut, got.lsns)
			}
			if cut >= frameHeaderBytes && !whole && (report.CutFile != first(c) || report.CutAt != at || report.CutBytes != 2*pageBytes) {
				t.Fatalf("cut at byte %d: report %+v", cut, report)
			}
			if report.CutFile != "" {
				if rest := load(d, first(c))[at:]; !bytes.Equal(rest, make([]byte, len(rest))) {
					t.Fatalf("cut at byte %d: the rest is not zero", cut)
				}
			}
			if cut%97 == 0 {
				must(k.Append([]byte("next")))
				_, _, got, err := open(c, 0)
				if err != nil || string(got.payloads[len(got.payloads)-1]) != "next" {
					t.Fatalf("cut at byte %d: then %v, %v", cut, got.lsns, err)
				}
			}
			_ = k.Close()
		}
	}
}

// TestDamageInTheMiddle: a bad page with an acknowledged frame behind it is never cut.
func TestDamageInTheMiddle(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	type extent struct {
		name     string
		from, to int64
	}
	var frames []extent
	for i := range uint64(8) {
		must(j.Append(payload(i, int(i%3)*pageBytes)))
		a := &j.appender
		frames = append(frames, extent{j.path(a.active.seq), a.pos - framePages(max(8, int(i%3)*pageBytes)), a.pos})
	}
	_ = j.Close()
	for i, f := range frames[:len(frames)-1] {
		for pos := f.from; pos < f.to; pos += pageBytes {
			for _, bad := range [][]byte{make([]byte, pageBytes), bytes.Repeat([]byte{0xa5}, pageBytes), {1}} {
				good := load(d, f.name)
				if len(bad) == 1 {
					bad = []byte{good[pos] ^ 1}
				}
				patch(t, d, f.name, pos, bad)
				_, _, _, err := open(c, 0)
				var damage *DamageError
				if bytes.Equal(good, load(d, f.name)) {
					t.Fatalf("frame %d: the damage is none", i)
				}
				lastOfFile := frames[i+1].name != f.name
				if !errors.As(err, &damage) || !lastOfFile && (damage.File != f.name || damage.Position != f.from) {
					t.Errorf("frame %d at %d, page %d: %v", i, f.from, pos, err)
				}
				patch(t, d, f.name, 0, good)
			}
		}
	}
	for seq := uint64(1); seq < 3; seq++ {
		name := j.path(seq)
		good := load(d, name)
		_ = d.Remove(name)
		_, _, _, err := open(c, 0)
		var damage *DamageError
		if !errors.As(err, &damage) {
			t.Errorf("file %d is missing: %v", seq, err)
		}
		f := must(d.Create(name))
		must(f.WriteAt(good, 0))
		_ = f.Close()
	}
	if k, _, got, err := open(c, 0); err != nil || len(got.lsns) != 8 {
		t.Errorf("after all repairs: %v, %v", got.lsns, err)
	} else {
		_ = k.Close()
	}
}

// TestStaleFrames: what a recycled file holds from its former life is neither replayed nor proof of damage.
func TestStaleFrames(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	for i := range uint64(40) {
		lsn := must(j.Append(payload(i, 8)))
		j.Release(lsn - 1)
		k, report, got, err := open(c, lsn-1)
		if err != nil || !slices.Equal(got.lsns, []uint64{lsn}) || report.CutFile != "" {
			t.Fatalf("frame %d: %v, %+v, %v", lsn, got.lsns, report, err)
		}
		_ = k.Close()
		// Opening makes no spares, so the first journal may go on as if it had not happened.
	}
	stale := load(d, j.path(j.appender.active.seq))[j.appender.pos:]
	if bytes.Equal(stale, make([]byte, len(stale))) {
		t.Error("the file was not recycled, so this test shows nothing")
	}
	_ = j.Close()
}

// TestCopiedFrame: a payload that holds a journal's own bytes cannot fool it.
func TestCopiedFrame(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	j := must(Create(c))
	must(j.Append(payload(0, 8)))
	// A frame with the next LSN, in the very file, that another page holds.
	fake := make([]byte, pageBytes)
	encodeFrame(fake, j.appender.place, j.appender.pos+3*pageBytes, kindData, 1, 3, []byte("invented"))
	carrier := make([]byte, 3*pageBytes)
	copy(carrier[pageBytes-frameHeaderBytes:], fake)
	must(j.Append(carrier))
	b := load(d, first(c))
	_ = j.Close()
	patch(t, d, first(c), 2*pageBytes, make([]byte, pageBytes)) // the carrier's first page is lost
	k, _, got, err := open(c, 0)
	if err != nil || !slices.Equal(got.lsns, []uint64{1}) {
		t.Errorf("replayed %v, %v", got.lsns, err)
	}
	_ = k.Close()
	if !bytes.Contains(b, []byte("invented")) {
		t.Error("the carrier is not in the file")
	}
}

func TestNoSyncBehindCheckpoint(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	c.NoSync = true
	j := must(Create(c))
	for i := range uint64(20) {
		must(j.Append(payload(i, 8)))
	}
	_ = j.Close()
	for range 2 {
		j, report, got, err := open(c, 30)
		if err != nil || len(got.lsns) != 0 || report.LastLSN != 30 {
			t.Fatalf("%v, %+v, %v", got.lsns, report, err)
		}
		_ = j.Close()
	}
	j, _, _, err := open(c, 30)
	if err != nil {
		t.Fatal(err)
	}
	if lsn := must(j.Append([]byte("x"))); lsn != 31 {
		t.Errorf("LSN %d", lsn)
	}
	_ = j.Close()
	c.NoSync = false
	if _, _, got, err := open(c, 30); err != nil || !slices.Equal(got.lsns, []uint64{31}) {
		t.Errorf("then %v, %v", got.lsns, err)
	}
}

func TestFileSizeMayChange(t *testing.T) {
	d := vfs.NewMem()
	c := config(d)
	want := 0
	for _, pages := range []int64{8, 16, 4, 8} {
		c.FileBytes = pages * pageBytes
		var j *Journal
		var err error
		if want == 0 {
			j, err = Create(c)
		} else {
			j, _, _, err = open(c, uint64(want))
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			j.Release(must(j.Append(payload(1, j.MaxPayload()))))
			want++
		}
		_ = j.Close()
		if names := must(d.List(c.Dir)); len(names) > c.Files {
			t.Errorf("%d pages: %q", pages, names)
		}
	}
}

// TestOpenErrors: what fn returns comes back, and nothing is left open.
func TestOpenErrors(t *testing.T) {
	c := config(vfs.NewMem())
	j := must(Create(c))
	must(j.Append([]byte("x")))
	_ = j.Close()
	boom := errors.New("boom")
	if _, _, err := Open(c, 0, func(uint64, []byte) error { return boom }); !errors.Is(err, boom) {
		t.Error(err)
	}
}

// TestNoSpaceForSpare: when no file can be made, nothing is lost, and it goes on when there is space again.
func TestNoSpaceForSpare(t *testing.T) {
	for _, inline := range []bool{true, false} {
		d := vfs.NewCrash(1)
		c := config(d)
		c.inline = inline
		d.Inject(func(op vfs.Op) vfs.Fault {
			if op.Kind == "write" && filepath.Base(op.Path) == tempName && op.N > 40 {
				return vfs.Fault{Err: syscall.ENOSPC}
			}
			return vfs.Fault{}
		})
		j := must(Create(c))
		var last uint64
		var err error
		for err == nil {
			last, err = j.Append(payload(last, j.MaxPayload()))
			j.Release(j.LastLSN())
		}
		if !errors.Is(err, ErrNoSpare) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("inline=%v: %v", inline, err)
		}
		d.Inject(nil)
		if lsn, err := j.Append(nil); err != nil || lsn != j.LastLSN() {
			t.Errorf("inline=%v: %d, %v", inline, lsn, err)
		}
		_ = j.Close()
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	c := config(vfs.OS)
	c.Dir, c.FileBytes, c.Files = filepath.Join(t.TempDir(), "j"), 1<<20, 8
	c.Observe = func(time.Duration, int) {}
	j := must(Create(c))
	defer j.Close()
	p := payload(0, 3000)
	must(j.Append(p))
	if n := testing.AllocsPerRun(100, func() { must(j.Append(p)) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestAppendIsOneWriteOneSync pins the cost of an append, and that spares are made of what was released.
func TestAppendIsOneWriteOneSync(t *testing.T) {
	d := vfs.NewCrash(1)
	c := config(d)
	j := must(Create(c))
	must(j.Append(payload(0, 8)))
	d.StartTrace()
	must(j.Append(payload(0, 2*pageBytes)))
	want := []string{
		fmt.Sprintf("write %s %d %d", first(c), 2*pageBytes, 3*pageBytes),
		fmt.Sprintf("sync %s", first(c)),
	}
	if got := d.Trace(); !slices.Equal(got, want) {
		t.Errorf("trace %q, want %q", got, want)
	}
}
