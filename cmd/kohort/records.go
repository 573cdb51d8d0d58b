package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// record is a record as a line of JSON: what `kohort consume` prints, `kohort produce` reads. Bytes that are no UTF-8
// stand in Base64 under another name. A null value is a tombstone.
type record struct {
	Topic       string   `json:"topic,omitempty"`
	Partition   *int32   `json:"partition,omitempty"`
	Offset      *int64   `json:"offset,omitempty"`
	Timestamp   string   `json:"timestamp,omitempty"`
	Key         *string  `json:"key,omitempty"`
	KeyBase64   []byte   `json:"keyBase64,omitempty"`
	Value       *string  `json:"value"`
	ValueBase64 []byte   `json:"valueBase64,omitempty"`
	Headers     []header `json:"headers,omitempty"`
}

// header is a header of a record.
type header struct {
	Key         string  `json:"key"`
	Value       *string `json:"value,omitempty"`
	ValueBase64 []byte  `json:"valueBase64,omitempty"`
}

// timeLayout is RFC 3339 with the milliseconds that Kafka has.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// text returns bytes as text, or as bytes where they are none.
func text(b []byte) (*string, []byte) {
	if b == nil {
		return nil, nil
	}
	if !utf8.Valid(b) {
		return nil, b
	}
	s := string(b)
	return &s, nil
}

// bytesOf is the inverse of text.
func bytesOf(s *string, b []byte) []byte {
	if s != nil {
		return []byte(*s)
	}
	return b
}

// asJSON returns a record as a line of JSON.
func asJSON(r *kgo.Record) (string, error) {
	line := record{Topic: r.Topic, Partition: &r.Partition, Offset: &r.Offset, Timestamp: r.Timestamp.UTC().Format(timeLayout)}
	line.Key, line.KeyBase64 = text(r.Key)
	line.Value, line.ValueBase64 = text(r.Value)
	for _, h := range r.Headers {
		value, encoded := text(h.Value)
		line.Headers = append(line.Headers, header{h.Key, value, encoded})
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(line)
	return b.String(), err
}

// fromJSON reads a line of JSON. Where the record was is not where it goes: topic, partition and offset do not count.
func fromJSON(text string) (*kgo.Record, error) {
	var line record
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		return nil, fmt.Errorf(`a line is a record as {"key": "k", "value": "v"}: %w`, err)
	}
	r := &kgo.Record{Key: bytesOf(line.Key, line.KeyBase64), Value: bytesOf(line.Value, line.ValueBase64)}
	if line.Timestamp != "" {
		at, err := time.Parse(time.RFC3339Nano, line.Timestamp)
		if err != nil {
			return nil, fmt.Errorf("a record's timestamp is written as 2026-11-29T20:00:00Z, and not %q", line.Timestamp)
		}
		r.Timestamp = at
	}
	for _, h := range line.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: bytesOf(h.Value, h.ValueBase64)})
	}
	return r, nil
}

// printer prints records.
type printer struct {
	form string // text, json or hex
	with []string
}

// withColumns are what --with may name.
const withColumns = "topic,partition,offset,timestamp,key,headers"

// line returns a record as a line: what --with names in that order, and the value, with tabs between them.
func (p *printer) line(r *kgo.Record) (string, error) {
	if p.form == "json" {
		return asJSON(r)
	}
	var cells []string
	for _, name := range p.with {
		switch name {
		case "topic":
			cells = append(cells, r.Topic)
		case "partition":
			cells = append(cells, fmt.Sprint(r.Partition))
		case "offset":
			cells = append(cells, fmt.Sprint(r.Offset))
		case "timestamp":
			cells = append(cells, r.Timestamp.UTC().Format(timeLayout))
		case "key":
			cells = append(cells, p.bytes(r.Key))
		case "headers":
			var headers []string
			for _, h := range r.Headers {
				headers = append(headers, h.Key+"="+p.bytes(h.Value))
			}
			cells = append(cells, or(strings.Join(headers, ",")))
		}
	}
	return strings.Join(append(cells, p.bytes(r.Value)), "\t") + "\n", nil
}

// bytes returns a key or a value in the printer's form.
func (p *printer) bytes(b []byte) string {
	switch {
	case b == nil:
		return "(null)"
	case p.form == "hex":
		return hex.EncodeToString(b)
	}
	return string(b)
}

// fromText reads a line as text or hex. If there is a separator, what stands before it is the key.
func fromText(line, form, separator string) (*kgo.Record, error) {
	var key []byte
	value := line
	if separator != "" {
		before, after, found := strings.Cut(line, separator)
		if !found {
			return nil, fmt.Errorf("a line has no %q, after which the value would begin: %q", separator, cut(line, 40))
		}
		key, value = []byte(before), after
	}
	r := &kgo.Record{Key: key, Value: []byte(value)}
	if form != "hex" {
		return r, nil
	}
	var err error
	if r.Value, err = hex.DecodeString(value); err != nil {
		return nil, fmt.Errorf("a value is no hex: %q", cut(value, 40))
	}
	if key != nil {
		if r.Key, err = hex.DecodeString(string(key)); err != nil {
			return nil, fmt.Errorf("a key is no hex: %q", cut(string(key), 40))
		}
	}
	return r, nil
}
