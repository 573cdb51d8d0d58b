package coordinator

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// simEvent is something that happens at a moment.
type simEvent struct {
	at      int64
	seq     uint64
	kind    simKind
	epoch   int // of the client's connection or timer; older ones no longer count
	client  *simClient
	request *simRequest
	reply   Reply
}

type simKind int8

const (
	simWake simKind = iota
	simArrive
	simAnswer
	simFlush
	simTick
	simAdmin
	simCrash
	simJump
	simCalm
	simEnd
)

// simQueue is what will happen, soonest first; of events at one moment the one that was planned first.
type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }

func (q simQueue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].seq < q[j].seq
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = simEvent{}
	*q = old[:len(old)-1]
	return e
}

// push and pop are container/heap's, without its boxing of each event.
func (q *simQueue) push(e simEvent) {
	*q = append(*q, e)
	i := len(*q) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.Less(i, parent) {
			return
		}
		q.Swap(i, parent)
		i = parent
	}
}

func (q *simQueue) pop() simEvent {
	last := len(*q) - 1
	q.Swap(0, last)
	e := (*q)[last]
	(*q)[last] = simEvent{}
	*q = (*q)[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.Less(child+1, child) {
			child++
		}
		if !q.Less(child, i) {
			break
		}
		q.Swap(i, child)
		i = child
	}
	return e
}

// delay moves all events that should have happened before now to now.
func (q *simQueue) delay(now int64) {
	for i := range *q {
		(*q)[i].at = max((*q)[i].at, now)
	}
	heap.Init(q)
}

func (w *world) at(at int64, e simEvent) {
	w.token++ // any ever-growing number orders events of one moment; tokens are one
	e.at, e.seq = at, uint64(w.token)
	w.queue.push(e)
}

// simRequest is a request on its way.
type simRequest struct {
	token   Token
	client  *simClient // nil for an administrator
	epoch   int
	body    kmsg.Request // nil: topics are deleted
	topics  []string
	arrived bool

	acceptsAnonymous bool // what the state before the step allows, for the check of fencing
	position         int  // of the last record of a commit
}

type simReply struct {
	Reply
	request *simRequest
}

func (r *simRequest) sender() string {
	if r.client == nil {
		return "admin"
	}
	return r.client.name()
}

func (r *simRequest) event() Event {
	r.arrived = true
	if r.body == nil {
		return &TopicsDeleted{Token: r.token, Topics: r.topics}
	}
	who := Client{ID: "admin", Host: "/10.0.0.1"}
	if r.client != nil {
		who = r.client.who
	}
	return &Request{Token: r.token, Client: who, Body: r.body}
}

// send puts a request on the wire: it arrives soon, late, twice or never. Every copy has its own token, for a copy is a
// retry on another connection.
func (w *world) send(c *simClient, epoch int, body kmsg.Request, topics []string) {
	copies := 1
	if w.chaos && c != nil {
		switch p := w.random.Float64(); {
		case p < 0.02:
			copies = 0
		case p < 0.04:
			copies = 2
		}
	}
	for i := range copies {
		w.token++
		r := &simRequest{token: w.token, client: c, epoch: epoch, body: body, topics: topics}
		if i > 0 {
			r.epoch = -1 // nobody waits for the answer of the copy
		}
		w.pending[r.token] = r
		if w.tracing {
			w.trace("%s sends token %d: %s", r.sender(), r.token, simBody(body))
		}
		w.at(w.now+w.latency(), simEvent{kind: simArrive, request: r})
	}
	if copies == 0 {
		w.trace("a request of %s is lost", c.name())
	}
}

// deliver puts a reply on the wire.
func (w *world) deliver(r simReply) {
	if r.request.client == nil || w.chaos && w.chance(0.02) {
		return
	}
	w.at(w.now+w.latency(), simEvent{kind: simAnswer, client: r.request.client, epoch: r.request.epoch, reply: r.Reply})
}

func (w *world) latency() int64 {
	if w.chaos && w.chance(0.02) {
		return 1 + w.random.Int64N(int64(4*time.Second))
	}
	return 1 + w.random.Int64N(int64(3*time.Millisecond))
}

func simBody(body kmsg.Request) string {
	switch b := body.(type) {
	case nil:
		return "TopicsDeleted"
	case *kmsg.JoinGroupRequest:
		return fmt.Sprintf("JoinGroup %s v%d member %q instance %s protocols %d session %d", b.Group, b.Version, b.MemberID, null(b.InstanceID), len(b.Protocols), b.SessionTimeoutMillis)
	case *kmsg.SyncGroupRequest:
		return fmt.Sprintf("SyncGroup %s generation %d member %q assigns %d", b.Group, b.Generation, b.MemberID, len(b.GroupAssignment))
	case *kmsg.HeartbeatRequest:
		return fmt.Sprintf("Heartbeat %s generation %d member %q", b.Group, b.Generation, b.MemberID)
	case *kmsg.OffsetCommitRequest:
		return fmt.Sprintf("OffsetCommit %s generation %d member %q %s-%d=%d", b.Group, b.Generation, b.MemberID,
			b.Topics[0].Topic, b.Topics[0].Partitions[0].Partition, b.Topics[0].Partitions[0].Offset)
	}
	return fmt.Sprintf("%T", body)
}

func simResponse(resp kmsg.Response) string {
	switch b := resp.(type) {
	case nil:
		return "done"
	case *kmsg.JoinGroupResponse:
		return fmt.Sprintf("JoinGroup %s generation %d leader %q member %q of %d", errorText(b.ErrorCode), b.Generation, b.LeaderID, b.MemberID, len(b.Members))
	case *kmsg.SyncGroupResponse:
		return fmt.Sprintf("SyncGroup %s assignment %v", errorText(b.ErrorCode), b.MemberAssignment)
	case *kmsg.HeartbeatResponse:
		return "Heartbeat " + errorText(b.ErrorCode)
	case *kmsg.OffsetCommitResponse:
		return "OffsetCommit " + errorText(b.Topics[0].Partitions[0].ErrorCode)
	}
	return fmt.Sprintf("%T", resp)
}

func simRecord(rec Record) string {
	switch r := rec.(type) {
	case *OffsetRecord:
		return fmt.Sprintf("offset %s %s-%d=%d tombstone %t", r.Group, r.Topic, r.Partition, r.Offset, r.Tombstone)
	case *GroupRecord:
		return fmt.Sprintf("group %s generation %d members %d tombstone %t", r.Group, r.Generation, len(r.Members), r.Tombstone)
	}
	return ""
}
