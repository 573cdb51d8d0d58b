package broker_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
)

// shared is a log that a test reads while the broker writes.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) lines() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Split(bytes.TrimSpace(bytes.Clone(s.b.Bytes())), []byte("\n"))
}

// With --log-level trace, the log has a line for each request with its api, version and client, before its effects; at
// any other level it has none.
func TestTraceNamesEachRequest(t *testing.T) {
	type line struct {
		Level, Event, API, Client, Peer, Software string
		Version                                   int16
		SoftwareVersion                           string `json:"software_version"`
	}
	requests := func(level zerolog.Level) (got []line) {
		out := &shared{}
		b := brokertest.Start(t, func(c *broker.Config) { c.Logger = zerolog.New(out).Level(level) })
		w := dial(t, b)
		versions := kmsg.NewPtrApiVersionsRequest()
		versions.ClientSoftwareName, versions.ClientSoftwareVersion = "me", "1.2"
		ask[*kmsg.ApiVersionsResponse](w, 3, versions)
		commit := kmsg.NewPtrOffsetCommitRequest()
		commit.Group, commit.Generation = "g", -1
		ask[*kmsg.OffsetCommitResponse](w, 2, commit)
		for _, raw := range out.lines() {
			var l line
			if json.Unmarshal(raw, &l) == nil && l.Event == "request" {
				if l.Peer == "" {
					t.Errorf("a line without the peer: %s", raw)
				}
				l.Peer = ""
				got = append(got, l)
			}
		}
		return got
	}
	want := []line{
		{Level: "trace", Event: "request", API: "ApiVersions", Client: "c", Version: 3, Software: "me", SoftwareVersion: "1.2"},
		{Level: "trace", Event: "request", API: "OffsetCommit", Client: "c", Version: 2},
	}
	if got := requests(zerolog.TraceLevel); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := requests(zerolog.DebugLevel); len(got) != 0 {
		t.Errorf("at debug: %+v", got)
	}
}
