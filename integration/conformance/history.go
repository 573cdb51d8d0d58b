package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// history is what a random history knows beside the steps: nobody wrote it, so members' ids, the generation and the
// protocol are taken from whatever the answers say, and requests may be answered at any later step.
type history struct {
	began time.Time
	slot  time.Duration // each step of a history in which time passes has its own time; 0 for the others
	next  int

	partitions int // of $d, at least
}

// pass waits for the time of the next step, on a clock that may be moved.
func (h *history) pass(t Target) {
	h.next++
	now := time.Now()
	d := h.began.Add(time.Duration(h.next) * h.slot).Sub(now)
	t.Pass(d)
	if moved := d - time.Since(now); moved > 0 {
		h.began = h.began.Add(-moved)
	}
}

// timedSettle is the settling of timed histories: the same for both brokers, and short of when their timers fire, which
// is 150 ms or more after a step.
const timedSettle = 100 * time.Millisecond

// unknown is the value of a name that no answer has given yet.
func (*history) unknown(name string) string {
	switch name {
	case "$gen", "$gen+1", "$gen-1":
		return "0"
	case "$proto":
		return "range"
	}
	return ""
}

// RunHistory runs a random history. Its topics are shared with other histories.
func RunHistory(ctx context.Context, s *Scenario, t Target, prefix string, topics map[string]string, slot time.Duration) (Transcript, error) {
	r := newRun(ctx, s, t, prefix)
	defer r.closeAll()
	maps.Copy(r.vars, topics)
	r.history = &history{began: time.Now(), slot: slot}
	return r.steps()
}

// try sends a request, unless its connection still waits, and writes whatever has been answered by then on any
// connection.
func (r *run) try(s *Step) (leaves []Leaf, err error) {
	h := r.history
	if h.slot > 0 {
		h.pass(r.target)
	}
	c, err := r.conn(s.Conn)
	if err != nil {
		return nil, err
	}
	if c.pending != nil {
		leaves = append(leaves, Leaf{"(busy)", s.Conn})
	} else if err := r.send(s); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(r.conns))
	var parked []string
	for _, name := range names {
		if mayPark(r.conns[name].pending) {
			parked = append(parked, name)
			continue
		}
		answered, err := r.collect(name, answerTime)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, answered...)
	}
	settled := time.Now().Add(r.target.Settle()) // one settling for all that is parked
	if h.slot > 0 {
		settled = time.Now().Add(timedSettle)
	}
	for _, name := range parked {
		answered, err := r.collect(name, max(time.Until(settled), time.Millisecond))
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, answered...)
	}
	return leaves, nil
}

// mayPark tells whether a request may be answered later than at once.
func mayPark(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest:
		return true
	}
	return false
}

// collect writes the answer on one connection, if it comes in time, and learns from it.
func (r *run) collect(name string, within time.Duration) (leaves []Leaf, err error) {
	c := r.conns[name]
	req := c.pending
	if req == nil {
		return nil, nil
	}
	resp, err := c.receive(within)
	if isNoAnswer(err) {
		if !mayPark(req) {
			return []Leaf{{"(" + name + ")", "never"}}, nil
		}
		return nil, nil
	}
	if err != nil {
		delete(r.conns, name)
		return []Leaf{{"(" + name + ")", err.Error()}}, nil
	}
	keepOwn(resp, r.vars["$g"])
	r.learn(name, resp)
	written := r.renderer(req)
	if err := r.settleTopics(resp); err != nil {
		return nil, err
	}
	for _, l := range written.leaves(resp) {
		leaves = append(leaves, Leaf{"(" + name + ")" + l.Path, l.Value})
	}
	return leaves, nil
}

// learn keeps a member's id, the generation and the protocol. Ids have a number, so that older ones are told apart.
func (r *run) learn(name string, resp kmsg.Response) {
	join, ok := resp.(*kmsg.JoinGroupResponse)
	if !ok {
		return
	}
	if id := join.MemberID; len(id) > 36 {
		if !slices.Contains(slices.Collect(maps.Values(r.vars)), id) {
			r.vars["$"+name+strconv.Itoa(len(r.vars))] = id
		}
		r.vars["$"+name] = id
	}
	if join.ErrorCode == 0 {
		r.vars["$gen"] = strconv.Itoa(int(join.Generation))
		if join.Protocol != nil {
			r.vars["$proto"] = *join.Protocol
		}
	}
}

// SharedTopics creates the topics of histories and returns their names.
func SharedTopics(t Target, nonce string) (map[string]string, error) {
	r := newRun(context.Background(), &Scenario{Name: "shared", text: "$t $u"}, t, "shared-"+nonce+"-")
	if err := r.prepare(); err != nil {
		return nil, err
	}
	topics := map[string]string{}
	for _, name := range []string{"$t", "$u", "$t.id", "$u.id", "$v"} {
		topics[name] = r.vars[name]
	}
	return topics, nil
}

// First returns the first field in which two transcripts differ; nil when they are the same.
func First(s *Scenario, kafka, kohort Transcript) *Difference {
	for i, step := range s.Steps {
		if i >= len(kafka.Steps) || i >= len(kohort.Steps) {
			return &Difference{Step: i + 1, Line: step.Line, Path: "(steps)", Kafka: fmt.Sprint(len(kafka.Steps)), Kohort: fmt.Sprint(len(kohort.Steps))}
		}
		a, b := kafka.Steps[i].Leaves, kohort.Steps[i].Leaves
		for _, p := range paths(a, b) {
			if x, y := valueAt(a, p), valueAt(b, p); x != y {
				if replaced(a, b) {
					return nil // from here on a connection waits in Kafka and does not in Kohort
				}
				return &Difference{Step: i + 1, Line: step.Line, Path: p, Kafka: x, Kohort: y}
			}
		}
	}
	return nil
}

// replaced tells whether Kohort has answered a request that Kafka never answers: a JoinGroup or SyncGroup that a second
// one of the same member replaced, or whose member was removed.
//
// Deviation: every request is answered once.
func replaced(kafka, kohort []Leaf) bool {
	for _, l := range kohort {
		conn, isCode := strings.CutSuffix(l.Path, ")ErrorCode")
		if isCode && (l.Value == "27" || l.Value == "25") && !slices.ContainsFunc(kafka, func(k Leaf) bool { return strings.HasPrefix(k.Path, conn+")") }) {
			return true
		}
	}
	return false
}
