package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// lookup finds the value of a $name.
type lookup func(name string) (string, bool)

// request builds the step's request.
func (s *Step) request(vars lookup) (kmsg.Request, error) {
	key, err := keyOf(s.API)
	if err != nil {
		return nil, err
	}
	req := kmsg.RequestForKey(key)
	if d, ok := req.(interface{ Default() }); ok {
		d.Default()
	}
	req.SetVersion(s.Version)
	if err := assignStruct(reflect.ValueOf(req).Elem(), s.Fields, vars); err != nil {
		return nil, err
	}
	return req, nil
}

func keyOf(api string) (int16, error) {
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		if kmsg.NameForKey(key) == api {
			return key, nil
		}
	}
	return 0, fmt.Errorf("no API is called %q", api)
}

func assignStruct(dst reflect.Value, fields []Named, vars lookup) error {
	for _, f := range fields {
		field := dst.FieldByName(f.Name)
		if !field.IsValid() {
			return fmt.Errorf("%s has no field %s", dst.Type().Name(), f.Name)
		}
		if err := assign(field, f.Value, vars); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// assign sets one field of a request.
func assign(dst reflect.Value, v Value, vars lookup) error {
	if v.kind == isWord && v.Word == "null" {
		dst.SetZero()
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		elem := reflect.New(dst.Type().Elem())
		dst.Set(elem)
		return assign(elem.Elem(), v, vars)
	case reflect.Struct:
		if v.kind != isStruct {
			return fmt.Errorf("want {…}")
		}
		if d, ok := dst.Addr().Interface().(interface{ Default() }); ok {
			d.Default()
		}
		return assignStruct(dst, v.Struct, vars)
	case reflect.Slice:
		if dst.Type().Elem().Kind() == reflect.Uint8 {
			b, err := bytesOf(v, vars)
			dst.SetBytes(b)
			return err
		}
		if v.kind != isList {
			return fmt.Errorf("want […]")
		}
		dst.Set(reflect.MakeSlice(dst.Type(), len(v.List), len(v.List)))
		for i, e := range v.List {
			if err := assign(dst.Index(i), e, vars); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	case reflect.Array:
		text, err := textOf(v, vars)
		if err != nil {
			return err
		}
		reflect.Copy(dst, reflect.ValueOf(parseID(text)))
		return nil
	case reflect.String:
		text, err := textOf(v, vars)
		dst.SetString(text)
		return err
	default:
		return assignNumber(dst, v, vars)
	}
}

func assignNumber(dst reflect.Value, v Value, vars lookup) error {
	text, err := textOf(v, vars)
	if err != nil {
		return err
	}
	if strings.HasPrefix(text, "$") {
		return nil // only parsed, not run
	}
	if dst.Kind() == reflect.Bool {
		b, err := strconv.ParseBool(text)
		dst.SetBool(b)
		return err
	}
	n, err := strconv.ParseInt(text, 10, dst.Type().Bits())
	if err != nil {
		return err
	}
	dst.SetInt(n)
	return nil
}

// textOf is a value as a string, with names replaced.
func textOf(v Value, vars lookup) (string, error) {
	switch v.kind {
	case isText:
		return expandNames(*v.Text, vars)
	case isWord:
		return expandNames(v.Word, vars)
	case isCall:
		b, err := bytesOf(v, vars)
		return string(b), err
	default:
		return "", fmt.Errorf("want one value")
	}
}

// expandNames replaces a string that is a $name, or a number's $name+1 or $name-1, and leaves any other alone.
func expandNames(text string, vars lookup) (string, error) {
	if !strings.HasPrefix(text, "$") {
		return text, nil
	}
	for suffix, add := range map[string]int{"+1": 1, "-1": -1} {
		if name, ok := strings.CutSuffix(text, suffix); ok {
			value, known := vars(name)
			if n, err := strconv.Atoi(value); known && err == nil {
				return strconv.Itoa(n + add), nil
			}
		}
	}
	value, ok := vars(text)
	if !ok {
		return "", fmt.Errorf("%s is not known here", text)
	}
	return value, nil
}

// bytesOf is a value as bytes: text, 0x…, or what a function makes.
func bytesOf(v Value, vars lookup) ([]byte, error) {
	if v.kind == isCall {
		return call(v, vars)
	}
	text, err := textOf(v, vars)
	if err != nil {
		return nil, err
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok && v.kind == isWord {
		return hex.DecodeString(digits)
	}
	return []byte(text), nil
}

// parseID reads a topic id as Kafka prints it; anything else is an id that nobody has.
func parseID(text string) (id [16]byte) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 16 {
		b = []byte("an unknown topic")
	}
	copy(id[:], b)
	if text == "0" {
		return [16]byte{}
	}
	return id
}

func formatID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }
