package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/kohort/kohort/partitionlog"
)

// dumpedBatch is a batch as JSON.
type dumpedBatch struct {
	File          string         `json:"file,omitempty"`
	Position      *int64         `json:"position,omitempty"`
	Topic         string         `json:"topic,omitempty"`
	BaseOffset    int64          `json:"baseOffset"`
	LastOffset    int64          `json:"lastOffset"`
	Bytes         int            `json:"bytes"`
	Count         int32          `json:"count"`
	LeaderEpoch   int32          `json:"leaderEpoch"`
	Codec         string         `json:"codec"`
	TimestampType string         `json:"timestampType"`
	MaxTimestamp  string         `json:"maxTimestamp"`
	ProducerID    int64          `json:"producerId"`
	ProducerEpoch int16          `json:"producerEpoch"`
	BaseSequence  int32          `json:"baseSequence"`
	Transactional bool           `json:"transactional,omitempty"`
	Control       bool           `json:"control,omitempty"`
	Records       []dumpedRecord `json:"records,omitempty"`
	Damage        string         `json:"damage,omitempty"`
}

// dumpedRecord is a record of a batch as JSON; what the offsets topic holds is decoded.
type dumpedRecord struct {
	Offset      int64    `json:"offset"`
	Timestamp   string   `json:"timestamp"`
	Key         *string  `json:"key,omitempty"`
	KeyBase64   []byte   `json:"keyBase64,omitempty"`
	Value       *string  `json:"value,omitempty"`
	ValueBase64 []byte   `json:"valueBase64,omitempty"`
	Headers     []header `json:"headers,omitempty"`
	Decoded     any      `json:"decoded,omitempty"`
}

// batch returns a batch for JSON.
func (d *dumper) batch(path string, at int64, topic string, b partitionlog.Batch) *dumpedBatch {
	shown := &dumpedBatch{
		File: path, Topic: topic, BaseOffset: b.BaseOffset(), LastOffset: b.LastOffset(), Bytes: len(b), Count: b.NumRecords(),
		LeaderEpoch: b.LeaderEpoch(), Codec: codecName(b), TimestampType: b.TimestampType().String(), MaxTimestamp: moment(b.MaxTimestamp()),
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		Transactional: b.IsTransactional(), Control: b.IsControl(),
	}
	if path != "" {
		shown.Position = &at
	}
	if d.brief {
		return shown
	}
	err := b.Records(func(r partitionlog.Record) error {
		line := dumpedRecord{Offset: b.BaseOffset() + int64(r.OffsetDelta), Timestamp: moment(r.Timestamp)}
		if offsets(topic) {
			if line.Decoded = decoded(r.Key, r.Value); line.Decoded != nil {
				shown.Records = append(shown.Records, line)
				return nil
			}
		}
		line.Key, line.KeyBase64 = text(append([]byte(nil), r.Key...))
		if r.Value != nil {
			line.Value, line.ValueBase64 = text(append([]byte{}, r.Value...))
		}
		for _, h := range r.Headers {
			value, encoded := text(append([]byte(nil), h.Value...))
			line.Headers = append(line.Headers, header{string(h.Key), value, encoded})
		}
		shown.Records = append(shown.Records, line)
		return nil
	})
	if err != nil {
		d.errs++
		shown.Damage = err.Error()
	}
	return shown
}

// batchText prints a batch, and its records below it.
func (d *dumper) batchText(place, topic string, b partitionlog.Batch) error {
	flags := ""
	if b.ProducerID() >= 0 {
		flags += fmt.Sprintf("   producer %d epoch %d sequence %d", b.ProducerID(), b.ProducerEpoch(), b.BaseSequence())
	}
	if b.IsTransactional() {
		flags += "   transactional"
	}
	if b.IsControl() {
		flags += "   control"
	}
	fmt.Fprintf(d.out, "%s   offsets %d to %d   %s   %d bytes   %s   leader epoch %d   %s%s\n", place, b.BaseOffset(), b.LastOffset(),
		count(b.NumRecords(), "record"), len(b), codecName(b), b.LeaderEpoch(), moment(b.MaxTimestamp()), flags)
	if d.brief {
		return nil
	}
	err := b.Records(func(r partitionlog.Record) error {
		fmt.Fprintf(d.out, "    %d   %s   %s\n", b.BaseOffset()+int64(r.OffsetDelta), moment(r.Timestamp), recordText(topic, &r))
		return nil
	})
	if err != nil {
		d.errs++
		fmt.Fprintf(d.out, "    DAMAGED: %v\n", err)
	}
	return nil
}

// recordText returns key, value and headers for people; what the offsets topic holds is decoded.
func recordText(topic string, r *partitionlog.Record) string {
	if offsets(topic) {
		if known := decoded(r.Key, r.Value); known != nil {
			return fmt.Sprint(known)
		}
	}
	line := bytesText(r.Key) + " = " + bytesText(r.Value)
	for _, h := range r.Headers {
		line += fmt.Sprintf("   %s: %s", h.Key, bytesText(h.Value))
	}
	return line
}

// bytesText returns bytes in quotes, so that it is plain what they are.
func bytesText(b []byte) string {
	if b == nil {
		return "null"
	}
	return fmt.Sprintf("%q", b)
}

// codecName is how a batch is compressed.
func codecName(b partitionlog.Batch) string { return strings.ToLower(fmt.Sprint(b.Codec())) }

// moment returns a Kafka timestamp as text.
func moment(ms int64) string {
	if ms < 0 {
		return absent
	}
	return time.UnixMilli(ms).UTC().Format(timeLayout)
}
