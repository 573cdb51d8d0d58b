package api

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/groups"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/broker/topics"
	"github.com/kohort/kohort/coordinator"
	"github.com/kohort/kohort/partitionlog"
)

// Server is what handlers work with. It is immutable once the broker serves, but for its lock.
type Server struct {
	Store    *partitionlog.Store
	Settings *settings.Settings
	Groups   *groups.Groups
	Topics   *topics.View
	Log      zerolog.Logger
	Now      func() time.Time
	NodeID   int32

	// admin is held by requests that change topics or configs: they read the catalogue, decide, and then write.
	admin sync.Mutex

	rows []Row
}

// New completes a server, so that it answers what the table lists.
func New(s *Server) *Server {
	s.rows = Table()
	return s
}

// Call is one request with what its connection knows.
type Call struct {
	Request kmsg.Request
	Client  coordinator.Client
	// Host and Port are where this client is told to find the broker.
	Host string
	Port int32

	arena *[]byte // what Bytes gave; nil until then
}

// arenas keeps the memory of fetches, and maxPooledArena a giant one from pinning its memory there.
var arenas = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

const maxPooledArena = 4 << 20

// Bytes returns n bytes, whatever is in them, that are the caller's until Release.
func (c *Call) Bytes(n int) []byte {
	if c.arena == nil {
		c.arena = arenas.Get().(*[]byte)
	}
	a := *c.arena
	if cap(a)-len(a) < n {
		a = make([]byte, 0, max(n, 2*cap(a))) // what was given before stays with those who have it
	}
	*c.arena = a[:len(a)+n]
	return a[len(a) : len(a)+n : len(a)+n]
}

// reuse takes back all that Bytes has given.
func (c *Call) reuse() {
	if c.arena != nil {
		*c.arena = (*c.arena)[:0]
	}
}

// Release takes back all that Bytes has given, for others. It is called when the answer has been written, or thrown away.
func (c *Call) Release() {
	if c.arena != nil && cap(*c.arena) <= maxPooledArena {
		c.reuse()
		arenas.Put(c.arena)
	}
	c.arena = nil
}

// Handler answers one request. A nil response without an error means that the protocol wants none (acks=0).
//
// Errors: the connection must be closed.
type Handler func(s *Server, ctx context.Context, c *Call) (kmsg.Response, error)
