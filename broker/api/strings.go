package api

import (
	"fmt"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/protocol"
)

// errTooLong closes the connection: Kafka's decoder refuses such a request whole, too.
var errTooLong = fmt.Errorf("%w: a string is longer than %d bytes", protocol.ErrMalformed, offsetslog.MaxString)

// tooLong reports whether a string is beyond what Kafka's protocol allows for one. Flexible versions could carry it; the
// records of the offsets topic could not.
//
// Source: the generated readers: "had invalid length".
func tooLong(list ...string) bool {
	for _, s := range list {
		if len(s) > offsetslog.MaxString {
			return true
		}
	}
	return false
}

// value is the string behind a nullable one, "" for null.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
