package api

import (
	"context"
	"regexp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/protocol"
)

// ApiVersions, key 18.
//
//   - v1: throttle time
//   - v3: flexible; the client's name and version (KIP-511), features as tags (KIP-584)
//   - v4: a feature's minimum may be 0 (KAFKA-17011)
//   - v5: cluster id and node id that the client believes to talk to (KIP-1242)
//
// A version that is not served is answered in the v0 form, with error 35 and this api's range, without reading its body
// (KIP-511): UnsupportedApiVersions.

var softwareName = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

func (s *Server) apiVersions(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ApiVersionsRequest)
	resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
	resp.FinalizedFeaturesEpoch = -1
	if err := s.checkApiVersions(req); err != nil {
		resp.ErrorCode = err.Code
		return resp, nil
	}
	protocol.ApiVersionsBody(resp, advertised(s.rows))
	return resp, nil
}

func (s *Server) checkApiVersions(req *kmsg.ApiVersionsRequest) *kerr.Error {
	if req.Version >= 3 && (!softwareName.MatchString(req.ClientSoftwareName) || !softwareName.MatchString(req.ClientSoftwareVersion)) {
		return kerr.InvalidRequest
	}
	if req.Version < 5 {
		return nil
	}
	switch named := req.ClusterID != nil; {
	case named != (req.NodeID != -1):
		return kerr.InvalidRequest
	case named && (*req.ClusterID != s.Store.ClusterID() || req.NodeID != s.NodeID):
		return kerr.RebootstrapRequired
	}
	return nil
}

// UnsupportedApiVersions is the answer to an ApiVersions request of a version that is not served.
func (s *Server) UnsupportedApiVersions() kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.ErrorCode = kerr.UnsupportedVersion.Code
	for _, a := range advertised(s.rows) {
		if a.Key == protocol.KeyApiVersions {
			protocol.ApiVersionsBody(resp, []protocol.API{a})
		}
	}
	return resp
}
