package conformance

import "fmt"

// topicStep deletes the history's own topic or makes it again, by name or id, right or wrong.
//
// $d.id is the id of the topic that exists now or did last, $d.old the id of the one before it.
func (g *generator) topicStep() string {
	switch n := g.IntN(10); {
	case n < 4:
		return g.createTopic()
	case n < 5:
		return "Z tries: DeleteTopics v6 Topics: [{TopicID: " + g.pick("$d.id", "$d.old", "nobody") + "}]"
	case n < 6:
		return "Z tries: DeleteTopics v6 Topics: [{Topic: $d}]"
	case n < 7:
		return fmt.Sprintf("Z tries: DeleteTopics v%d TopicNames: [$d]", 1+g.IntN(5))
	case n < 8:
		return fmt.Sprintf("Z tries: Metadata v%d AllowAutoTopicCreation: false, Topics: [{Topic: $d}]", 4+g.IntN(9))
	case n < 9:
		return fmt.Sprintf("Z tries: OffsetDelete v0 Topics: [{Topic: $d, Partitions: [{Partition: %d}]}]", g.IntN(3))
	default:
		return fmt.Sprintf("Z tries: CreatePartitions v%d Topics: [{Topic: $d, Count: %d}]", g.IntN(4), 1+g.IntN(3))
	}
}

// topicWithOffsets makes the topic and, most often, a live group with an offset in it, which the deletion may follow.
func (g *generator) topicWithOffsets() []string {
	lines := []string{g.createTopic()}
	if g.IntN(4) > 0 {
		lines = append(lines, `A tries: JoinGroup v3 MemberID: "", Protocols: [{Name: range, Metadata: M}]`+g.timeouts(),
			"A tries: SyncGroup v5 MemberID: $A, Generation: $gen, Protocol: $proto, GroupAssignment: [{MemberID: $A, MemberAssignment: A0}]",
			fmt.Sprintf("A tries: OffsetCommit v%d MemberID: $A, Generation: $gen, Topics: [{Topic: $d, TopicID: $d.id, Partitions: [{Partition: 0, Offset: 5}]}]", 2+g.version(8)))
	}
	if g.IntN(2) > 0 {
		lines = append(lines, "Z tries: DeleteTopics v6 Topics: [{Topic: $d}]", g.createTopic(), g.fetch(), g.commit("A"))
	}
	return lines
}

// createTopic makes the topic with one to three partitions.
func (g *generator) createTopic() string {
	return fmt.Sprintf("Z tries: CreateTopics v4 Topics: [{Topic: $d, NumPartitions: %d, ReplicationFactor: 1}]", 1+g.IntN(3))
}

// commitTopic is the topic of a commit: mostly the one that comes and goes, where there is one.
func (g *generator) commitTopic() string {
	if g.topics && g.IntN(3) > 0 {
		return "Topic: $d, TopicID: " + g.often("$d.id", "$d.old")
	}
	return g.often("Topic: $t, TopicID: $t.id", "Topic: $u, TopicID: $u.id", "Topic: $v, TopicID: nobody")
}

// fetchTopics are the topics of a fetch.
func (g *generator) fetchTopics() string {
	if g.topics && g.IntN(2) == 0 {
		return g.pick("[{Topic: $d, ID Partitions: [0, 1, 2]}]", "[{Topic: $d, ID Partitions: [1]}, {Topic: $t, ID Partitions: [0]}]",
			"[{Topic: $d, OLD Partitions: [0, 1]}]")
	}
	return g.pick("null", "[]", "[{Topic: $t, ID Partitions: [0, 1, 2]}]", "[{Topic: $u, ID Partitions: [0]}, {Topic: $t, ID Partitions: [2, 0]}]")
}
