package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// resetTarget are the flags that say where offsets go; their names are those of kafka-consumer-groups.
type resetTarget struct {
	ToEarliest bool   `xor:"to" help:"To the first record there is."`
	ToLatest   bool   `xor:"to" help:"To the end: only records that come later are read."`
	ToCurrent  bool   `xor:"to" help:"To where it is, into the bounds of the log if it is outside."`
	ToOffset   *int64 `xor:"to" placeholder:"N" help:"To an offset."`
	ToDatetime string `xor:"to" placeholder:"TIME" help:"To the first record at or after a time, as 2026-11-29T20:00:00Z (RFC 3339; without a zone, UTC)."`
	ByDuration string `xor:"to" placeholder:"AGE" help:"To the first record that is at most this old: 90m, 36h, or P1DT2H30M."`
	ShiftBy    *int64 `xor:"to" placeholder:"N" help:"Forward by N, or back with --shift-by=-N."`
	FromFile   string `xor:"to" placeholder:"FILE" help:"To the offsets of a CSV file: topic,partition,offset or group,topic,partition,offset."`
}

// target is where offsets go, understood.
type target struct {
	mode  string // the flag's name
	n     int64  // of --to-offset and --shift-by
	time  time.Time
	file  map[place]int64
	group string
}

// parse reads the flags that say where to.
func (c *groupsResetCommand) parse() (*target, error) {
	t := &target{group: c.Group}
	var err error
	switch {
	case c.ToEarliest:
		t.mode = "--to-earliest"
	case c.ToLatest:
		t.mode = "--to-latest"
	case c.ToCurrent:
		t.mode = "--to-current"
	case c.ToOffset != nil:
		if t.mode, t.n = "--to-offset", *c.ToOffset; t.n < 0 {
			return nil, fmt.Errorf("--to-offset takes an offset from 0, and not %d; --shift-by=%d moves back", t.n, t.n)
		}
	case c.ShiftBy != nil:
		t.mode, t.n = "--shift-by", *c.ShiftBy
	case c.ToDatetime != "":
		t.mode = "--to-datetime"
		t.time, err = parseTime("--to-datetime", c.ToDatetime)
	case c.ByDuration != "":
		t.mode = "--by-duration"
		var age time.Duration
		age, err = parseAge(c.ByDuration)
		t.time = time.Now().Add(-age)
	case c.FromFile != "":
		t.mode = "--from-file"
		t.file, err = parseOffsets(c.FromFile, c.Group)
	default:
		return nil, errors.New("where to? give one of --to-earliest, --to-latest, --to-current, --to-offset N, " +
			"--to-datetime TIME, --by-duration AGE, --shift-by=N, --from-file FILE")
	}
	return t, err
}

// parseTime reads a time as RFC 3339 has it, or without a zone for UTC, as Kafka's tool does.
func parseTime(flag, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s takes a time as 2026-11-29T20:00:00Z, and not %q", flag, text)
}

// parseAge reads a duration as Go writes it (90m), or as ISO 8601 does (P1DT2H).
func parseAge(text string) (time.Duration, error) {
	bad := fmt.Errorf("--by-duration takes an age as 90m, 36h or P1DT2H30M, and not %q", text)
	iso, isISO := strings.CutPrefix(strings.ToUpper(text), "P")
	if !isISO {
		age, err := time.ParseDuration(text)
		if err != nil || age < 0 {
			return 0, bad
		}
		return age, nil
	}
	days, rest, timed := strings.Cut(iso, "T")
	var age time.Duration
	if days != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(days, "D"))
		if err != nil || n < 0 || !strings.HasSuffix(days, "D") {
			return 0, bad
		}
		age = time.Duration(n) * 24 * time.Hour
	}
	if timed {
		clock, err := time.ParseDuration(strings.ToLower(rest))
		if err != nil || clock < 0 {
			return 0, bad
		}
		age += clock
	} else if days == "" {
		return 0, bad
	}
	return age, nil
}

// parseOffsets reads the CSV that kafka-consumer-groups writes: topic,partition,offset, or with the group in front.
// Lines of other groups do not count.
func parseOffsets(path, group string) (map[place]int64, error) {
	text, err := readFile("--from-file "+path, path)
	if err != nil {
		return nil, err
	}
	reader := csv.NewReader(strings.NewReader(string(text)))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("--from-file %s: %w", path, err)
	}
	offsets := map[place]int64{}
	for i, row := range rows {
		if len(row) == 4 {
			if row[0] != group {
				continue
			}
			row = row[1:]
		}
		if len(row) != 3 {
			return nil, fmt.Errorf("--from-file %s: line %d has %d fields; it needs topic,partition,offset", path, i+1, len(row))
		}
		partition, err := strconv.ParseInt(row[1], 10, 32)
		offset, offsetErr := strconv.ParseInt(row[2], 10, 64)
		if err != nil || offsetErr != nil || partition < 0 || offset < 0 || row[0] == "" {
			return nil, fmt.Errorf("--from-file %s: line %d is %q; it needs topic,partition,offset", path, i+1, strings.Join(row, ","))
		}
		offsets[place{row[0], int32(partition)}] = offset
	}
	if len(offsets) == 0 {
		return nil, fmt.Errorf("--from-file %s has no offset of group %q", path, group)
	}
	return offsets, nil
}

// timestamped asks for the first offsets at or after the target's time, if it has one.
func (s *session) timestamped(t *target, topics []string) (kadm.ListedOffsets, error) {
	if t.time.IsZero() || len(topics) == 0 {
		return nil, nil
	}
	ctx, cancel := s.request()
	defer cancel()
	listed, err := s.admin.ListOffsetsAfterMilli(ctx, t.time.UnixMilli(), slices.Clone(topics)...)
	if err != nil {
		return nil, s.asked("look up offsets by time", kmsg.ListOffsets, err)
	}
	return listed, nil
}

// apply sets where a partition goes, within its log.
func (t *target) apply(line *resetLine, start, end int64, listed kadm.ListedOffsets) error {
	at := place{line.Topic, line.Partition}
	switch t.mode {
	case "--to-earliest":
		line.To = start
	case "--to-latest":
		line.To = end
	case "--to-offset":
		line.To = t.n
	case "--from-file":
		line.To = t.file[at]
	case "--to-current", "--shift-by":
		if line.Committed != nil {
			line.To = *line.Committed + t.n
			break
		}
		if t.mode == "--shift-by" {
			return fmt.Errorf("group %q has committed nothing for %s, so there is nothing to shift; use --to-earliest or --to-offset", t.group, at)
		}
		line.To, line.Note = end, "nothing is committed: the end"
	default:
		found, ok := listed.Lookup(line.Topic, line.Partition)
		if !ok || found.Err != nil {
			return fmt.Errorf("look up the offset of %s by time: %w", at, found.Err)
		}
		if line.To = found.Offset; found.Timestamp < 0 {
			line.To, line.Note = end, "no record is that young: the end"
		}
	}
	switch {
	case line.To < start:
		line.Note = fmt.Sprintf("%d is before the log's start", line.To)
		line.To = start
	case line.To > end:
		line.Note = fmt.Sprintf("%d is after the log's end", line.To)
		line.To = end
	}
	return nil
}
