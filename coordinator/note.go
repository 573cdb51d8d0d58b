package coordinator

import (
	"strconv"
	"strings"
)

// NoteKind says which decision a Note reports.
type NoteKind int8

// The decisions about a group that are worth a line in a log. Heartbeats and accepted commits are not.
const (
	NoteGroupCreated NoteKind = iota
	NoteMemberPending
	NoteMemberAdded
	NoteMemberReplaced
	NoteMemberRemoved
	NoteRebalanceStarted
	NoteGenerationStarted
	NoteGroupStable
	NoteGroupEmpty
	NoteCommitFenced
	NoteOffsetsExpired
	NoteOffsetsDeleted
	NoteGroupDeleted
	NoteGroupExpired
)

// noteKinds are the stable names of the kinds, for event streams and counters.
var noteKinds = [...]string{
	"group-created", "member-pending", "member-added", "member-replaced", "member-removed", "rebalance-started",
	"generation-started", "group-stable", "group-empty", "commit-fenced", "offsets-expired", "offsets-deleted",
	"group-deleted", "group-expired",
}

// String is the kind's stable name.
func (k NoteKind) String() string { return noteKinds[k] }

// Note is one decision about a group with its reason: the source of log lines, of the event stream and of traces.
// Generation and State are those right after the decision.
type Note struct {
	Kind       NoteKind
	Group      string
	Generation int32
	State      State
	Member     string // "" if the decision is not about one member
	ClientHost string // of Member, as stored: "/10.0.0.5"
	Reason     string // reads on from the member's name, if there is one
}

// String is the one text form of a note:
//
//	orders: generation 7, rebalancing: consumer-3 (10.0.0.5) sent no heartbeat for 10 s
func (n Note) String() string {
	var b strings.Builder
	b.WriteString(n.Group)
	b.WriteString(": generation ")
	b.WriteString(strconv.Itoa(int(n.Generation)))
	b.WriteString(", ")
	b.WriteString(stateWords[n.State])
	b.WriteString(": ")
	if n.Member != "" {
		b.WriteString(n.Member)
		if n.ClientHost != "" {
			b.WriteString(" (" + strings.TrimPrefix(n.ClientHost, "/") + ")")
		}
		b.WriteByte(' ')
	}
	b.WriteString(n.Reason)
	return b.String()
}
