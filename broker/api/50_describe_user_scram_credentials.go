package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeUserScramCredentials (key 50), version 0 (KIP-554).
//
// There are no users: all of them are none, and one that is named is not found. kafka-configs asks when it describes
// users.
// Source: ScramImage.describe
func (s *Server) describeUserSCRAMCredentials(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeUserSCRAMCredentialsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeUserSCRAMCredentialsResponse)
	resp.Default()
	resp.ErrorMessage = kmsg.StringPtr("") // Kafka has no null here
	times := map[string]int{}
	for _, user := range req.Users {
		times[user.Name]++
	}
	for _, user := range req.Users {
		result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
		result.User = user.Name
		bad := refuse(kerr.ResourceNotFound, "Attempt to describe a user credential that does not exist: %s", user.Name)
		switch n := times[user.Name]; {
		case n == 0:
			continue // answered already
		case n > 1:
			bad = refuse(kerr.DuplicateResource, "Cannot describe SCRAM credentials for the same user twice in a single request: %s", user.Name)
		}
		times[user.Name] = 0
		result.ErrorCode, result.ErrorMessage = bad.code, bad.text()
		resp.Results = append(resp.Results, result)
	}
	return resp, nil
}
