package coordinator

import "github.com/twmb/franz-go/pkg/kmsg"

// Token names one request that waits for its answer. The caller chooses it; the core hands it back exactly once.
//
// Invariant: no two unanswered requests of one core carry the same token.
type Token uint64

// Client is what the connection knows about the sender of a request.
type Client struct {
	ID   string // client.id of the request header; a null one has been read as ""
	Host string // as Kafka prints a peer, with its slash: "/127.0.0.1"
}

// Event is something that happened outside and that the core must react to. The set is closed.
type Event interface{ isEvent() }

// Request is one group request of a client, decoded and normalised by the caller.
//
// The body's byte fields may alias a buffer that is reused after the answer: the core clones what it keeps.
// What each body must look like is listed in the package documentation.
type Request struct {
	Token  Token
	Client Client
	Body   kmsg.Request
}

// TopicsDeleted says that topics are gone: the core forgets every offset committed for them. It is answered with
// a Reply that has no Response, so that the caller knows when the tombstones are durable.
type TopicsDeleted struct {
	Token  Token
	Topics []string
}

func (*Request) isEvent()       {}
func (*TopicsDeleted) isEvent() {}

// groupOf is the group that a request is about, or "" if it is about several.
func groupOf(r *Request) string {
	switch body := r.Body.(type) {
	case *kmsg.JoinGroupRequest:
		return body.Group
	case *kmsg.SyncGroupRequest:
		return body.Group
	case *kmsg.HeartbeatRequest:
		return body.Group
	case *kmsg.LeaveGroupRequest:
		return body.Group
	case *kmsg.OffsetCommitRequest:
		return body.Group
	case *kmsg.OffsetDeleteRequest:
		return body.Group
	}
	return ""
}
