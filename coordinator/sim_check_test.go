package coordinator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// simChecks are the claims that a simulation proves, with what it must remember for them. They know only records, requests,
// replies and notes, with one exception: whether a group was Empty before a commit.
//
//	exclusive  within a generation no partition has two owners
//	monotonic  logged generations never go back, also across crashes
//	durable    a fetched offset is the last one, and never older than the last acknowledged commit
//	fenced     no commit of an old generation is acknowledged once a newer one is stable
//	answered   each token is answered once; none is left when the run ends (world.take, world.end)
//	replay     the live core and one that is fed with its records have the same digest
//	timely     after Tick(now), NextDeadline is after now (world.tick)
//	legal      states follow each other as the specification allows
type simChecks struct {
	position   int                       // number of records emitted, those of lost turns included
	generation map[string]int32          // last logged one of each group
	stable     map[string]int32          // last logged one with members; absent if the group was emptied since
	members    map[string][]MemberRecord // of the last logged generation
	offsets    map[simKey]simOffset      // what the records say
	acked      map[simKey]int            // position of the last acknowledged commit or deletion
	owners     map[simOwnership]string   // who owns a partition in a generation
	states     map[string]State          // as the notes tell
}

type simKey struct {
	group, topic string
	partition    int32
}

type simOffset struct {
	value    int64
	position int
}

type simOwnership struct {
	group      string
	generation int32
	partition  byte
}

func (s *simChecks) init() {
	s.generation, s.stable, s.members = map[string]int32{}, map[string]int32{}, map[string][]MemberRecord{}
	s.offsets, s.acked = map[simKey]simOffset{}, map[simKey]int{}
	s.owners, s.states = map[simOwnership]string{}, map[string]State{}
}

func (s *simChecks) rebuild(w *world) {
	s.generation, s.stable, s.members = map[string]int32{}, map[string]int32{}, map[string][]MemberRecord{}
	s.offsets, s.states = map[simKey]simOffset{}, map[string]State{}
	for key := range s.acked {
		s.acked[key] = 0
	}
	s.position = 0
	for _, rec := range w.log {
		s.record(w, rec)
	}
	// Every record of the log was acknowledged or could be: none of it may be undone any more.
	for key, o := range s.offsets {
		s.acked[key] = o.position
	}
	for group := range s.stable {
		s.states[group] = Stable
	}
	// A generation that was lost with its turn was seen by nobody, and may be issued again to others.
	for key := range s.owners {
		if logged, ok := s.generation[key.group]; !ok || key.generation > logged {
			delete(s.owners, key)
		}
	}
}

// record follows the log.
func (s *simChecks) record(w *world, rec Record) {
	s.position++
	switch r := rec.(type) {
	case *OffsetRecord:
		key := simKey{r.Group, r.Topic, r.Partition}
		if r.Tombstone {
			s.offsets[key] = simOffset{-1, s.position}
			return
		}
		s.offsets[key] = simOffset{r.Offset, s.position}
	case *GroupRecord:
		if r.Tombstone {
			delete(s.generation, r.Group)
			delete(s.stable, r.Group)
			for key := range s.owners {
				if key.group == r.Group {
					delete(s.owners, key)
				}
			}
			for key, o := range s.offsets {
				if key.group == r.Group && o.value != -1 {
					w.fail = fmt.Sprintf("durable: group %s ends with offset %v=%d left", r.Group, key, o.value)
				}
			}
			return
		}
		if last, ok := s.generation[r.Group]; ok && r.Generation < last {
			w.fail = fmt.Sprintf("monotonic: group %s logs generation %d after %d", r.Group, r.Generation, last)
		}
		if stable, ok := s.stable[r.Group]; ok && len(r.Members) == 0 && r.Generation <= stable {
			w.fail = fmt.Sprintf("monotonic: group %s is empty in generation %d, and was stable in %d", r.Group, r.Generation, stable)
		}
		s.assigned(w, r)
		s.generation[r.Group] = r.Generation
		s.members[r.Group] = r.Members
		if len(r.Members) > 0 {
			s.stable[r.Group] = r.Generation
		} else {
			delete(s.stable, r.Group)
		}
	}
}

