package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FindCoordinator, key 10.
//
//   - v1: key type (KIP-98), throttle time, error message
//   - v2: the client throttles itself
//   - v3: flexible
//   - v4: several keys (KIP-699)
//   - v5: TRANSACTION_ABORTABLE for new clients (KIP-890)
//   - v6: key type 2, share groups (KIP-932)
//
// The one broker coordinates every group, existing or not. Transactional ids have no coordinator here: the lookup is
// answered at once with an error that no client retries.

// Key types of FindCoordinator.
const (
	keyTypeGroup       = 0
	keyTypeTransaction = 1
	keyTypeShare       = 2
)

// noTransactions is what a transactional client is told, where its api has room for a sentence.
const noTransactions = "this broker does not serve transactions; use an idempotent producer without transactional.id"

func (s *Server) findCoordinator(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.FindCoordinatorRequest)
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	keys := req.CoordinatorKeys
	if req.Version < 4 {
		keys = []string{req.CoordinatorKey}
	}
	if tooLong(keys...) {
		return nil, errTooLong
	}
	var failed *kerr.Error
	switch {
	case req.CoordinatorType == keyTypeTransaction:
		failed = kerr.TransactionalIDAuthorizationFailed
		s.refuseTransactions(c, "FindCoordinator")
	case req.CoordinatorType != keyTypeGroup:
		failed = kerr.InvalidRequest
	default:
		if err := s.Groups.EnsureOffsetsTopic(); err != nil {
			s.Log.Error().Err(err).Msg("the offsets topic cannot be created")
			failed = kerr.CoordinatorNotAvailable
		}
	}
	for _, key := range keys {
		resp.Coordinators = append(resp.Coordinators, s.coordinatorOf(c, req, key, failed))
	}
	if req.Version < 4 {
		one := resp.Coordinators[0]
		resp.NodeID, resp.Host, resp.Port, resp.ErrorCode = one.NodeID, one.Host, one.Port, one.ErrorCode
		resp.ErrorMessage, resp.Coordinators = findMessage(req, failed), nil
	}
	return resp, nil
}

func (s *Server) coordinatorOf(c *Call, req *kmsg.FindCoordinatorRequest, key string, failed *kerr.Error) kmsg.FindCoordinatorResponseCoordinator {
	one := kmsg.NewFindCoordinatorResponseCoordinator()
	one.Key, one.ErrorMessage = key, kmsg.StringPtr("")
	if failed != nil {
		one.NodeID, one.Port, one.ErrorCode = -1, -1, failed.Code
		switch {
		case req.CoordinatorType == keyTypeTransaction:
			one.ErrorMessage = kmsg.StringPtr(noTransactions)
		case req.CoordinatorType < 0 || req.CoordinatorType > keyTypeShare:
			one.ErrorMessage = kmsg.StringPtr(failed.Description) // the whole request failed, not one key
		}
		return one
	}
	one.NodeID, one.Host, one.Port = s.NodeID, c.Host, c.Port
	return one
}

// findMessage is the error message of the single form: "NONE" on success, which Kafka sends and some clients print.
func findMessage(req *kmsg.FindCoordinatorRequest, failed *kerr.Error) *string {
	switch {
	case failed == nil:
		return kmsg.StringPtr("NONE")
	case req.CoordinatorType == keyTypeTransaction:
		return kmsg.StringPtr(noTransactions)
	}
	return kmsg.StringPtr(failed.Description)
}

// refuseTransactions writes the line that tells a user why his client stopped.
func (s *Server) refuseTransactions(c *Call, api string) {
	s.Log.Warn().Str("client", c.Client.ID).Str("host", c.Client.Host).Str("api", api).Msg("transactional client refused: " + noTransactions)
}
