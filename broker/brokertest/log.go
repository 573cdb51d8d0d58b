package brokertest

import (
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// logger writes for people who read `go test -v`: a line for each thing, with who says it and when, in the test's own
// time if that is a bubble's. It goes to the test's output as it is: the line of zerolog that calls the test is of no
// interest, nor are colours, which a file does not show.
func logger(t testing.TB) zerolog.Logger {
	return zerolog.New(zerolog.ConsoleWriter{
		Out: t.Output(), NoColor: true,
		FormatTimestamp: func(any) string { return "kohort " + time.Now().Format("15:04:05.000") },
		FieldsExclude:   []string{"event", "generation", "group", "host", "member", "reason", "state"}, // the message says them
	}).Level(zerolog.InfoLevel)
}