// assigned checks that each member is given what the leader has assigned to it.
func (s *simChecks) assigned(w *world, r *GroupRecord) {
	if w.step == nil {
		return
	}
	req, ok := w.step.body.(*kmsg.SyncGroupRequest)
	if !ok {
		return
	}
	for _, m := range r.Members {
		for _, a := range req.GroupAssignment {
			if a.MemberID == m.MemberID && !bytes.Equal(a.MemberAssignment, m.Assignment) {
				w.fail = fmt.Sprintf("exclusive: %s was assigned %v and got %v", m.MemberID, a.MemberAssignment, m.Assignment)
			}
		}
	}
}

// before remembers what the state before a step allows.
func (s *simChecks) before(w *world, r *simRequest) {
	if req, ok := r.body.(*kmsg.OffsetCommitRequest); ok {
		g := w.core.groups[req.Group]
		r.acceptsAnonymous = g == nil || g.state == Empty
	}
}

// reply checks an answer at the moment it is decided.
func (s *simChecks) reply(w *world, r *simRequest, reply Reply) {
	switch resp := reply.Response.(type) {
	case *kmsg.OffsetCommitResponse:
		s.commit(w, r, resp)
	case *kmsg.OffsetFetchResponse:
		s.fetch(w, resp)
	case *kmsg.SyncGroupResponse:
		if resp.ErrorCode == 0 {
			s.own(w, r, resp)
		}
	}
}

func (s *simChecks) commit(w *world, r *simRequest, resp *kmsg.OffsetCommitResponse) {
	req := r.body.(*kmsg.OffsetCommitRequest)
	if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
		w.stats.Fenced++
		return
	}
	w.stats.Commits++
	r.position = s.position
	switch stable, ok := s.stable[req.Group]; {
	case req.Generation < 0 && !r.acceptsAnonymous:
		w.fail = fmt.Sprintf("fenced: group %s with members took a commit without generation", req.Group)
	case req.Generation >= 0 && !ok && s.states[req.Group] != PreparingRebalance: // a join phase keeps the generation before it
		w.fail = fmt.Sprintf("fenced: group %s without members took a commit of generation %d", req.Group, req.Generation)
	case req.Generation >= 0 && req.Generation < stable:
		w.fail = fmt.Sprintf("fenced: group %s took a commit of generation %d when %d was stable", req.Group, req.Generation, stable)
	case req.Generation >= 0 && s.states[req.Group] == CompletingRebalance:
		w.fail = fmt.Sprintf("fenced: group %s took a commit before the assignment was known", req.Group)
	}
	if stable, ok := s.stable[req.Group]; ok && req.Generation == stable && !s.isMember(req) {
		w.fail = fmt.Sprintf("fenced: group %s took a commit of %s, which is no member of generation %d", req.Group, req.MemberID, stable)
	}
	p := req.Topics[0].Partitions[0]
	if o := s.offsets[simKey{req.Group, req.Topics[0].Topic, p.Partition}]; o.value != p.Offset {
		w.fail = fmt.Sprintf("durable: a commit of %d was acknowledged, and the log says %d", p.Offset, o.value)
	}
}

// isMember says whether the last logged generation knows the sender of a commit.
func (s *simChecks) isMember(req *kmsg.OffsetCommitRequest) bool {
	return slices.ContainsFunc(s.members[req.Group], func(m MemberRecord) bool { return m.MemberID == req.MemberID })
}

func (s *simChecks) fetch(w *world, resp *kmsg.OffsetFetchResponse) {
	w.stats.Fetches++
	seen := 0
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				key := simKey{g.Group, t.Topic, p.Partition}
				o := s.offsets[key]
				seen++
				if o.value != p.Offset {
					w.fail = fmt.Sprintf("durable: %v is fetched as %d, and the log says %d", key, p.Offset, o.value)
				}
				if o.position < s.acked[key] {
					w.fail = fmt.Sprintf("durable: %v is fetched as of record %d, but %d was acknowledged", key, o.position, s.acked[key])
				}
			}
		}
		for key, o := range s.offsets {
			if key.group == g.Group && o.value != -1 {
				seen--
			}
		}
	}
	if seen != 0 {
		w.fail = fmt.Sprintf("durable: all offsets of %s were asked for, and the answer has %d too many", resp.Groups[0].Group, seen)
	}
}

