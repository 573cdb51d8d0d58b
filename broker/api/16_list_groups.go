package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListGroups, key 16.
//
//   - v1: throttle time
//   - v2: the client throttles itself
//   - v3: flexible
//   - v4: states filter, group state (KIP-518)
//   - v5: types filter, group type (KIP-848)
//
// Every shard is asked; one that is still loading fails the whole, as in Kafka, since a list with holes looks complete.

func (s *Server) listGroups(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ListGroupsRequest)
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	answers, err := s.Groups.All(c.Client, func() kmsg.Request { one := *req; return &one })
	if err != nil {
		resp.ErrorCode = errorCode(err)
		return resp, nil
	}
	for _, a := range answers {
		resp.Groups = append(resp.Groups, a.(*kmsg.ListGroupsResponse).Groups...)
	}
	return resp, nil
}
