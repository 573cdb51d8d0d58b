package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The endpoint types of DescribeCluster v1+.
const (
	endpointBrokers     = 1
	endpointControllers = 2
)

// DescribeCluster (key 60), versions 0 to 2.
//
//	v0  the first (KIP-700)
//	v1  endpoint type (KIP-919): brokers or controllers
//	v2  fenced brokers (KIP-1073), of which there are none
func (s *Server) describeCluster(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeClusterRequest)
	resp := req.ResponseKind().(*kmsg.DescribeClusterResponse)
	resp.Default()
	var bad *refusal
	switch req.EndpointType {
	case endpointBrokers: // also the default, which v0 has
	case endpointControllers:
		bad = refuse(kerr.MismatchedEndpointType, "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER")
	default:
		bad = refuse(kerr.UnsupportedEndpointType, "Unsupported endpoint type %d", req.EndpointType)
	}
	if bad != nil {
		resp.ErrorCode, resp.ErrorMessage = bad.code, bad.text()
		return resp, nil
	}
	resp.ClusterID = s.Store.ClusterID()
	resp.ControllerID = s.NodeID
	resp.Brokers = []kmsg.DescribeClusterResponseBroker{{NodeID: s.NodeID, Host: c.Host, Port: c.Port}}
	if req.IncludeClusterAuthorizedOperations {
		resp.ClusterAuthorizedOperations = clusterOperations
	}
	return resp, nil
}
