package main

import (
	"fmt"
	"os"

	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/journal"
)

// dumpedFrame is a frame of the journal as JSON.
type dumpedFrame struct {
	File        string        `json:"file"`
	Position    int64         `json:"position"`
	LSN         uint64        `json:"lsn"`
	Incarnation uint64        `json:"incarnation"`
	Begin       bool          `json:"begin,omitempty"`
	Time        string        `json:"time,omitempty"`
	Entries     []dumpedEntry `json:"entries,omitempty"`
	Damage      string        `json:"damage,omitempty"`
}

// dumpedEntry is an entry of a frame.
type dumpedEntry struct {
	partitionlog.Entry
	Batch *dumpedBatch `json:"batch,omitempty"`
}

// journal prints the frames of a journal file.
func (d *dumper) journal(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	found, err := journal.Inspect(path, b)
	if err != nil {
		return d.damaged(path, &damage{0, int64(len(b)), err.Error()})
	}
	if !d.json {
		fmt.Fprintf(d.out, "%s   file %d   %d bytes   %s\n", path, found.Number, len(b), count(len(found.Frames), "frame"))
	}
	for i := range found.Frames {
		if err := d.frame(path, &found.Frames[i]); err != nil {
			return err
		}
	}
	switch {
	case found.Later > 0:
		return d.damaged(path, &damage{found.End, found.Later - found.End, fmt.Sprintf("no good frame, but there is a later one at %d", found.Later)})
	case found.Torn > 0:
		return d.damaged(path, &damage{found.End, found.Torn, "a torn frame at the end, which was never acknowledged; a start cuts it off"})
	}
	return nil
}

// frame prints one frame and its entries.
func (d *dumper) frame(path string, f *journal.Frame) error {
	shown := dumpedFrame{File: path, Position: f.Position, LSN: f.LSN, Incarnation: f.Incarnation, Begin: f.Begin}
	var entries []partitionlog.Entry
	if !f.Begin {
		turn, decodedEntries, err := partitionlog.DecodeFrame(f.Payload)
		entries, shown.Time = decodedEntries, moment(turn.UnixMilli())
		if err != nil {
			d.errs++
			shown.Damage = err.Error()
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Kind == "create-topic" {
			d.topics[e.TopicID] = e.Topic
		}
		if e.Topic == "" {
			e.Topic = d.topics[e.TopicID]
		}
	}
	if d.json {
		for i := range entries {
			line := dumpedEntry{Entry: entries[i]}
			if entries[i].Batch != nil {
				line.Batch = d.batch("", 0, entries[i].Topic, entries[i].Batch)
			}
			shown.Entries = append(shown.Entries, line)
		}
		return d.line(shown)
	}
	if f.Begin {
		fmt.Fprintf(d.out, "@%d   incarnation %d begins after entry %d\n", f.Position, f.Incarnation, f.LSN)
		return nil
	}
	fmt.Fprintf(d.out, "@%d   frame %d   %s   %s\n", f.Position, f.LSN, shown.Time, count(len(entries), "entry"))
	for i := range entries {
		if err := d.entry(&entries[i]); err != nil {
			return err
		}
	}
	if shown.Damage != "" {
		fmt.Fprintf(d.out, "  DAMAGED: %s\n", shown.Damage)
	}
	return nil
}

// entry prints one entry.
func (d *dumper) entry(e *partitionlog.Entry) error {
	line := "  " + e.Kind
	if name := e.Topic; name != "" || e.TopicID != "" {
		if name == "" {
			name = e.TopicID
		}
		line += " " + name
	}
	if e.Partition != nil {
		line += fmt.Sprintf("-%d", *e.Partition)
	}
	if e.Group != "" {
		line += " " + e.Group
	}
	if e.Number != nil {
		line += fmt.Sprintf(" %d", *e.Number)
	}
	if len(e.Overrides) > 0 {
		line += fmt.Sprintf(" %v", e.Overrides)
	}
	if e.Batch != nil {
		return d.batchText(line, e.Topic, e.Batch)
	}
	_, err := fmt.Fprintln(d.out, line)
	return err
}
