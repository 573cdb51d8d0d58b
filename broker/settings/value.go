package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// check says whether a parsed value is allowed. The zero check allows everything.
type check struct {
	bounded  bool
	min, max float64
	enum     []string
}

func atLeast(least float64) check           { return check{bounded: true, min: least, max: math.Inf(1)} }
func between(least, most float64) check     { return check{bounded: true, min: least, max: most} }
func oneOf(values ...string) check          { return check{enum: values} }
func (c check) allowsNumber(n float64) bool { return !c.bounded || (n >= c.min && n <= c.max) }

// String returns the allowed range as the rest of a sentence, for example "1 or more".
func (c check) String() string {
	switch {
	case c.enum != nil:
		return "one of " + strings.Join(c.enum, ", ")
	case c.bounded && math.IsInf(c.max, 1):
		return number(c.min) + " or more"
	case c.bounded:
		return "from " + number(c.min) + " to " + number(c.max)
	}
	return "any value"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// allowsText tells whether one element of a list, or a string, is in the enumeration.
func (c check) allowsText(s string) bool {
	if c.enum == nil {
		return true
	}
	for _, allowed := range c.enum {
		if s == allowed {
			return true
		}
	}
	return false
}

// ValueError is a value that a setting does not take.
type ValueError struct {
	Name, Value, Source string
	Reason              string // "must be a whole number, 1 or more"
	Remedy              string // what to do, if it is more than giving another value
}

// Error returns one sentence with the name, the value, where it was given, what is allowed and the remedy.
func (e *ValueError) Error() string {
	remedy := e.Remedy
	if remedy == "" {
		remedy = "correct it or leave it out to use the default"
	}
	return fmt.Sprintf("%s is %q (from %s) but %s; %s", e.Name, e.Value, e.Source, e.Reason, remedy)
}

// parse checks text against the row's type and range and returns the Go value: bool, int64, float64, string or
// []string. The reason is "" when the text is good.
// Source: ConfigDef.parseType
func (r *row) parse(text string) (parsed any, reason string) {
	text = strings.TrimSpace(text)
	switch r.typ {
	case Boolean:
		switch strings.ToLower(text) {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
		return nil, "must be true or false"
	case Int, Short, Long:
		bits := map[Type]int{Short: 16, Int: 32, Long: 64}[r.typ]
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil || !r.check.allowsNumber(float64(n)) {
			return nil, "must be a whole number" + r.allowed(bits)
		}
		return n, ""
	case Double:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || !r.check.allowsNumber(f) {
			return nil, "must be a number, " + r.check.String()
		}
		return f, ""
	case List:
		items := splitList(text)
		for _, item := range items {
			if !r.check.allowsText(item) {
				return nil, fmt.Sprintf("%q must be %s", item, r.check)
			}
		}
		return items, ""
	case String:
		if !r.check.allowsText(text) {
			return nil, "must be " + r.check.String()
		}
	}
	return text, ""
}

// allowed returns the range of a whole number as the rest of a sentence, with its unit.
func (r *row) allowed(bits int) string {
	unit := ""
	if r.unit != "" {
		unit = " of " + r.unit
	}
	c := r.check
	if !c.bounded {
		return fmt.Sprintf("%s in %d bits", unit, bits)
	}
	if math.IsInf(c.max, 1) {
		c.max = float64(int64(1)<<(bits-1) - 1)
		if bits == 64 {
			return unit + ", " + r.check.String()
		}
	}
	return unit + ", " + c.String()
}

// splitList splits a comma-separated value; "" is the empty list.
func splitList(text string) []string {
	if text == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// assign stores a parsed value in the row's field. Numbers that do not fit a time.Duration become the longest one.
func (r *row) assign(parsed any) {
	switch field := r.field.(type) {
	case *bool:
		*field = parsed.(bool)
	case *int16:
		*field = int16(parsed.(int64))
	case *int32:
		*field = int32(parsed.(int64))
	case *int64:
		*field = parsed.(int64)
	case *string:
		*field = parsed.(string)
	case *time.Duration:
		*field = duration(parsed.(int64), r.unit)
	}
}

// duration returns n units as a time.Duration, saturated.
func duration(n int64, unit string) time.Duration {
	of := map[string]time.Duration{"ms": time.Millisecond, "minutes": time.Minute, "hours": time.Hour}[unit]
	if n > math.MaxInt64/int64(of) {
		return math.MaxInt64
	}
	if n < math.MinInt64/int64(of) {
		return math.MinInt64
	}
	return time.Duration(n) * of
}
