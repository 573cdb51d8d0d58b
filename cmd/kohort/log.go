package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// logCommand is `kohort log`.
type logCommand struct {
	Dump   logDumpCommand   `cmd:"" help:"Print a segment, an offsets partition or a journal file as text or JSON."`
	Verify logVerifyCommand `cmd:"" help:"Check a whole data directory without changing it, also while a broker runs."`
}

// logDumpCommand is `kohort log dump`.
type logDumpCommand struct {
	Path   string `arg:"" help:"A segment (.log), a journal file (.journal), a table, or a directory of the former two."`
	Brief  bool   `help:"Batches only, without the records in them."`
	Output string `short:"o" enum:"text,table,json" default:"text" help:"text (also called table), or json: a line for each batch, frame and damage."`
}

// dumper prints what it finds.
type dumper struct {
	out    *bufio.Writer
	json   bool
	brief  bool
	topics map[string]string // names by id, where the directory's table tells them
	errs   int               // damaged places
}

// Run prints files. Damage is printed where it is, and makes the exit code 1.
func (c *logDumpCommand) Run(w *world) error {
	files, err := dumpFiles(c.Path)
	if err != nil {
		return err
	}
	d := &dumper{out: bufio.NewWriter(w.stdout), json: c.Output == "json", brief: c.Brief, topics: topicNamesOf(c.Path)}
	for _, file := range files {
		if stopped := w.look("reading "+file, func() { err = d.file(file) }); stopped != nil {
			return stopped
		}
		if err = errors.Join(err, d.out.Flush()); err != nil {
			return err
		}
	}
	if d.errs > 0 {
		return fmt.Errorf("%s: %s damaged; what is whole was printed, with the position of what is not", c.Path, countIs(d.errs, "place"))
	}
	return nil
}

// countIs returns a number with its noun and its verb.
func countIs(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return count(n, noun) + " are"
}

// dumpFiles returns the files to print: the one that is named, or those of a partition's or the journal's directory.
func dumpFiles(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%q: %w; give a segment, a journal file, or the directory of a partition", path, errors.Unwrap(err))
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if suffix := filepath.Ext(entry.Name()); suffix == ".log" || suffix == ".journal" {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%q has no segment and no journal file; "+
			"in a data directory those are journal/ and topics/NAME-ID/PARTITION/, and `kohort log verify` checks all of it", path)
	}
	return files, nil
}

// topicNamesOf returns the names of topics by their ids, of the data directory in which a path lies; none where there
// is none.
func topicNamesOf(path string) map[string]string {
	names := map[string]string{}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return names
	}
	for dir := absolute; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		layout, err := partitionlog.ReadLayout(vfs.NewOverlay(), dir)
		if err != nil {
			continue
		}
		for _, topic := range layout.Topics {
			names[topic.ID] = topic.Name
		}
		break
	}
	return names
}

// file prints one file, by what its name says that it is.
func (d *dumper) file(path string) error {
	switch {
	case strings.HasSuffix(path, ".journal"):
		return d.journal(path)
	case strings.HasSuffix(path, ".log"):
		return d.segment(path)
	case filepath.Base(path) == partitionlog.TableFile:
		return d.table(path)
	}
	return fmt.Errorf("%q is no file of a data directory by its name: segments end in .log, journal files in .journal", path)
}

// table prints what the last checkpoint knows.
func (d *dumper) table(path string) error {
	layout, err := partitionlog.ReadLayout(vfs.NewOverlay(), filepath.Dir(path))
	if err != nil {
		return err
	}
	if d.json {
		return d.line(layout)
	}
	fmt.Fprintf(d.out, "%s   checkpoint at entry %d   leader epoch %d   directory %s   cluster %s\n",
		path, layout.LSN, layout.LeaderEpoch, layout.DirectoryID, layout.ClusterID)
	for _, topic := range layout.Topics {
		fmt.Fprintf(d.out, "topic %s %s %s\n", topic.Name, topic.ID, count(len(topic.Partitions), "partition"))
		for _, p := range topic.Partitions {
			for _, g := range p.Segments {
				fmt.Fprintf(d.out, "  %d   offsets %d to %d   %d bytes   %s\n", p.Index, g.Base, g.Next, g.Size, g.Path)
			}
		}
	}
	return nil
}

// segment prints the batches of a segment.
func (d *dumper) segment(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	topic, partition := segmentOwner(path)
	if !d.json {
		fmt.Fprintf(d.out, "%s   %s-%s   %d bytes\n", path, topic, partition, st.Size())
	}
	return walkSegment(f, st.Size(), func(at int64, b partitionlog.Batch, bad *damage) error {
		if bad != nil {
			return d.damaged(path, bad)
		}
		if d.json {
			return d.line(d.batch(path, at, topic, b))
		}
		return d.batchText("@"+fmt.Sprint(at), topic, b)
	})
}

// segmentOwner returns topic and partition, which stand in the names of the directories: NAME-ID/PARTITION.
func segmentOwner(path string) (topic, partition string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path
	}
	dir := filepath.Dir(absolute)
	name := filepath.Base(filepath.Dir(dir))
	if len(name) > idLength+1 {
		name = name[:len(name)-idLength-1]
	}
	return name, filepath.Base(dir)
}

// idLength is the length of a topic's id as text, at the end of its directory's name.
const idLength = 22

// offsets tells whether a topic is the one that holds groups and committed offsets.
func offsets(topic string) bool { return topic == offsetslog.Topic }

// damaged prints a damage with its position.
func (d *dumper) damaged(path string, bad *damage) error {
	d.errs++
	if d.json {
		return d.line(map[string]any{"file": path, "position": bad.at, "bytes": bad.bytes, "damage": bad.reason})
	}
	_, err := fmt.Fprintf(d.out, "@%d DAMAGED, %s: %s\n", bad.at, count(bad.bytes, "byte"), bad.reason)
	return err
}

// line prints a value as a line of JSON.
func (d *dumper) line(value any) error {
	encoder := json.NewEncoder(d.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
