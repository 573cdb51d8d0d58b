package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// filled returns a data directory in which a broker has kept two records and a group's offset.
func filled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	b, err := broker.Start(t.Context(), broker.Config{
		DataDir: dir, Profile: settings.Dev, Properties: map[string]string{"group.initial.rebalance.delay.ms": "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"key":"k","value":"one","timestamp":"2026-01-01T00:00:00Z","headers":[{"key":"h","value":"x"}]}` + "\n" +
		`{"value":null,"timestamp":"2026-01-02T00:00:00Z"}`
	if _, errOut, code := said(t, b.Addr(), lines, "produce", "orders", "-p", "0", "-f", "json"); code != 0 {
		t.Fatal(errOut)
	}
	if _, errOut, code := said(t, b.Addr(), "", "consume", "orders", "-g", "team", "-n", "1"); code != 0 {
		t.Fatal(errOut)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// only returns the one path that matches.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %q, %v", pattern, found, err)
	}
	return found[0]
}

// hasBytes returns the segment of the offsets topic that has something in it.
func hasBytes(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "topics/__consumer_offsets-*/*/*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if st, err := os.Stat(name); err == nil && st.Size() > 0 {
			return name
		}
	}
	t.Fatal("no segment of the offsets topic")
	return ""
}

// A segment is printed as text and as JSON, with its records.
func TestDumpSegment(t *testing.T) {
	dir := filled(t)
	segment := only(t, dir, "topics/orders-*/0/*.log")
	want := segment + `   orders-0   126 bytes
@0   offsets 0 to 1   2 records   126 bytes   none   leader epoch 0   2026-01-02T00:00:00.000Z   producer 0 epoch 0 sequence 0
    0   2026-01-01T00:00:00.000Z   "k" = "one"   h: "x"
    1   2026-01-02T00:00:00.000Z   null = null
`
	for _, path := range []string{segment, filepath.Dir(segment)} {
		out, errOut, code := said(t, "", "", "log", "dump", path)
		if size := fmt.Sprint(len(read(t, segment))); code != 0 || out != strings.ReplaceAll(want, "126", size) {
			t.Errorf("%s: exit code %d, %s\n%s", path, code, errOut, out)
		}
	}
	out, _, _ := said(t, "", "", "log", "dump", segment, "-o", "json")
	var batch dumpedBatch
	if err := json.Unmarshal([]byte(out), &batch); err != nil || len(batch.Records) != 2 || *batch.Records[0].Value != "one" || batch.Records[1].Value != nil ||
		batch.Topic != "orders" || batch.LastOffset != 1 || *batch.Position != 0 {
		t.Errorf("%v: %s", err, out)
	}
	out, _, _ = said(t, "", "", "log", "dump", segment, "--brief")
	if strings.Count(out, "\n") != 2 {
		t.Errorf("got %s", out)
	}
}

