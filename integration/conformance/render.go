package conformance

import (
	"encoding/hex"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Leaf is one field of an answer: where it stands and what it says.
type Leaf struct{ Path, Value string }

// unordered are the structs whose order in a list means nothing.
var unordered = map[reflect.Type]bool{
	reflect.TypeFor[kmsg.JoinGroupResponseMember]():             true,
	reflect.TypeFor[kmsg.DescribeGroupsResponseGroupMember]():   true,
	reflect.TypeFor[kmsg.ListGroupsResponseGroup]():             true,
	reflect.TypeFor[kmsg.MetadataResponseTopic]():               true,
	reflect.TypeFor[kmsg.GroupMetadataValueMember]():            true,
	reflect.TypeFor[kmsg.ProduceResponseTopic]():                true,
	reflect.TypeFor[kmsg.ProduceResponseTopicPartition]():       true,
	reflect.TypeFor[kmsg.DeleteRecordsResponseTopic]():          true, // as ListOffsets
	reflect.TypeFor[kmsg.DeleteRecordsResponseTopicPartition](): true,
	reflect.TypeFor[kmsg.MetadataResponseTopicPartition]():      true,
	// Kafka keeps these in hash maps.
	reflect.TypeFor[kmsg.ListOffsetsResponseTopic]():                   true,
	reflect.TypeFor[kmsg.ListOffsetsResponseTopicPartition]():          true,
	reflect.TypeFor[kmsg.CreatePartitionsResponseTopic]():              true,
	reflect.TypeFor[kmsg.DeleteTopicsResponseTopic]():                  true,
	reflect.TypeFor[kmsg.DescribeUserSCRAMCredentialsResponseResult](): true,
	reflect.TypeFor[kmsg.ListConfigResourcesResponseConfigResource]():  true,
}

// keyed are the structs whose first field says which one it is: it stands in the path instead of an index.
var keyed = map[reflect.Type]bool{
	reflect.TypeFor[kmsg.ApiVersionsResponseApiKey]():             true,
	reflect.TypeFor[kmsg.ApiVersionsResponseSupportedFeature]():   true,
	reflect.TypeFor[kmsg.ApiVersionsResponseFinalizedFeature]():   true,
	reflect.TypeFor[kmsg.DescribeConfigsResponseResourceConfig](): true,
	reflect.TypeFor[kmsg.CreateTopicsResponseTopicConfig]():       true,
}

// nullable are the lists in which null and empty are two answers.
var nullable = []string{"AbortedTransactions"}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// renderer writes answers with what is never compared replaced by names.
type renderer struct {
	names map[string]string // value -> $name
	port  int32
	loose map[reflect.Type]bool // unordered in this answer only
	plain bool                  // generated ids stay
}

// leaves writes a whole answer.
func (r *renderer) leaves(resp any) []Leaf {
	return r.value("", reflect.ValueOf(resp).Elem())
}

// text replaces known values and generated ids in a string.
func (r *renderer) text(s string) string {
	if name, ok := r.names[s]; ok && s != "" {
		return name
	}
	for value, name := range r.names {
		if len(value) > 8 && strings.Contains(s, value) {
			s = strings.ReplaceAll(s, value, name)
		}
	}
	if r.plain {
		return s
	}
	return uuid.ReplaceAllString(s, "<uuid>")
}

func (r *renderer) value(path string, v reflect.Value) []Leaf {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []Leaf{{path, "null"}}
		}
		return r.value(path, v.Elem())
	case reflect.Struct:
		return r.fields(path, v)
	case reflect.Slice:
		return r.list(path, v)
	case reflect.Array:
		id, _ := v.Interface().([16]byte)
		text := formatID(id)
		if id == [16]byte{} {
			text = "0"
		} else if name, ok := r.names[text]; ok {
			text = name
		} else {
			text = "<id>"
		}
		return []Leaf{{path, text}}
	case reflect.String:
		return []Leaf{{path, strconv.Quote(r.text(v.String()))}}
	case reflect.Bool:
		return []Leaf{{path, strconv.FormatBool(v.Bool())}}
	case reflect.Int64:
		return []Leaf{{path, timeText(v.Int())}}
	default:
		return []Leaf{{path, r.number(path, v)}}
	}
}

func (r *renderer) number(path string, v reflect.Value) string {
	if !v.CanInt() {
		return "<" + v.Kind().String() + ">"
	}
	if strings.HasSuffix(path, "Port") && v.Int() == int64(r.port) {
		return "<port>"
	}
	if path == "SessionID" && v.Int() != 0 && !r.plain {
		return "<session>"
	}
	return strconv.FormatInt(v.Int(), 10)
}

func (r *renderer) fields(path string, v reflect.Value) (out []Leaf) {
	if tags, ok := v.Interface().(kmsg.Tags); ok {
		if tags.Len() > 0 {
			out = append(out, Leaf{path, strconv.Itoa(tags.Len())})
		}
		return out
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Version" || name == "ThrottleMillis" && v.Field(i).IsZero() {
			continue
		}
		p := name
		if path != "" {
			p = path + "." + name
		}
		if name == "RecordBatches" {
			out = append(out, r.records(p, v.Field(i).Bytes())...)
			continue
		}
		out = append(out, r.value(p, v.Field(i))...)
	}
	return out
}

func (r *renderer) records(path string, batches []byte) (out []Leaf) {
	if batches == nil {
		return []Leaf{{path, "null"}}
	}
	for i, text := range recordLeaves(batches) {
		out = append(out, Leaf{path + "[" + strconv.Itoa(i) + "]", text})
	}
	if out == nil {
		out = []Leaf{{path, "[]"}}
	}
	return out
}

func (r *renderer) list(path string, v reflect.Value) (out []Leaf) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return []Leaf{{path, r.bytes(v.Bytes(), v.IsNil())}}
	}
	if v.Len() == 0 {
		last := path[strings.LastIndexByte(path, '.')+1:]
		if v.IsNil() && slices.Contains(nullable, last) {
			return []Leaf{{path, "null"}}
		}
		return []Leaf{{path, "[]"}}
	}
	elements := make([][]Leaf, v.Len())
	for i := range elements {
		elements[i] = r.value("", v.Index(i))
	}
	if t := v.Type().Elem(); unordered[t] || r.loose[t] {
		slices.SortStableFunc(elements, func(a, b []Leaf) int {
			return slices.CompareFunc(a, b, func(x, y Leaf) int { return strings.Compare(x.Value, y.Value) })
		})
	}
	for i, leaves := range elements {
		at := "[" + strconv.Itoa(i) + "]"
		if keyed[v.Type().Elem()] {
			at, leaves = "("+strings.Trim(leaves[0].Value, `"`)+")", leaves[1:]
		}
		for _, l := range leaves {
			p := path + at
			if l.Path != "" {
				p += "." + l.Path
			}
			out = append(out, Leaf{p, l.Value})
		}
	}
	return out
}

// bytes writes bytes as text where they are text.
func (r *renderer) bytes(b []byte, null bool) string {
	if null {
		return "null"
	}
	if utf8.Valid(b) && !strings.ContainsFunc(string(b), func(c rune) bool { return c < ' ' }) {
		return strconv.Quote(r.text(string(b)))
	}
	text := "0x" + hex.EncodeToString(b)
	for value, name := range r.names {
		if len(value) > 8 {
			text = strings.ReplaceAll(text, hex.EncodeToString([]byte(value)), "("+name+")")
		}
	}
	return text
}
