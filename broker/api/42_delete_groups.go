package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteGroups, key 42 (KIP-229).
//
//   - v1: the client throttles itself
//   - v2: flexible
//   - v3: error message
//
// Decided by coordinator/delete.go, group by group; a group that is named twice is answered once.

func (s *Server) deleteGroups(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DeleteGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	if tooLong(req.Groups...) {
		return nil, errTooLong
	}
	seen := map[string]bool{}
	for _, group := range req.Groups {
		if seen[group] {
			continue
		}
		seen[group] = true
		one := kmsg.DeleteGroupsRequest{Version: req.Version, Groups: []string{group}}
		got, err := s.Groups.Do(group, c.Client, &one)
		if err != nil {
			failed := kmsg.NewDeleteGroupsResponseGroup()
			failed.Group, failed.ErrorCode = group, errorCode(err)
			resp.Groups = append(resp.Groups, failed)
			continue
		}
		resp.Groups = append(resp.Groups, got.(*kmsg.DeleteGroupsResponse).Groups...)
	}
	return resp, nil
}