// What the offsets topic holds is decoded.
func TestDumpOffsets(t *testing.T) {
	segment := hasBytes(t, filled(t))
	out, errOut, code := said(t, "", "", "log", "dump", segment)
	if code != 0 {
		t.Fatal(errOut)
	}
	for _, want := range []string{`offset of "team" for orders:0 = 1   committed 20`, `group "team"   generation 1   1 member   cooperative-sticky   kohort-`, "owns orders:0", "   0 members"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	out, _, _ = said(t, "", "", "log", "dump", segment, "-o", "json")
	for _, want := range []string{`{"kind":"offset","group":"team","topic":"orders","partition":0,"offset":1,`, `{"kind":"group","group":"team","protocolType":"consumer","generation":1,`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

// The journal shows what happened, entry by entry, and the table where things are.
func TestDumpJournalAndTable(t *testing.T) {
	dir := filled(t)
	out, errOut, code := said(t, "", "", "log", "dump", filepath.Join(dir, "journal"))
	if code != 0 {
		t.Fatal(errOut)
	}
	for _, want := range []string{
		"  create-topic orders 1\n", "  leader-epoch 0\n", "  append orders-0   offsets 0 to 1   2 records", `    0   2026-01-01T00:00:00.000Z   "k" = "one"`,
		`offset of "team" for orders:0 = 1`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	out, _, _ = said(t, "", "", "log", "dump", filepath.Join(dir, "journal"), "-o", "json")
	kinds := map[string]int{}
	for line := range strings.Lines(out) {
		var frame dumpedFrame
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, e := range frame.Entries {
			if kinds[e.Kind]++; (e.Kind == "append") != (e.Batch != nil) {
				t.Errorf("got %s", line)
			}
		}
	}
	if kinds["create-topic"] != 2 || kinds["append"] < 3 {
		t.Errorf("got %v", kinds)
	}
	out, _, _ = said(t, "", "", "log", "dump", filepath.Join(dir, "table"))
	if !strings.Contains(out, "topic orders ") || !strings.Contains(out, "  0   offsets 0 to 2   ") {
		t.Errorf("got %s", out)
	}
}

// read returns a file's bytes.
func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// change edits a file in place.
func change(t *testing.T, name string, edit func([]byte) []byte) {
	t.Helper()
	if err := os.WriteFile(name, edit(read(t, name)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Damage is marked with its position, what is whole behind it is printed, and verify finds the same.
func TestDamage(t *testing.T) {
	dir := filled(t)
	segment := only(t, dir, "topics/orders-*/0/*.log")
	whole := read(t, segment)
	change(t, segment, func(b []byte) []byte { b[len(b)-1] ^= 1; return append(b, whole...) })
	out, errOut, code := said(t, "", "", "log", "dump", segment)
	if code != 1 || !strings.Contains(out, fmt.Sprintf("@0 DAMAGED, %d bytes: the checksum is ", len(whole))) ||
		!strings.Contains(out, fmt.Sprintf("@%d   offsets 0 to 1", len(whole))) || !strings.Contains(errOut, "1 place is damaged") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	out, _, _ = said(t, "", "", "log", "dump", segment, "-o", "json")
	if !strings.Contains(out, `"position":0`) || !strings.Contains(out, `"damage":"the checksum`) {
		t.Errorf("got %s", out)
	}
	change(t, segment, func(b []byte) []byte { return b[:len(whole)] })
	out, errOut, code = said(t, "", "", "log", "verify", dir)
	if code != 1 || !strings.Contains(out, "would start: yes") || !strings.Contains(out, "DAMAGED: "+segment[len(dir)+1:]+" at 0: the checksum is") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	change(t, segment, func(b []byte) []byte { return b[:3] })
	out, errOut, code = said(t, "", "", "log", "verify", dir)
	if code != 1 || !strings.Contains(out, "would start: no: ") || !strings.Contains(out, "has 3 bytes, the table says") || !strings.Contains(errOut, "would not start") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
}

// sums returns a checksum of every file below a directory.
func sums(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			fmt.Fprintf(&b, "%s %x\n", name, crc32.ChecksumIEEE(read(t, name)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A sound directory passes, and verify changes nothing in it; a torn frame is told with its position, before and after
// which a start agrees.
func TestVerify(t *testing.T) {
	dir := filled(t)
	before := sums(t, dir)
	out, errOut, code := said(t, "", "", "log", "verify", dir)
	if code != 0 || !strings.Contains(out, "not in use\nwould start: yes, with leader epoch 1;") || !strings.HasSuffix(out, "nothing to cut, nothing damaged\n") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	if after := sums(t, dir); after != before {
		t.Error("verify has changed the directory")
	}
	// A frame of which only the beginning is there: its magic and its file's number, on the first free page.
	file := only(t, dir, "journal/*1.journal")
	var at int
	change(t, file, func(b []byte) []byte {
		for at = len(b) - 4096; at > 4096 && bytes.Equal(b[at:at+4096], make([]byte, 4096)); at -= 4096 {
		}
		for !bytes.HasPrefix(b[at:], []byte("kfrm")) {
			at -= 4096
		}
		copy(b[at+4096:], b[at:at+48])
		at += 4096
		return b
	})
	before = sums(t, dir)
	out, errOut, code = said(t, "", "", "log", "verify", dir, "-o", "json")
	var v verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 0 || !v.Starts || len(v.Cuts) != 1 || v.Cuts[0].Position != int64(at) ||
		v.Cuts[0].File != "journal/"+filepath.Base(file) || v.Records < 4 {
		t.Errorf("exit code %d, %v, %s%s, want a cut at %d", code, err, out, errOut, at)
	}
	if after := sums(t, dir); after != before {
		t.Error("verify has changed the directory")
	}
	b, err := broker.Start(t.Context(), broker.Config{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	out, errOut, code = said(t, "", "", "log", "verify", dir)
	if code != 0 || !strings.Contains(out, fmt.Sprintf("in use by process %d;", os.Getpid())) || !strings.Contains(out, "leader epoch 2") {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	b.Close()
	for _, bad := range []string{t.TempDir(), filepath.Join(dir, "none")} {
		if _, errOut, code := said(t, "", "", "log", "verify", bad); code != 1 || !strings.Contains(errOut, "is no data directory") {
			t.Errorf("exit code %d, %s", code, errOut)
		}
	}
	if err := errors.Join(os.Remove(file)); err != nil {
		t.Fatal(err)
	}
	if out, _, code := said(t, "", "", "log", "verify", dir); code != 1 || !strings.Contains(out, "would start: no") {
		t.Errorf("without a journal file: exit code %d, %s", code, out)
	}
}

// What cannot be printed is said in a sentence.
func TestDumpMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "00000000000000000001.journal")
	if err := os.WriteFile(journal, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for path, want := range map[string]string{
		file: "is no file of a data directory by its name", filepath.Join(dir, "none"): "no such file or directory; give a segment",
		empty: "has no segment and no journal file", journal: "1 place is damaged",
	} {
		if _, errOut, code := said(t, "", "", "log", "dump", path); code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit code %d, %s", path, code, errOut)
		}
	}
}
