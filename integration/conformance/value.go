package conformance

import (
	"fmt"
	"strconv"
	"strings"
)

// Value is a value in the notation of requests: exactly one of its fields says what.
type Value struct {
	Word   string  // a number, true, false, null, a $name or a bare string
	Text   *string // a quoted string
	List   []Value
	Struct []Named
	Call   []Value // of a function: Word is its name
	kind   valueKind
}

type valueKind int8

const (
	isWord valueKind = iota
	isText
	isList
	isStruct
	isCall
)

// Named is a field with its value.
type Named struct {
	Name  string
	Value Value
}

// parser reads the notation from left to right.
type parser struct {
	text string
	pos  int
}

// parseFields reads "Name: value, Name: value".
func parseFields(text string) ([]Named, error) {
	p := &parser{text: text}
	fields, err := p.fields()
	if err == nil && p.pos < len(p.text) {
		err = fmt.Errorf("%q is left over", p.text[p.pos:])
	}
	return fields, err
}

func (p *parser) space() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

// take skips a character if it comes next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		p.space()
		return true
	}
	return false
}

func (p *parser) word() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && !strings.ContainsRune(" ,:[]{}()", rune(p.text[p.pos])) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) fields() (fields []Named, err error) {
	for p.space(); p.pos < len(p.text) && p.text[p.pos] != '}'; {
		name := p.word()
		if name == "" || !p.take(':') {
			return nil, fmt.Errorf("want NAME: VALUE at %q", p.text[p.pos:])
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		fields = append(fields, Named{Name: name, Value: v})
		if !p.take(',') {
			break
		}
	}
	return fields, nil
}

func (p *parser) value() (v Value, err error) {
	switch {
	case p.take('['):
		v.kind = isList
		v.List, err = p.values(']')
		return v, err
	case p.take('{'):
		v.kind = isStruct
		if v.Struct, err = p.fields(); err == nil && !p.take('}') {
			err = fmt.Errorf("want } at %q", p.text[p.pos:])
		}
		return v, err
	case p.pos < len(p.text) && p.text[p.pos] == '"':
		quoted, err := strconv.QuotedPrefix(p.text[p.pos:])
		if err != nil {
			return v, fmt.Errorf("%q: %w", p.text[p.pos:], err)
		}
		p.pos += len(quoted)
		s, err := strconv.Unquote(quoted)
		return Value{kind: isText, Text: &s}, err
	}
	v.Word = p.word()
	if v.Word == "" {
		return v, fmt.Errorf("want a value at %q", p.text[p.pos:])
	}
	if p.take('(') {
		v.kind = isCall
		v.Call, err = p.values(')')
	}
	return v, err
}

// values reads a list up to its closing character.
func (p *parser) values(end byte) ([]Value, error) {
	list := []Value{}
	for !p.take(end) {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if !p.take(',') {
			if !p.take(end) {
				return nil, fmt.Errorf("want %c at %q", end, p.text[p.pos:])
			}
			break
		}
	}
	return list, nil
}
