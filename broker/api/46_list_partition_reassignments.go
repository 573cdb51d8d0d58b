package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListPartitionReassignments (key 46), version 0 (KIP-455).
//
// With one broker nothing is ever moved, so the list is empty; tools ask for it before they describe a topic.
func (s *Server) listPartitionReassignments(_ context.Context, c *Call) (kmsg.Response, error) {
	resp := c.Request.(*kmsg.ListPartitionReassignmentsRequest).ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.Default()
	return resp, nil
}
