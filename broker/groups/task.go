package groups

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/coordinator"
)

// task is one request on its way through a shard.
//
// Owner: whoever submitted it, until await has returned; the shard in between.
// Invariant: done is signalled exactly once for each submit.
type task struct {
	client  coordinator.Client
	body    kmsg.Request // nil: topics were deleted
	deleted []string
	resp    kmsg.Response
	err     error
	done    chan struct{}
	event   coordinator.Request
}

var tasks = sync.Pool{New: func() any { return &task{done: make(chan struct{}, 1)} }}

func newTask(client coordinator.Client, body kmsg.Request) *task {
	t := tasks.Get().(*task)
	t.client, t.body = client, body
	return t
}

// await returns the answer, and the task to the pool.
func (t *task) await() (kmsg.Response, error) {
	<-t.done
	resp, err := t.resp, t.err
	*t = task{done: t.done}
	tasks.Put(t)
	return resp, err
}

// finish is called by the shard, once.
func (t *task) finish(resp kmsg.Response, err error) {
	t.resp, t.err = resp, err
	t.done <- struct{}{}
}
