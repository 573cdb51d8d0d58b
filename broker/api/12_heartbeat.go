package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Heartbeat, key 12.
//
//   - v1: throttle time
//   - v2: the client throttles itself
//   - v3: group instance id (KIP-345)
//   - v4: flexible
//
// Decided by coordinator/heartbeat.go. While the group's partition is replayed the answer is 0: any error would make
// the members rejoin for nothing.

func (s *Server) heartbeat(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.HeartbeatRequest)
	if tooLong(req.Group, req.MemberID, value(req.InstanceID)) {
		return nil, errTooLong
	}
	resp, err := s.Groups.Do(req.Group, c.Client, req)
	if err == nil {
		return resp, nil
	}
	failed := req.ResponseKind().(*kmsg.HeartbeatResponse)
	switch {
	case req.Group == "":
		failed.ErrorCode = kerr.InvalidGroupID.Code
	case !errors.Is(err, kerr.CoordinatorLoadInProgress):
		failed.ErrorCode = errorCode(err)
	}
	return failed, nil
}
