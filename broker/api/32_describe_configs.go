package api

import (
	"context"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeConfigs (key 32), versions 0 to 4.
//
//	v0  the first (KIP-133); is_default instead of a source
//	v1  synonyms and sources (KIP-226)
//	v2  throttling after the answer
//	v3  documentation and types (KIP-569)
//	v4  flexible
//
// Resource types: TOPIC, BROKER, BROKER_LOGGER (no loggers can be set), CLIENT_METRICS (none are kept), GROUP (KIP-848).
func (s *Server) describeConfigs(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeConfigsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Default()
	for i := range req.Resources {
		asked := &req.Resources[i]
		answer := kmsg.NewDescribeConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		answer.ErrorMessage = kmsg.StringPtr("") // Kafka has no null here
		entries, bad := s.entriesOf(asked.ResourceType, asked.ResourceName)
		if bad != nil {
			answer.ErrorCode, answer.ErrorMessage = bad.code, &bad.message
		}
		for _, e := range entries {
			if len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, e.Name) {
				answer.Configs = append(answer.Configs, e.describe(req))
			}
		}
		resp.Resources = append(resp.Resources, answer)
	}
	return resp, nil
}

// describe returns an entry as the client wants it.
func (e *configEntry) describe(req *kmsg.DescribeConfigsRequest) kmsg.DescribeConfigsResponseResourceConfig {
	answer := kmsg.NewDescribeConfigsResponseResourceConfig()
	answer.Name, answer.Value, answer.ReadOnly = e.Name, e.Value, e.ReadOnly
	answer.Source, answer.IsDefault = e.Source, e.Source == kmsg.ConfigSourceDefaultConfig
	answer.ConfigType = e.Type
	if req.IncludeSynonyms {
		answer.ConfigSynonyms = e.Synonyms
	}
	if req.IncludeDocumentation && e.Doc != "" {
		answer.Documentation = &e.Doc
	}
	return answer
}

// entriesOf returns the configs of a resource.
// Source: ConfigHelper.describeConfigs
func (s *Server) entriesOf(kind kmsg.ConfigResourceType, name string) ([]configEntry, *refusal) {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		if bad := checkName(name); bad != nil {
			return nil, bad
		}
		t := s.topic(name)
		if t == nil {
			return nil, &refusal{code: kerr.UnknownTopicOrPartition.Code}
		}
		return s.topicEntries(t.Overrides, t.Config), nil
	case kmsg.ConfigResourceTypeBroker:
		if name == "" {
			return nil, nil // the cluster-wide dynamic defaults, of which there are none
		}
		if bad := s.checkBroker(name, " or empty string,"); bad != nil {
			return nil, bad
		}
		return s.brokerEntries(), nil
	case kmsg.ConfigResourceTypeBrokerLogger:
		if name == "" {
			return nil, refuse(kerr.InvalidRequest, "Broker id must not be empty")
		}
		return nil, s.checkBroker(name, "")
	case kmsg.ConfigResourceTypeClientMetrics:
		if name == "" {
			return nil, refuse(kerr.InvalidRequest, "Client metrics subscription name must not be empty")
		}
		return nil, nil
	case kmsg.ConfigResourceTypeGroupConfig:
		if name == "" {
			return nil, refuse(kerr.InvalidRequest, "Group name must not be empty")
		}
		return s.groupEntries(name), nil
	default:
		return nil, refuse(kerr.InvalidRequest, "%s", kerr.InvalidRequest.Description)
	}
}

// checkBroker refuses a broker resource that is not this broker; or is what else the sentence allows.
func (s *Server) checkBroker(name, or string) *refusal {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return refuse(kerr.InvalidRequest, "Broker id must be an integer, but it is: %s", name)
	}
	if int32(id) != s.NodeID {
		return refuse(kerr.InvalidRequest, "Unexpected broker id, expected %d%s but received %s", s.NodeID, or, name)
	}
	return nil
}
