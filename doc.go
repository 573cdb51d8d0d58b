// Package kohort is the root of a small broker that speaks Kafka's wire protocol and whose heart is the coordinator of
// consumer groups.
//
// It holds no code but the test of the house rules. The rooms are beside it; imports go only down:
//
//	cmd            programs
//	broker         sockets and goroutines: the embeddable broker
//	protocol       bytes to requests and back
//	coordinator    what a group coordinator decides
//	offsetslog     the coordinator's records in __consumer_offsets
//	partitionlog   topics and batches that survive a power cut
//
// # What it may not know
//
// The root knows no room from inside: nothing imports it, and it imports nothing.
package kohort
