package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// heartbeat prolongs a member's session and tells it whether it must join again. Only PreparingRebalance does: between
// JoinGroup and SyncGroup a member's heartbeats are answered without error, or each rebalance would start the next.
//
// Source: spec 2.9; Kafka GroupMetadataManager.classicGroupHeartbeatToClassicGroup.
func (c *Core) heartbeat(r *Request, req *kmsg.HeartbeatRequest) {
	resp := &kmsg.HeartbeatResponse{Version: req.Version}
	if e := c.beat(req); e != nil {
		resp.ErrorCode = e.Code
	}
	c.reply(r.Token, resp)
}

func (c *Core) beat(req *kmsg.HeartbeatRequest) *kerr.Error {
	if req.Group == "" {
		return kerr.InvalidGroupID
	}
	g := c.find(req.Group)
	if g == nil {
		return kerr.UnknownMemberID
	}
	m, e := g.validate(req.MemberID, req.InstanceID)
	if e != nil {
		return e
	}
	if req.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	c.armSession(m)
	if g.state == PreparingRebalance {
		return kerr.RebalanceInProgress
	}
	return nil
}
