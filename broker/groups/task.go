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

// pool keeps tasks with their channels. Each Groups has its own: a channel that was made in one testing/synctest bubble
// cannot be used in another.
type pool struct{ sync.Pool }

func (p *pool) task(client coordinator.Client, body kmsg.Request) *task {
	t, ok := p.Get().(*task)
	if !ok {
		t = &task{done: make(chan struct{}, 1)}
	}
	t.client, t.body = client, body
	return t
}

// await returns the answer, and the task to the pool.
func (p *pool) await(t *task) (kmsg.Response, error) {
	<-t.done
	resp, err := t.resp, t.err
	*t = task{done: t.done}
	p.Put(t)
	return resp, err
}

// finish is called by the shard, once.
func (t *task) finish(resp kmsg.Response, err error) {
	t.resp, t.err = resp, err
	t.done <- struct{}{}
}
