package offsetbytes

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// joined is the answer to a JoinGroup that may take as long as others need.
type joined struct {
	*kmsg.JoinGroupResponse
	err error
}

// join joins the group "pair". The seat makes a member static, and its subscription tells it from the other.
func (h *History) join(ctx context.Context, seat, member string) <-chan joined {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = "pair", member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 120_000, 240_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte(seat)}}
	if seat == "b" {
		req.InstanceID = &seat
	}
	done := make(chan joined, 1)
	go func() {
		resp, err := request[*kmsg.JoinGroupResponse](ctx, h.addr, req, 5)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		done <- joined{resp, err}
	}()
	return done
}

// pair is a group whose second member is static and joins later; both are left as they are, in a stable group.
func (h *History) pair(ctx context.Context) error {
	first := <-h.join(ctx, "a", "")
	if !errors.Is(first.err, kerr.MemberIDRequired) {
		return fmt.Errorf("joining without a member id: %w", first.err)
	}
	a := <-h.join(ctx, "a", first.MemberID)
	if a.err != nil {
		return a.err
	}
	if err := h.sync(ctx, a, map[string]string{a.MemberID: "alone"}); err != nil {
		return err
	}
	waiting := h.join(ctx, "b", "")
	for {
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.Generation, beat.MemberID = "pair", a.Generation, a.MemberID
		resp, err := request[*kmsg.HeartbeatResponse](ctx, h.addr, beat, 3)
		if err != nil {
			return err
		}
		if errors.Is(kerr.ErrorForCode(resp.ErrorCode), kerr.RebalanceInProgress) {
			break
		}
	}
	a = <-h.join(ctx, "a", a.MemberID)
	b := <-waiting
	if err := errors.Join(a.err, b.err); err != nil {
		return err
	}
	return h.sync(ctx, a, map[string]string{a.MemberID: "a's half", b.MemberID: "b's half"})
}

// sync is the leader's SyncGroup.
func (h *History) sync(ctx context.Context, leader joined, assignment map[string]string) error {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.Generation, req.MemberID = "pair", leader.Generation, leader.MemberID
	for member, share := range assignment {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: member, MemberAssignment: []byte(share)})
	}
	resp, err := request[*kmsg.SyncGroupResponse](ctx, h.addr, req, 3)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
