package coordinator

import "unicode/utf16"

// selectProtocol chooses the protocol of a generation: of those that all members offer, each votes for the one it
// prefers, and the most votes win.
//
// Source: Kafka ClassicGroup.selectProtocol.
func (g *group) selectProtocol() string {
	var ballot ballot
	for _, m := range g.members {
		for _, p := range m.protocols {
			if g.supported[p.name] == len(g.members) {
				ballot.vote(p.name)
				break
			}
		}
	}
	return ballot.winner()
}

// ballot counts votes. Names are few, so a slice does.
type ballot struct {
	names  []string
	counts []int
}

func (b *ballot) vote(name string) {
	for i, n := range b.names {
		if n == name {
			b.counts[i]++
			return
		}
	}
	b.names = append(b.names, name)
	b.counts = append(b.counts, 1)
}

// winner is the name with the most votes; of several, the one that an iteration over a Java HashMap meets first. It is ""
// if nobody voted.
func (b *ballot) winner() string {
	capacity := hashMapCapacity(len(b.names))
	best := -1
	for i, name := range b.names {
		if best < 0 || b.counts[i] > b.counts[best] ||
			b.counts[i] == b.counts[best] && bucket(name, capacity) < bucket(b.names[best], capacity) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return b.names[best]
}

// hashMapCapacity is the number of buckets that a Java HashMap with n entries has: 16, doubled whenever more than three
// quarters are used.
func hashMapCapacity(n int) uint32 {
	capacity := uint32(16)
	for uint32(n)*4 > capacity*3 {
		capacity *= 2
	}
	return capacity
}

// bucket is where a Java HashMap keeps a string.
func bucket(s string, capacity uint32) uint32 {
	h := javaHash(s)
	return (h ^ h>>16) & (capacity - 1)
}

// javaHash is Java's String.hashCode: over UTF-16 code units.
func javaHash(s string) uint32 {
	var h uint32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(u)
	}
	return h
}
