package offsetslog

import "unicode/utf16"

// Topic is the name of the internal topic that holds groups and committed offsets.
const Topic = "__consumer_offsets"

// PartitionFor returns the partition of the offsets topic, of n, in which a group lives, and so which shard owns it.
//
// It is Java's String.hashCode over UTF-16 code units, then a true absolute value, which maps the one number that has
// none to 0. It is not the mask with which the record partitioner makes a hash positive: the two differ for every
// negative hash, and a group would move.
//
// Source: GroupCoordinatorService.partitionFor, Utils.abs.
func PartitionFor(group string, n int32) int32 {
	h := hashCode(group)
	if h == -1<<31 {
		return 0
	}
	return max(h, -h) % n
}

func hashCode(s string) (h int32) {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
		h = 31*h + int32(s[i])
	}
	if ascii {
		return h
	}
	h = 0
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}
