package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// LeaveGroup, key 13.
//
//   - v1: throttle time
//   - v2: the client throttles itself
//   - v3: several members, by member id or group instance id (KIP-345)
//   - v4: flexible
//   - v5: reason (KIP-800)
//
// Decided by coordinator/leave.go, which knows only the list of members: v0 to v2 are a list of one, whose error is
// the answer's own.

func (s *Server) leaveGroup(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.LeaveGroupRequest)
	list := *req
	if req.Version < 3 {
		one := kmsg.NewLeaveGroupRequestMember()
		one.MemberID = req.MemberID
		list.Members = []kmsg.LeaveGroupRequestMember{one}
	}
	if tooLong(req.Group) {
		return nil, errTooLong
	}
	for i := range list.Members {
		if m := &list.Members[i]; tooLong(m.MemberID, value(m.InstanceID)) {
			return nil, errTooLong
		}
	}
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	got, err := s.Groups.Do(req.Group, c.Client, &list)
	if err != nil {
		resp.ErrorCode = errorCode(err)
		return resp, nil
	}
	left := got.(*kmsg.LeaveGroupResponse)
	left.Version = req.Version
	if req.Version < 3 && left.ErrorCode == 0 && len(left.Members) == 1 {
		left.ErrorCode = left.Members[0].ErrorCode
	}
	return left, nil
}
