package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// InitProducerId, key 22.
//
//   - v1: the client throttles itself
//   - v2: flexible
//   - v3: producer id and epoch of a producer that recovers (KIP-360)
//   - v4: PRODUCER_FENCED
//   - v5: TRANSACTION_ABORTABLE (KIP-890)
//
// Only producers without a transactional id get one. Ids come from the store in durable blocks, so that an id is never
// given twice, also after a crash.

func (s *Server) initProducerID(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.InitProducerIDRequest)
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case req.TransactionalID != nil && *req.TransactionalID == "":
		resp.ErrorCode = kerr.InvalidRequest.Code
	case req.TransactionalID != nil:
		s.refuseTransactions(c, "InitProducerId")
		resp.ErrorCode = kerr.TransactionalIDAuthorizationFailed.Code
	case (req.ProducerID < 0) != (req.ProducerEpoch < 0):
		resp.ErrorCode = kerr.InvalidRequest.Code
	default:
		// A producer without a transactional id that asks again, whatever it had, gets a new id.
		id, err := s.Store.NextProducerID()
		if err != nil {
			resp.ErrorCode = kerr.CoordinatorNotAvailable.Code
			return resp, nil
		}
		resp.ProducerID, resp.ProducerEpoch = id, 0
	}
	return resp, nil
}
