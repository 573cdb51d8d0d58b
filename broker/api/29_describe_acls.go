package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeAcls (key 29), versions 0 to 3 (KIP-140; v1 prefixed patterns, v2 flexible, v3 user resources).
//
// Nobody is restricted, and the answer is that of a Kafka without an authorizer. Consoles ask, and show that ACLs are off.
// Source: AclApis.handleDescribeAcls
func (s *Server) describeACLs(_ context.Context, c *Call) (kmsg.Response, error) {
	resp := c.Request.(*kmsg.DescribeACLsRequest).ResponseKind().(*kmsg.DescribeACLsResponse)
	resp.Default()
	bad := refuse(kerr.SecurityDisabled, "No Authorizer is configured on the broker")
	resp.ErrorCode, resp.ErrorMessage = bad.code, bad.text()
	return resp, nil
}
