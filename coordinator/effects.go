package coordinator

import "github.com/twmb/franz-go/pkg/kmsg"

// Effects is what must happen because of one event: records to write, then replies to send, and notes to log.
//
// No reply may leave before the records of this Effects, and of all earlier ones, are durable: that order is what
// spares the core any rollback. The records of one Effects are one atomic batch.
//
// Owner: the three slices are reused by the next Step or Tick. The records and responses they point to are not: they
// belong to the caller, who must not change a record, since the core shares its bytes.
type Effects struct {
	Records []Record
	Replies []Reply
	Notes   []Note
}

// Reply answers one token. Response is nil for a TopicsDeleted.
type Reply struct {
	Token    Token
	Response kmsg.Response
}