// own checks an assignment. The owner is the instance of a static member, whatever its member id.
func (s *simChecks) own(w *world, r *simRequest, resp *kmsg.SyncGroupResponse) {
	req := r.body.(*kmsg.SyncGroupRequest)
	owner := req.MemberID
	if req.InstanceID != nil {
		owner = *req.InstanceID
	}
	if logged := s.generation[req.Group]; logged != req.Generation {
		w.fail = fmt.Sprintf("exclusive: %s got an assignment of generation %d, but %d is logged", owner, req.Generation, logged)
	}
	for _, p := range resp.MemberAssignment {
		key := simOwnership{req.Group, req.Generation, p}
		if other, ok := s.owners[key]; ok && other != owner {
			w.fail = fmt.Sprintf("exclusive: in generation %d of %s partition %d belongs to %s and %s", req.Generation, req.Group, p, other, owner)
		}
		s.owners[key] = owner
	}
}

// released remembers what a client may rely on from now on.
func (s *simChecks) released(w *world, r simReply) {
	req, ok := r.request.body.(*kmsg.OffsetCommitRequest)
	if !ok || r.Response.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode != 0 {
		return
	}
	key := simKey{req.Group, req.Topics[0].Topic, req.Topics[0].Partitions[0].Partition}
	s.acked[key] = max(s.acked[key], r.request.position)
	if len(w.log) < r.request.position {
		w.fail = fmt.Sprintf("durable: a commit is acknowledged as record %d of %d", r.request.position, len(w.log))
	}
}

// note follows the states, with a table of its own.
func (s *simChecks) note(w *world, n Note) {
	var next State
	switch n.Kind {
	case NoteRebalanceStarted:
		next = PreparingRebalance
	case NoteGenerationStarted:
		next = CompletingRebalance
		w.stats.Generations++
	case NoteGroupStable:
		next = Stable
	case NoteGroupEmpty:
		next = Empty
	case NoteGroupDeleted, NoteGroupExpired:
		if s.states[n.Group] != Empty {
			w.fail = fmt.Sprintf("legal: group %s ends in state %s", n.Group, s.states[n.Group])
		}
		delete(s.states, n.Group)
		if n.Kind == NoteGroupExpired {
			w.stats.Expired++
		} else {
			w.stats.Deleted++
		}
		return
	case NoteMemberReplaced:
		w.stats.Replaced++
		return
	case NoteOffsetsExpired:
		w.stats.Expired++
		return
	default:
		return
	}
	legal := map[[2]State]bool{
		{Empty, PreparingRebalance}: true, {Stable, PreparingRebalance}: true, {CompletingRebalance, PreparingRebalance}: true,
		{PreparingRebalance, CompletingRebalance}: true, {PreparingRebalance, Empty}: true, {CompletingRebalance, Stable}: true,
	}
	if last := s.states[n.Group]; !legal[[2]State{last, next}] {
		w.fail = fmt.Sprintf("legal: group %s went from %s to %s", n.Group, last, next)
	}
	if n.State != next {
		w.fail = fmt.Sprintf("legal: the note %q does not say %s", n, next)
	}
	s.states[n.Group] = next
}

// replay compares the live core with one that knows only its records.
func (s *simChecks) replay(w *world) {
	c := New(w.config, 1)
	for _, rec := range w.log {
		c.Replay(rec)
	}
	for _, rec := range w.turn.records {
		c.Replay(rec)
	}
	if live, replayed := w.core.Digest(), c.Digest(); live != replayed {
		w.fail = fmt.Sprintf("replay: the live core's digest is %x, the replayed one's %x", live, replayed)
	}
}
