package api

// Some partitions of a request are refused by the handler, the others answered by the coordinator. Kafka merges the two
// answers: what was refused comes first, topic by topic, and in each topic partition by partition. Both halves keep the
// order of the request.
//
// Source: OffsetCommitResponse.Builder.merge, OffsetDeleteResponse.Builder.merge.

// refusedFirst returns the elements for which refused says so, and then the others.
func refusedFirst[T any](list []T, refused func(i int) bool) []T {
	ordered := make([]T, 0, len(list))
	for i := range list {
		if refused(i) {
			ordered = append(ordered, list[i])
		}
	}
	if len(ordered) == 0 || len(ordered) == len(list) {
		return list
	}
	for i := range list {
		if !refused(i) {
			ordered = append(ordered, list[i])
		}
	}
	return ordered
}
