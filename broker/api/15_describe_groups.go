package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeGroups, key 15.
//
//   - v1: throttle time
//   - v2: the client throttles itself
//   - v3: authorized operations (KIP-430)
//   - v4: group instance id (KIP-345)
//   - v5: flexible
//   - v6: error message, GROUP_ID_NOT_FOUND for an unknown group (KIP-1043)
//
// Decided by coordinator/describe.go, group by group.

func (s *Server) describeGroups(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeGroupsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	if tooLong(req.Groups...) {
		return nil, errTooLong
	}
	for _, group := range req.Groups {
		one := kmsg.DescribeGroupsRequest{
			Version: req.Version, Groups: []string{group}, IncludeAuthorizedOperations: req.IncludeAuthorizedOperations,
		}
		got, err := s.Groups.Do(group, c.Client, &one)
		if err != nil {
			failed := kmsg.NewDescribeGroupsResponseGroup()
			failed.Group, failed.ErrorCode, failed.AuthorizedOperations = group, errorCode(err), -1<<31
			resp.Groups = append(resp.Groups, failed)
			continue
		}
		resp.Groups = append(resp.Groups, got.(*kmsg.DescribeGroupsResponse).Groups...)
	}
	return resp, nil
}
