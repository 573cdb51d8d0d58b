package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// JoinGroup, key 11.
//
//   - v1: rebalance timeout (KIP-62)
//   - v2: throttle time
//   - v3: the client throttles itself
//   - v4: MEMBER_ID_REQUIRED (KIP-394)
//   - v5: group instance id (KIP-345)
//   - v6: flexible
//   - v7: protocol type and nullable protocol name in the answer (KIP-559)
//   - v8: reason (KIP-800)
//   - v9: skip assignment (KIP-814)
//
// Parked until the group's join phase ends. All of it is decided by coordinator/join.go.

func (s *Server) joinGroup(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.JoinGroupRequest)
	if tooLong(req.Group, req.MemberID, value(req.InstanceID), req.ProtocolType) {
		return nil, errTooLong
	}
	for i := range req.Protocols {
		if tooLong(req.Protocols[i].Name) {
			return nil, errTooLong
		}
	}
	resp, err := s.Groups.Do(req.Group, c.Client, req)
	if err == nil {
		return resp, nil
	}
	failed := req.ResponseKind().(*kmsg.JoinGroupResponse)
	failed.ErrorCode, failed.Generation = errorCode(err), -1
	if req.Version < 7 {
		failed.Protocol = kmsg.StringPtr("")
	}
	return failed, nil
}
