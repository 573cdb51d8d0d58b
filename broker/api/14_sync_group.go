package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// SyncGroup, key 14.
//
//   - v1: throttle time
//   - v2: the client throttles itself
//   - v3: group instance id (KIP-345)
//   - v4: flexible
//   - v5: protocol type and name (KIP-559)
//
// Parked until the leader's assignment is durable. Decided by coordinator/sync.go.

func (s *Server) syncGroup(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.SyncGroupRequest)
	if tooLong(req.Group, req.MemberID, value(req.InstanceID), value(req.ProtocolType), value(req.Protocol)) {
		return nil, errTooLong
	}
	resp, err := s.Groups.Do(req.Group, c.Client, req)
	if err == nil {
		return resp, nil
	}
	failed := req.ResponseKind().(*kmsg.SyncGroupResponse)
	failed.ErrorCode = errorCode(err)
	return failed, nil
}
