package coordinator

import (
	"math"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// operationsNotAsked is the default of authorized_operations.
	operationsNotAsked = math.MinInt32
	// allGroupOperations is what may be done to a group where nothing is forbidden: READ, DELETE, DESCRIBE,
	// DESCRIBE_CONFIGS and ALTER_CONFIGS, each a bit by its number. Source: Kafka AclEntry.supportedOperations(GROUP).
	allGroupOperations = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11
	// firstVersionWithGroupNotFound is the DescribeGroups version from which an unknown group is an error. Source: KIP-1043.
	firstVersionWithGroupNotFound = 6
)

// describeGroups answers with members, their metadata and assignments.
//
// Source: spec 3.5; Kafka GroupMetadataManager.describeGroups.
func (c *Core) describeGroups(r *Request, req *kmsg.DescribeGroupsRequest) {
	resp := &kmsg.DescribeGroupsResponse{Version: req.Version, Groups: make([]kmsg.DescribeGroupsResponseGroup, len(req.Groups))}
	for i, id := range req.Groups {
		answer := &resp.Groups[i]
		answer.Group = id
		answer.AuthorizedOperations = operationsNotAsked
		answer.Members = []kmsg.DescribeGroupsResponseGroupMember{}
		if g := c.find(id); g != nil {
			g.describe(answer)
		} else {
			describeUnknown(answer, req.Version)
		}
		if req.IncludeAuthorizedOperations && answer.ErrorCode == 0 {
			answer.AuthorizedOperations = allGroupOperations
		}
	}
	c.reply(r.Token, resp)
}

// describeUnknown is what a group that does not exist looks like: dead, and from version 6 an error too.
func describeUnknown(answer *kmsg.DescribeGroupsResponseGroup, version int16) {
	answer.State = Dead.String()
	if version >= firstVersionWithGroupNotFound {
		message := "Group " + answer.Group + " not found."
		answer.ErrorCode, answer.ErrorMessage = kerr.GroupIDNotFound.Code, &message
	}
}

// describe fills in a group. While it is not stable there is no agreed protocol, and so no metadata to show.
func (g *group) describe(answer *kmsg.DescribeGroupsResponseGroup) {
	answer.State = g.state.String()
	answer.ProtocolType = g.protocolType
	if g.state == Stable {
		answer.Protocol = g.protocol
	}
	for _, m := range g.members {
		d := kmsg.DescribeGroupsResponseGroupMember{
			MemberID:         m.id,
			InstanceID:       m.instanceID,
			ClientID:         m.clientID,
			ClientHost:       m.clientHost,
			ProtocolMetadata: []byte{},
			MemberAssignment: m.assignment,
		}
		if g.state == Stable {
			d.ProtocolMetadata = m.metadata(g.protocol)
		}
		if d.MemberAssignment == nil {
			d.MemberAssignment = []byte{}
		}
		answer.Members = append(answer.Members, d)
	}
}
