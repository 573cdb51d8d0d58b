package settings

import (
	"strconv"
	"strings"
)

// The names of the sources that nobody gave.
const (
	DefaultSource = "default"
	DevSource     = "dev profile"
)

// Effective is one property with everything that a person or DescribeConfigs may ask about it.
type Effective struct {
	Name      string
	Aliases   []string
	Value     string
	Null      bool   // the value is null, Value is ""
	Default   string // of the profile Serve
	NoDefault bool   // the default is null, Default is ""

	Source   string // name of the Source that gave the value, DevSource or DefaultSource
	Explicit bool   // a Source gave it

	Type   Type
	Unit   string
	Range  string // what is allowed, for example "1 or more"
	Fixed  bool   // described, accepted and without effect
	Topic  string // topic config that it is a default of; "" for none
	Dev    string // default of the profile Dev where it differs
	Doc    string
	Origin string // Kafka class or KIP; begins the deviations after "Deviation:"
}

// Effective returns every property of the table with its value, in the table's order.
func (s *Settings) Effective() []Effective {
	all := make([]Effective, len(s.rows))
	for i := range s.rows {
		r := &s.rows[i]
		v := s.values[r.name]
		all[i] = Effective{
			Name: r.name, Aliases: r.aliases, Value: v.text, Null: v.null, Default: r.def, NoDefault: r.null,
			Source: v.source, Explicit: v.explicit, Type: r.typ, Unit: r.unit, Range: r.check.String(), Fixed: r.fixed,
			Topic: r.topic, Dev: r.dev, Doc: r.doc, Origin: r.source,
		}
	}
	return all
}

// canonical returns the text form of a parsed value.
// Source: ConfigDef.convertToString
func canonical(parsed any) string {
	switch v := parsed.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	case []string:
		return strings.Join(v, ",")
	}
	return parsed.(string)
}
