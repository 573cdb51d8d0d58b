package api

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AlterConfigs (key 33), versions 0 to 2.
//
//	v0  the first (KIP-133)
//	v1  throttling after the answer
//	v2  flexible
//
// It names all configs that a resource shall have: those that it does not name go back to their defaults.
// IncrementalAlterConfigs has taken its place (KIP-339), but older tools still use it.
func (s *Server) alterConfigs(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.AlterConfigsRequest)
	resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
	resp.Default()
	type resource struct {
		kind kmsg.ConfigResourceType
		name string
	}
	times := map[resource]int{}
	for i := range req.Resources {
		times[resource{req.Resources[i].ResourceType, req.Resources[i].ResourceName}]++
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	for i := range req.Resources {
		asked := &req.Resources[i]
		answer := kmsg.NewAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		var bad *refusal
		if times[resource{asked.ResourceType, asked.ResourceName}] > 1 {
			bad = refuse(kerr.InvalidRequest, "Each resource must appear at most once.")
		} else {
			bad = s.replaceConfigs(asked, req.ValidateOnly)
		}
		if bad != nil {
			answer.ErrorCode, answer.ErrorMessage = bad.code, bad.text()
		}
		resp.Resources = append(resp.Resources, answer)
	}
	return resp, nil
}

// replaceConfigs gives one resource the configs of the request, and no others.
// Source: ConfigAdminManager.preprocess, ConfigurationControlManager.legacyAlterConfigs
func (s *Server) replaceConfigs(asked *kmsg.AlterConfigsRequestResource, validateOnly bool) *refusal {
	after := map[string]string{}
	var null []string
	for _, config := range asked.Configs {
		if _, twice := after[config.Name]; twice {
			return refuse(kerr.InvalidRequest, "Error due to duplicate config keys")
		}
		if config.Value == nil {
			null = append(null, config.Name)
			continue
		}
		after[strings.Clone(config.Name)] = strings.Clone(*config.Value)
	}
	if null != nil {
		return refuse(kerr.InvalidRequest, "Null value not supported for : %s", strings.Join(null, ", "))
	}
	return s.alterResource(asked.ResourceType, asked.ResourceName, validateOnly,
		func(map[string]string, listDefault) (map[string]string, *refusal) { return after, nil })
}
