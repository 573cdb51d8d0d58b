package coordinator

import "encoding/binary"

// subscription is the set of topics that the members of a group have subscribed to.
type subscription struct{ topics map[string]struct{} }

// subscribedTo says whether the group reads a topic, or might: if a consumer group's subscriptions are unknown, it is
// taken to read everything, so that nothing of it is deleted.
//
// Source: Kafka ClassicGroup.isSubscribedToTopic.
func (g *group) subscribedTo(topic string) bool {
	if g.subscribed == nil {
		return g.usesConsumerProtocol()
	}
	_, ok := g.subscribed.topics[topic]
	return ok
}

// parseSubscriptions collects the topics of all members. It returns nil, for unknown, unless the group speaks the consumer
// protocol and every member's metadata can be read. A group without members reads nothing.
//
// Source: Kafka ClassicGroup.computeSubscribedTopics.
func (g *group) parseSubscriptions() *subscription {
	if !g.usesConsumerProtocol() || len(g.members) > 0 && g.protocol == "" {
		return nil
	}
	s := &subscription{topics: make(map[string]struct{})}
	for _, m := range g.members {
		ok := eachSubscribedTopic(m.metadata(g.protocol), func(topic []byte) {
			if _, known := s.topics[string(topic)]; !known {
				s.topics[string(topic)] = struct{}{}
			}
		})
		if !ok {
			return nil
		}
	}
	return s
}

// eachSubscribedTopic reads the topics of a consumer's metadata, and says whether they could be read. Every version
// begins as version 0 does, so what follows the topics is not looked at; a version below 0 is none.
//
// Shape:
//
//	version int16 | count int32 | count times: length int16, topic | user data and whatever later versions add
//
// Source: Kafka ConsumerProtocolSubscription.json, ConsumerProtocol.deserializeVersion.
func eachSubscribedTopic(metadata []byte, fn func(topic []byte)) bool {
	const versionSize, countSize, lengthSize = 2, 4, 2
	if len(metadata) < versionSize+countSize || int16(binary.BigEndian.Uint16(metadata)) < 0 {
		return false
	}
	count := int32(binary.BigEndian.Uint32(metadata[versionSize:]))
	rest := metadata[versionSize+countSize:]
	if count < 0 || int(count) > len(rest)/lengthSize {
		return false
	}
	for range count {
		if len(rest) < lengthSize {
			return false
		}
		length := int(int16(binary.BigEndian.Uint16(rest)))
		rest = rest[lengthSize:]
		if length < 0 || length > len(rest) {
			return false
		}
		fn(rest[:length])
		rest = rest[length:]
	}
	return userDataReadable(rest)
}

// userDataReadable says whether version 0's last field is there: int32 length, -1 for null, then that many bytes.
func userDataReadable(rest []byte) bool {
	const lengthSize = 4
	if len(rest) < lengthSize {
		return false
	}
	length := int(int32(binary.BigEndian.Uint32(rest)))
	return length < 0 || length <= len(rest)-lengthSize
}
