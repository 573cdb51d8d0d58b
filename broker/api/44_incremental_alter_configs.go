package api

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// IncrementalAlterConfigs (key 44), versions 0 and 1.
//
//	v0  the first (KIP-339)
//	v1  flexible
//
// Resource types: TOPIC and GROUP (KIP-848). Broker settings are read at start, so BROKER is refused as Kafka refuses
// settings that are not dynamic.
func (s *Server) incrementalAlterConfigs(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.IncrementalAlterConfigsRequest)
	resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
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
		answer := kmsg.NewIncrementalAlterConfigsResponseResource()
		answer.ResourceType, answer.ResourceName = asked.ResourceType, asked.ResourceName
		var bad *refusal
		if times[resource{asked.ResourceType, asked.ResourceName}] > 1 {
			bad = refuse(kerr.InvalidRequest, "Each resource must appear at most once.")
		} else {
			bad = s.alter(asked, req.ValidateOnly)
		}
		if bad != nil {
			answer.ErrorCode, answer.ErrorMessage = bad.code, bad.text()
		}
		resp.Resources = append(resp.Resources, answer)
	}
	return resp, nil
}

// alter changes the configs of one resource.
// Source: ConfigAdminManager.preprocess, ConfigurationControlManager.incrementalAlterConfigResource
func (s *Server) alter(asked *kmsg.IncrementalAlterConfigsRequestResource, validateOnly bool) *refusal {
	if bad := checkOperations(asked.Configs); bad != nil {
		return bad
	}
	return s.alterResource(asked.ResourceType, asked.ResourceName, validateOnly, func(before map[string]string, list listDefault) (map[string]string, *refusal) {
		return altered(before, asked.Configs, list)
	})
}

// listDefault returns the default of a config, and whether it is a list, which APPEND and SUBTRACT need.
type listDefault func(name string) (string, bool)

// change returns the overrides of a resource as a request wants them.
type change func(before map[string]string, list listDefault) (after map[string]string, bad *refusal)

// alterResource changes the configs of one resource, in the way of either api.
func (s *Server) alterResource(kind kmsg.ConfigResourceType, name string, validateOnly bool, to change) *refusal {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		return s.alterTopic(name, validateOnly, to)
	case kmsg.ConfigResourceTypeGroupConfig:
		return s.alterGroup(name, validateOnly, to)
	case kmsg.ConfigResourceTypeBroker:
		return refuse(kerr.InvalidRequest,
			"Broker settings are read at start and cannot be changed on a running broker; restart it with --set name=value.")
	case kmsg.ConfigResourceTypeBrokerLogger, kmsg.ConfigResourceTypeClientMetrics:
		return refuse(kerr.InvalidRequest, "This broker keeps no configs for resource type %d.", kind)
	default:
		return refuse(kerr.InvalidRequest, "Unknown resource type %d", kind)
	}
}

// checkOperations refuses a name that appears twice, a null value and an operation that does not exist.
func checkOperations(ops []kmsg.IncrementalAlterConfigsRequestResourceConfig) *refusal {
	seen := map[string]bool{}
	var null []string
	for _, op := range ops {
		if seen[op.Name] {
			return refuse(kerr.InvalidRequest, "Error due to duplicate config keys")
		}
		seen[op.Name] = true
		if op.Op < kmsg.IncrementalAlterConfigOpSet || op.Op > kmsg.IncrementalAlterConfigOpSubtract {
			return refuse(kerr.InvalidRequest, "Unknown operations type %d", op.Op)
		}
		if op.Value == nil && op.Op != kmsg.IncrementalAlterConfigOpDelete {
			null = append(null, op.Name)
		}
	}
	if null != nil {
		return refuse(kerr.InvalidRequest, "Null value not supported for : %s", strings.Join(null, ", "))
	}
	return nil
}

func (s *Server) alterTopic(name string, validateOnly bool, to change) *refusal {
	if name == "" {
		return refuse(kerr.InvalidRequest, "Default topic resources are not allowed.")
	}
	if bad := checkName(name); bad != nil {
		return bad
	}
	t := s.topic(name)
	if t == nil {
		return refuse(kerr.UnknownTopicOrPartition, "The topic '%s' does not exist.", name)
	}
	defaults := s.Settings.TopicDefaults()
	overrides, bad := to(t.Overrides, func(name string) (string, bool) {
		value, _ := defaults.Value(name)
		return value, name == "cleanup.policy"
	})
	if bad != nil {
		return bad
	}
	if _, err := partitionlog.ParseTopicConfig(defaults, overrides); err != nil {
		return refusalOf(err)
	}
	if validateOnly || maps.Equal(overrides, t.Overrides) {
		return nil
	}
	if err := s.Store.AlterTopicConfig(t.ID, overrides); err != nil {
		return refusalOf(err)
	}
	s.Log.Info().Str("topic", t.Name).Interface("configs", overrides).Msg("topic configs altered")
	return nil
}

func (s *Server) alterGroup(name string, validateOnly bool, to change) *refusal {
	if name == "" {
		return refuse(kerr.InvalidRequest, "Default group resources are not allowed.")
	}
	before := s.Store.GroupConfigs(name)
	overrides, bad := to(before, func(string) (string, bool) { return "", false })
	if bad != nil {
		return bad
	}
	if err := s.Settings.CheckGroupConfigs(overrides); err != nil {
		return refuse(kerr.InvalidConfig, "%s", err)
	}
	if validateOnly || maps.Equal(overrides, before) {
		return nil
	}
	group := strings.Clone(name)
	if err := s.Store.AlterGroupConfig(group, overrides); err != nil {
		return refusalOf(err)
	}
	s.Log.Info().Str("group", group).Interface("configs", overrides).Msg("group configs altered")
	return nil
}

// altered returns the overrides after the operations.
func altered(before map[string]string, ops []kmsg.IncrementalAlterConfigsRequestResourceConfig, list listDefault) (map[string]string, *refusal) {
	after := maps.Clone(before)
	if after == nil {
		after = map[string]string{}
	}
	for _, op := range ops {
		name := strings.Clone(op.Name)
		switch op.Op {
		case kmsg.IncrementalAlterConfigOpSet:
			after[name] = strings.Clone(*op.Value)
		case kmsg.IncrementalAlterConfigOpDelete:
			delete(after, name)
		case kmsg.IncrementalAlterConfigOpAppend, kmsg.IncrementalAlterConfigOpSubtract:
			value, isList := list(name)
			if !isList {
				return nil, refuse(kerr.InvalidConfig, "Can't %s to key %s because its type is not LIST.", op.Op, name)
			}
			if current, set := after[name]; set {
				value = current
			}
			after[name] = combine(value, *op.Value, op.Op == kmsg.IncrementalAlterConfigOpAppend)
		}
	}
	return after, nil
}

// combine adds elements to a comma-separated list, or takes them out.
func combine(list, elements string, add bool) string {
	parts := slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
	for _, element := range strings.Split(elements, ",") {
		at := slices.Index(parts, element)
		switch {
		case add && at < 0:
			parts = append(parts, element)
		case !add && at >= 0:
			parts = slices.Delete(parts, at, at+1)
		}
	}
	return strings.Join(parts, ",")
}
