package api

import (
	"context"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// CreateTopics (key 19), versions 0 to 7.
//
//	v0  the first
//	v1  error messages, validate_only
//	v2  throttle time
//	v4  -1 for the default number of partitions and replicas (KIP-464)
//	v5  flexible; the answer has partitions, replicas and configs (KIP-525)
//	v7  topic id (KIP-516)
//
// Deviation: Kafka lets a client create an internal topic by hand; here it would get the wrong configuration, so only
// the broker does it.
func (s *Server) createTopics(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.CreateTopicsRequest)
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Default()
	s.admin.Lock()
	defer s.admin.Unlock()
	times := map[string]int{}
	for i := range req.Topics {
		times[req.Topics[i].Topic]++
	}
	excessive := s.checkTotal(req.Topics, times)
	var twice []kmsg.CreateTopicsResponseTopic
	for i := range req.Topics {
		asked := &req.Topics[i]
		answer := kmsg.NewCreateTopicsResponseTopic()
		answer.Topic = asked.Topic
		switch n := times[asked.Topic]; {
		case excessive != nil:
			resp.Topics = append(resp.Topics, *refusedTopic(&answer, excessive))
		case n > 1:
			times[asked.Topic] = 0
			twice = append(twice, *refusedTopic(&answer, refuse(kerr.InvalidRequest, "Duplicate topic name.")))
		case n == 1:
			bad := s.createOne(asked, req.ValidateOnly, &answer)
			resp.Topics = append(resp.Topics, *refusedTopic(&answer, bad))
		}
	}
	resp.Topics = append(resp.Topics, twice...)
	return resp, nil
}

// refusedTopic fills in why a topic was not created; nil for one that was.
func refusedTopic(answer *kmsg.CreateTopicsResponseTopic, bad *refusal) *kmsg.CreateTopicsResponseTopic {
	if bad != nil {
		answer.ErrorCode, answer.ErrorMessage = bad.code, bad.text()
	}
	return answer
}

// checkTotal refuses a request as a whole when it asks for too many partitions. What is counted is the number that
// each topic asks for, though it may be refused for another reason; topics that are named twice are not looked at.
// Source: ReplicationControlManager.validateTotalNumberOfPartitions
func (s *Server) checkTotal(topics []kmsg.CreateTopicsRequestTopic, times map[string]int) *refusal {
	var total int64
	for i := range topics {
		asked := &topics[i]
		switch {
		case times[asked.Topic] > 1:
		case len(asked.ReplicaAssignment) > 0:
			total += int64(len(asked.ReplicaAssignment))
		case asked.NumPartitions == -1:
			total += int64(s.Settings.NumPartitions)
		default:
			total += int64(max(asked.NumPartitions, 0))
		}
	}
	if total > maxPartitionsPerRequest {
		return refuse(kerr.PolicyViolation, "Excessively large number of partitions per request.")
	}
	return nil
}

// createOne checks one topic, creates it unless only the check was asked for, and fills the answer.
func (s *Server) createOne(asked *kmsg.CreateTopicsRequestTopic, validateOnly bool, answer *kmsg.CreateTopicsResponseTopic) *refusal {
	spec, bad := s.specOf(asked)
	if bad != nil {
		return bad
	}
	config, err := partitionlog.ParseTopicConfig(s.Settings.TopicDefaults(), spec.Overrides)
	if err != nil {
		return refusalOf(err)
	}
	if !validateOnly {
		created, err := s.createTopic(spec)
		if err != nil {
			return refusalOf(err)
		}
		answer.TopicID = created.ID
	}
	answer.NumPartitions, answer.ReplicationFactor = spec.Partitions, 1
	for _, e := range s.topicEntries(spec.Overrides, config) {
		entry := kmsg.NewCreateTopicsResponseTopicConfig()
		entry.Name, entry.Value, entry.Source = e.Name, e.Value, int8(e.Source)
		answer.Configs = append(answer.Configs, entry)
	}
	return nil
}

// createTopic creates a topic and says so in the log.
//
// Owner: a goroutine that holds s.admin.
func (s *Server) createTopic(spec partitionlog.TopicSpec) (*partitionlog.Topic, error) {
	spec.Name = strings.Clone(spec.Name) // it outlives the frame that the name is part of
	created, err := s.Store.CreateTopic(spec)
	if err == nil {
		s.Log.Info().Str("topic", spec.Name).Int32("partitions", spec.Partitions).Msg("topic created")
	}
	return created, err
}

// specOf checks everything about a new topic but its configs, in Kafka's order.
// Source: ReplicationControlManager.createTopics, createTopic
func (s *Server) specOf(asked *kmsg.CreateTopicsRequestTopic) (spec partitionlog.TopicSpec, bad *refusal) {
	if bad := checkName(asked.Topic); bad != nil {
		return spec, bad
	}
	if s.Store.Topic(asked.Topic) != nil {
		return spec, refuse(kerr.TopicAlreadyExists, "Topic '%s' already exists.", asked.Topic)
	}
	if internal(asked.Topic) {
		return spec, refuse(kerr.InvalidTopicException, "%s is internal: the broker creates it when it is needed.", asked.Topic)
	}
	if bad := s.checkCollision(asked.Topic); bad != nil {
		return spec, bad
	}
	spec = partitionlog.TopicSpec{Name: asked.Topic, Partitions: asked.NumPartitions, Overrides: map[string]string{}}
	var null []string
	for _, config := range asked.Configs {
		if config.Value == nil {
			null = append(null, config.Name)
			continue
		}
		spec.Overrides[strings.Clone(config.Name)] = strings.Clone(*config.Value)
	}
	if null != nil {
		return spec, refuse(kerr.InvalidConfig, "Null value not supported for topic configs: %s", strings.Join(null, ","))
	}
	if len(asked.ReplicaAssignment) > 0 {
		spec.Partitions, bad = s.assigned(asked)
		return spec, bad
	}
	if bad := checkReplicas(asked.ReplicationFactor); bad != nil {
		return spec, bad
	}
	if asked.NumPartitions < -1 || asked.NumPartitions == 0 {
		return spec, refuse(kerr.InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	if asked.NumPartitions == -1 {
		spec.Partitions = s.Settings.NumPartitions
	}
	return spec, nil
}

// assigned checks a manual assignment of replicas and returns the number of partitions in it.
func (s *Server) assigned(asked *kmsg.CreateTopicsRequestTopic) (partitions int32, bad *refusal) {
	if asked.ReplicationFactor != -1 {
		return 0, refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	}
	if asked.NumPartitions != -1 {
		return 0, refuse(kerr.InvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	seen := map[int32]bool{}
	for _, a := range asked.ReplicaAssignment {
		if seen[a.Partition] {
			return 0, refuse(kerr.InvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", a.Partition)
		}
		seen[a.Partition] = true
		if bad := s.checkAssignment(a.Replicas); bad != nil {
			return 0, bad
		}
	}
	for i := range int32(len(seen)) {
		if !seen[i] {
			return 0, refuse(kerr.InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
	}
	return int32(len(seen)), nil
}
