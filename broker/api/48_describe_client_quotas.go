package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeClientQuotas (key 48), versions 0 and 1 (KIP-546; v1 flexible).
//
// There are no quotas and nothing sets any, so whatever the filter, none is found.
func (s *Server) describeClientQuotas(_ context.Context, c *Call) (kmsg.Response, error) {
	resp := c.Request.(*kmsg.DescribeClientQuotasRequest).ResponseKind().(*kmsg.DescribeClientQuotasResponse)
	resp.Default()
	resp.Entries = []kmsg.DescribeClientQuotasResponseEntry{} // null would be an error's
	return resp, nil
}
