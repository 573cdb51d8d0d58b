package offsetbytes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Formatter is one of Kafka's classes that print the offsets topic. Each prints one kind of records.
type Formatter struct {
	Class string
	Kinds []string
}

// Formatters are both of them.
func Formatters() []Formatter {
	return []Formatter{
		{"org.apache.kafka.tools.consumer.OffsetsMessageFormatter", []string{"0", "1"}},
		{"org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter", []string{"2"}},
	}
}

// Printed reads what a formatter printed: a JSON object for each record, one behind the other.
func Printed(text []byte) ([]Record, error) {
	var all []Record
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		var value map[string]any
		if err := decoder.Decode(&value); err != nil {
			if errors.Is(err, io.EOF) {
				return all, nil
			}
			return nil, err
		}
		r := Record{}
		r.flatten("", value)
		for _, f := range r.Fields {
			if f.Path == "key.data.group" {
				r.Group = f.Value
			}
		}
		all = append(all, r)
	}
}

// flatten adds the leaves of a JSON value; of a list its length, too.
func (r *Record) flatten(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			r.flatten(strings.TrimPrefix(path+"."+name, "."), v)
		}
	case []any:
		r.add(path, len(value))
		for i, v := range value {
			r.flatten(fmt.Sprintf("%s[%d]", path, i), v)
		}
	case nil:
		r.add(path, "null")
	default:
		r.add(path, value)
	}
}

// Unlike compares what a formatter printed with what was decoded here, record by record, and returns what is different.
// Which partition is printed first is not fixed, so groups are compared one by one.
func (f Formatter) Unlike(printed, decoded []Record) (lines []string, fields int) {
	wanted := []Record{}
	for _, r := range decoded {
		for _, kind := range f.Kinds {
			if len(r.Fields) > 0 && r.Fields[0] == (Field{"key.type", kind}) {
				wanted = append(wanted, r)
			}
		}
	}
	have := byGroup(printed)
	want := byGroup(wanted)
	for group, records := range want {
		if len(have[group]) != len(records) {
			lines = append(lines, fmt.Sprintf("%s: %d records printed, %d are there", group, len(have[group]), len(records)))
			continue
		}
		for i, r := range records {
			paths, left, right := merge(have[group][i].Fields, r.Fields)
			for _, path := range paths {
				fields++
				if left[path] != right[path] {
					lines = append(lines, fmt.Sprintf("%s, record %d, %s: printed %q, decoded %q", group, i, path, left[path], right[path]))
				}
			}
		}
	}
	return lines, fields
}
