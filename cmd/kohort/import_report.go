package main

import "fmt"

// importReport says what an import found, and did.
type importReport struct {
	From        []string       `json:"from"`
	Data        string         `json:"data"`
	DryRun      bool           `json:"dryRun"`
	Records     int            `json:"records"`
	Partitions  int            `json:"partitions,omitempty"` // of the offsets topic that was written
	Groups      []importGroup  `json:"groups"`
	Offsets     int            `json:"offsets"`
	Aborted     int            `json:"aborted"` // offsets of transactions
	Open        int            `json:"open"`    // offsets of transactions
	Skipped     []importOther  `json:"skipped,omitempty"`
	Topics      []importTopic  `json:"topics,omitempty"`
	Damage      []importDamage `json:"damage,omitempty"`
	withMembers int
}

type importGroup struct {
	Name         string `json:"group"`
	ProtocolType string `json:"protocolType,omitempty"`
	Generation   int32  `json:"generation"`
	Members      int    `json:"members"`
	Offsets      int    `json:"offsets"`
}

type importOther struct {
	Family  string `json:"family"`
	Records int    `json:"records"`
	Groups  int    `json:"groups"`
}

type importTopic struct {
	Name        string            `json:"topic"`
	Partitions  int               `json:"partitions"`
	Missing     int               `json:"missing,omitempty"` // partitions that are not in the directory
	Batches     int               `json:"batches"`
	Bytes       int64             `json:"bytes"`
	Uncommitted int               `json:"uncommitted,omitempty"` // batches that were left out
	Offsets     []importPartition `json:"offsets"`
}

type importPartition struct {
	Partition int32 `json:"partition"`
	LogStart  int64 `json:"logStart"`
	LogEnd    int64 `json:"logEnd"`
}

type importDamage struct {
	File     string `json:"file"`
	Position int64  `json:"position"`
	Reason   string `json:"reason"`
}

// add counts a partition.
func (t *importTopic) add(c *partitionCopy) {
	t.Batches += c.batches
	t.Bytes += c.bytes
	t.Uncommitted += c.uncommitted
	t.Offsets = append(t.Offsets, importPartition{c.source.index, c.logStart, c.next})
}

// summarize fills the report with what the offsets topic came to.
func (im *importer) summarize() {
	r := &im.report
	r.From, r.Data, r.DryRun = im.command.Dir, im.command.Data, im.command.DryRun
	r.Records, r.Groups = im.history.Records(), []importGroup{}
	for _, g := range im.history.Groups() {
		r.Groups = append(r.Groups, importGroup(g))
		r.Offsets += g.Offsets
		if g.Members > 0 {
			r.withMembers++
		}
	}
	r.Aborted, r.Open = im.history.Uncommitted()
	for _, o := range im.history.Others() {
		r.Skipped = append(r.Skipped, importOther{o.Family, o.Records, len(o.Groups)})
	}
}

// print prints the report.
func (im *importer) print(w *world) error {
	r := &im.report
	if im.command.Output == "json" {
		return w.printJSON(r)
	}
	groups := newTable("GROUP", "TYPE", "GENERATION", "MEMBERS", "OFFSETS")
	for _, g := range r.Groups {
		groups.add(g.Name, or(g.ProtocolType), fmt.Sprint(g.Generation), fmt.Sprint(g.Members), fmt.Sprint(g.Offsets))
	}
	if err := groups.write(w.stdout, w.width()); err != nil {
		return err
	}
	if len(r.Topics) > 0 {
		fmt.Fprintln(w.stdout)
		topics := newTable("TOPIC", "PARTITION", "LOG-START", "LOG-END")
		for _, t := range r.Topics {
			for _, p := range t.Offsets {
				topics.add(t.Name, fmt.Sprint(p.Partition), fmt.Sprint(p.LogStart), fmt.Sprint(p.LogEnd))
			}
		}
		if err := topics.write(w.stdout, w.width()); err != nil {
			return err
		}
	}
	im.printNotes(w)
	return nil
}

// printNotes says on standard error what is beside the tables.
func (im *importer) printNotes(w *world) {
	r, say := &im.report, func(format string, args ...any) { fmt.Fprintf(w.stderr, format+"\n", args...) }
	done := "imported into " + r.Data
	if r.DryRun {
		done = "would be imported; nothing was written"
	}
	say("%s and %s, out of %s, %s", count(len(r.Groups), "group"), count(r.Offsets, "offset"), count(r.Records, "record"), done)
	if r.withMembers > 0 {
		say("%s with members: each has its session timeout to come back", count(r.withMembers, "group"))
	}
	if n := r.Aborted + r.Open; n > 0 {
		say("left out: %s of transactions, %d aborted and %d not ended", count(n, "offset"), r.Aborted, r.Open)
	}
	for _, o := range r.Skipped {
		say("skipped: %s of %s, %s in all; what those committed as ordinary offsets is imported", count(o.Records, "record"), o.Family, count(o.Groups, "group"))
	}
	for _, t := range r.Topics {
		if t.Missing > 0 {
			say("topic %s: %s not in this directory; made empty", t.Name, countIs(t.Missing, "partition"))
		}
		if t.Uncommitted > 0 {
			say("topic %s: left out, of transactions that were not committed: %d of its batches", t.Name, t.Uncommitted)
		}
	}
	if len(r.Topics) > 0 && len(im.overrides) == 0 {
		say("topics have the broker's default configs, retention of a week among them: Kafka's directory does not tell theirs; --topic-config NAME=VALUE sets one")
	}
	for _, d := range r.Damage {
		say("damaged: %s at %d: %s", d.File, d.Position, d.Reason)
	}
}
