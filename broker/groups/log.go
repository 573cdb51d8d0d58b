package groups

import (
	"strings"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/coordinator"
)

// log writes one line for each decision about a group, with group, generation, member and reason.
func (s *shard) log(n coordinator.Note) {
	level := zerolog.InfoLevel
	switch n.Kind {
	case coordinator.NoteMemberPending: // every dynamic member is pending for a moment
		level = zerolog.DebugLevel
	case coordinator.NoteCommitFenced:
		level = zerolog.WarnLevel
	default:
	}
	e := s.cfg.Log.WithLevel(level)
	if level < s.cfg.Log.GetLevel() || !e.Enabled() {
		return
	}
	e.Str("event", n.Kind.String()).Str("group", n.Group).Int32("generation", n.Generation).Stringer("state", n.State)
	if n.Member != "" {
		e.Str("member", n.Member).Str("host", strings.TrimPrefix(n.ClientHost, "/"))
	}
	e.Str("reason", n.Reason).Msg(n.String())
}
