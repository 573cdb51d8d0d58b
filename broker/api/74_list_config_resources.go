package api

import (
	"context"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListConfigResources (key 74), versions 0 and 1.
//
//	v0  ListClientMetricsResources (KIP-714): subscriptions to client metrics, of which there are none
//	v1  resource types (KIP-1142)
//
// No type in v1 means all of them. Topics are listed, and groups only if configs were set for them. Both tools that
// ask, kafka-client-metrics and kafka-configs, then describe what is listed.
// Source: KafkaApis.handleListConfigResources
func (s *Server) listConfigResources(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ListConfigResourcesRequest)
	resp := req.ResponseKind().(*kmsg.ListConfigResourcesResponse)
	resp.Default()
	if req.Version == 0 {
		return resp, nil
	}
	types := configResourceTypes
	for _, asked := range req.ResourceTypes {
		if !slices.Contains(types, kmsg.ConfigResourceType(asked)) {
			resp.ErrorCode = kerr.UnsupportedVersion.Code
			return resp, nil
		}
	}
	for _, kind := range types {
		if len(req.ResourceTypes) > 0 && !slices.Contains(req.ResourceTypes, int8(kind)) {
			continue
		}
		for _, name := range s.configResources(kind) {
			resource := kmsg.NewListConfigResourcesResponseConfigResource()
			resource.Name, resource.Type = name, int8(kind)
			resp.ConfigResources = append(resp.ConfigResources, resource)
		}
	}
	return resp, nil
}

// configResourceTypes are the types of resources that can be described, in the order of Kafka's answer.
var configResourceTypes = []kmsg.ConfigResourceType{
	kmsg.ConfigResourceTypeGroupConfig, kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeBrokerLogger,
	kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeTopic,
}

// configResources returns the names of the resources of a type.
func (s *Server) configResources(kind kmsg.ConfigResourceType) (names []string) {
	switch kind {
	case kmsg.ConfigResourceTypeGroupConfig:
		return s.Store.GroupsWithConfigs()
	case kmsg.ConfigResourceTypeBrokerLogger, kmsg.ConfigResourceTypeBroker:
		return []string{strconv.Itoa(int(s.NodeID))}
	case kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeUnknown:
		return nil
	case kmsg.ConfigResourceTypeTopic:
		for _, t := range s.Store.Topics() {
			if !t.Deleting {
				names = append(names, t.Name)
			}
		}
	}
	return names
}
