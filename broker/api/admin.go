package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// transactionTopic is Kafka's other internal topic, which does not exist here.
// Source: Topic.java
const transactionTopic = "__transaction_state"

// maxPartitionsPerRequest is how many partitions one CreateTopics or CreatePartitions may make.
// Source: ReplicationControlManager.MAX_PARTITIONS_PER_BATCH
const maxPartitionsPerRequest = 10_000

// The operations that are allowed when nobody restricts them, as bit fields of AclOperation codes.
// Source: AclEntry.supportedOperations
const (
	topicOperations   = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	clusterOperations = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
)

// refusal is the error of one element of an admin request: a Kafka code and a sentence for the person who asked.
type refusal struct {
	code    int16
	message string
}

// refuse returns a refusal with a code of Kafka's.
func refuse(code *kerr.Error, format string, args ...any) *refusal {
	return &refusal{code: code.Code, message: fmt.Sprintf(format, args...)}
}

// text returns the message as responses carry it: null when there is none.
func (r *refusal) text() *string {
	if r.message == "" {
		return nil
	}
	return &r.message
}

// refusalOf is the refusal for an error of the store or the groups; nil stays nil.
func refusalOf(err error) *refusal {
	if err == nil {
		return nil
	}
	code := kafkaError(err)
	if code == kerr.UnknownTopicOrPartition {
		return refuse(code, "%s", code.Description)
	}
	var c *partitionlog.ConfigError
	if errors.As(err, &c) {
		return refuse(code, "%s", configMessage(c))
	}
	return refuse(code, "%s", trimmed(err))
}

// trimmed returns the text of an error without the name of the room that it came from.
func trimmed(err error) string { return strings.TrimPrefix(err.Error(), "partitionlog: ") }

// topic returns a topic that clients can see: not one that is being deleted. Nil when there is none.
func (s *Server) topic(name string) *partitionlog.Topic {
	t := s.Store.Topic(name)
	if t == nil || t.Deleting {
		return nil
	}
	return t
}

// topicByID is topic for an id.
func (s *Server) topicByID(id [16]byte) *partitionlog.Topic {
	t := s.Store.TopicByID(id)
	if t == nil || t.Deleting {
		return nil
	}
	return t
}

// internal tells whether a name is reserved to the broker.
func internal(name string) bool { return name == offsetslog.Topic || name == transactionTopic }

// checkName returns the refusal of a topic name that Kafka does not take.
// Source: Topic.validate
func checkName(name string) *refusal {
	switch {
	case name == "":
		return refuse(kerr.InvalidTopicException, "Topic name is invalid: the empty string is not allowed")
	case name == "." || name == "..":
		return refuse(kerr.InvalidTopicException, "Topic name is invalid: '%s' is not allowed", name)
	case len(name) > 249:
		return refuse(kerr.InvalidTopicException, "Topic name is invalid: the length of '%s' is longer than the max allowed length 249", name)
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return refuse(kerr.InvalidTopicException,
				"Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
		}
	}
	return nil
}

// checkCollision refuses a name that differs from an existing one only in '.' and '_', since metrics confuse them.
// Source: Topic.hasCollision
func (s *Server) checkCollision(name string) *refusal {
	if !strings.ContainsAny(name, "._") {
		return nil
	}
	unified := strings.ReplaceAll(name, ".", "_")
	for _, t := range s.Store.Topics() {
		if t.Name != name && strings.ReplaceAll(t.Name, ".", "_") == unified {
			return refuse(kerr.InvalidTopicException, "Topic '%s' collides with existing topic: %s", name, t.Name)
		}
	}
	return nil
}

// checkAssignment refuses replicas other than exactly this broker.
// Source: ReplicationControlManager.validateManualPartitionAssignment
func (s *Server) checkAssignment(replicas []int32) *refusal {
	seen := map[int32]bool{}
	for _, id := range replicas {
		if id != s.NodeID {
			return refuse(kerr.InvalidReplicaAssignment,
				"The manual partition assignment includes broker %d, but no such broker is registered.", id)
		}
		if seen[id] {
			return refuse(kerr.InvalidReplicaAssignment,
				"The manual partition assignment includes the broker %d more than once.", id)
		}
		seen[id] = true
	}
	if len(replicas) == 0 {
		return refuse(kerr.InvalidReplicaAssignment, "The manual partition assignment includes an empty replica list.")
	}
	return nil
}

// checkReplicas refuses a replication factor that one broker cannot give; -1 asks for the default.
// Source: ReplicationControlManager.createTopic, StripedReplicaPlacer
func checkReplicas(factor int16) *refusal {
	switch {
	case factor < -1 || factor == 0:
		return refuse(kerr.InvalidReplicationFactor,
			"Replication factor must be larger than 0, or -1 to use the default value.")
	case factor > 1:
		return refuse(kerr.InvalidReplicationFactor, "Unable to replicate the partition %d time(s): "+
			"The target replication factor of %d cannot be reached because only 1 broker(s) are registered or some brokers have all their log directories cordoned.", factor, factor)
	}
	return nil
}
