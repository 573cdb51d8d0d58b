package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// Metadata (key 3), versions 0 to 13.
//
//	v0   the first
//	v1   null topics mean all and an empty list none (v0: an empty list means all); rack, controller, is_internal
//	v2   cluster id
//	v3   throttle time
//	v4   allow_auto_topic_creation (KIP-204); before it is always allowed
//	v5   offline replicas (KIP-112)
//	v7   leader epoch (KIP-320)
//	v8   authorized operations of the cluster and of topics (KIP-430)
//	v9   flexible
//	v10  topic ids in answers (KIP-516)
//	v11  no cluster operations any more: DescribeCluster has them (KIP-700)
//	v12  topics by id (KIP-516)
//	v13  a code for the whole answer (KIP-1102); this broker never sets it
//
// The answer that creates a topic has it with UNKNOWN_TOPIC_OR_PARTITION and no partitions, as Kafka's has.
func (s *Server) metadata(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.MetadataRequest)
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.Default()
	resp.Brokers = []kmsg.MetadataResponseBroker{{NodeID: s.NodeID, Host: c.Host, Port: c.Port}}
	clusterID := s.Store.ClusterID()
	resp.ClusterID = &clusterID
	resp.ControllerID = s.NodeID
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}

	m := metadataAnswer{s: s, replicas: []int32{s.NodeID}, epoch: s.Store.LeaderEpoch()}
	m.operations = req.IncludeTopicAuthorizedOperations
	m.create = (req.Version < 4 || req.AllowAutoTopicCreation) && s.Settings.AutoCreateTopicsEnable
	switch {
	case req.Topics == nil || (req.Version == 0 && len(req.Topics) == 0):
		m.all()
	case !m.legal(req):
		m.refuseAll(req)
	default:
		m.named(req)
	}
	resp.Topics = m.topics
	return resp, nil
}

// metadataAnswer collects the topics of one answer.
type metadataAnswer struct {
	s          *Server
	replicas   []int32 // shared by every partition of the answer: nobody writes to it
	epoch      int32
	operations bool // the client wants the allowed operations
	create     bool // missing topics may be created
	topics     []kmsg.MetadataResponseTopic
}

// all answers every topic, internal ones included.
func (m *metadataAnswer) all() {
	all := m.s.Store.Topics()
	m.topics = make([]kmsg.MetadataResponseTopic, 0, len(all))
	for _, t := range all {
		if !t.Deleting {
			m.found(t)
		}
	}
}

// legal tells whether ids and null names are used only from the version that has them.
func (m *metadataAnswer) legal(req *kmsg.MetadataRequest) bool {
	if req.Version >= 12 {
		return true
	}
	for i := range req.Topics {
		if req.Topics[i].Topic == nil || req.Topics[i].TopicID != ([16]byte{}) {
			return false
		}
	}
	return true
}

// refuseAll answers a request that is not legal: each topic with INVALID_REQUEST and never a null name.
// Source: MetadataRequest.getErrorResponse
func (m *metadataAnswer) refuseAll(req *kmsg.MetadataRequest) {
	for i := range req.Topics {
		name := ""
		if req.Topics[i].Topic != nil {
			name = *req.Topics[i].Topic
		}
		m.missing(&name, [16]byte{}, kerr.InvalidRequest.Code)
	}
}

// named answers the topics that were asked for, each once. As in Kafka, names are not looked at when there are ids.
func (m *metadataAnswer) named(req *kmsg.MetadataRequest) {
	m.topics = make([]kmsg.MetadataResponseTopic, 0, len(req.Topics))
	byID := false
	for i := range req.Topics {
		byID = byID || req.Topics[i].TopicID != [16]byte{}
	}
	names, ids := map[string]bool{}, map[[16]byte]bool{}
	for i := range req.Topics {
		switch asked := &req.Topics[i]; {
		case byID:
			if asked.TopicID != [16]byte{} && !ids[asked.TopicID] {
				ids[asked.TopicID] = true
				m.byID(asked.TopicID)
			}
		case asked.Topic != nil && !names[*asked.Topic]:
			names[*asked.Topic] = true
			m.byName(asked.Topic)
		}
	}
}

func (m *metadataAnswer) byID(id [16]byte) {
	if t := m.s.topicByID(id); t != nil {
		m.found(t)
		return
	}
	m.missing(nil, id, kerr.UnknownTopicID.Code)
}

func (m *metadataAnswer) byName(name *string) {
	if t := m.s.topic(*name); t != nil {
		m.found(t)
		return
	}
	code := kerr.UnknownTopicOrPartition.Code
	if m.create {
		code = m.s.autoCreate(*name)
	} else if bad := checkName(*name); bad != nil {
		code = bad.code
	}
	m.missing(name, [16]byte{}, code)
}

// missing answers a topic with an error and no partitions.
func (m *metadataAnswer) missing(name *string, id [16]byte, code int16) {
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID, topic.ErrorCode = name, id, code
	if name != nil {
		topic.IsInternal = internal(*name)
	}
	m.topics = append(m.topics, topic)
}

// found answers a topic with its partitions, all led by this broker.
func (m *metadataAnswer) found(t *partitionlog.Topic) {
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID, topic.IsInternal = &t.Name, t.ID, t.Internal
	if m.operations {
		topic.AuthorizedOperations = topicOperations
	}
	topic.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(t.Partitions))
	for i := range topic.Partitions {
		p := &topic.Partitions[i]
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), m.s.NodeID, m.epoch
		p.Replicas, p.ISR = m.replicas, m.replicas
	}
	m.topics = append(m.topics, topic)
}

// autoCreate creates a topic that somebody named, and returns the code of the answer that does so: a created topic is
// unknown in it, and found by the next request.
// Source: AutoTopicCreationManager
func (s *Server) autoCreate(name string) int16 {
	unknown := kerr.UnknownTopicOrPartition.Code
	if bad := checkName(name); bad != nil {
		return bad.code
	}
	var err error
	switch name {
	case offsetslog.Topic:
		err = s.Groups.EnsureOffsetsTopic()
	case transactionTopic:
		return unknown // there are no transactions, so nothing would ever be in it
	default:
		s.admin.Lock()
		defer s.admin.Unlock()
		if bad := s.checkCollision(name); bad != nil {
			return bad.code
		}
		_, err = s.createTopic(partitionlog.TopicSpec{Name: name, Partitions: s.Settings.NumPartitions})
	}
	if err == nil || errors.Is(err, partitionlog.ErrTopicExists) {
		return unknown // also when another client was faster, or a deletion is not finished
	}
	s.Log.Warn().Err(err).Str("topic", name).Msg("topic was not created automatically")
	return refusalOf(err).code
}
