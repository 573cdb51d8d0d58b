// Package offsetbytes compares what Kohort and Apache Kafka write into __consumer_offsets, and holds a log directory
// of Kafka that `kohort import-offsets` is tried on.
//
//	history.go        what happens to the groups: the same for both brokers
//	history_kafka.go  what only Kafka can do: transactions, consumer groups (KIP-848), share groups
//	truth.go          what a broker says about its groups, asked with ordinary requests
//	dump.go           the records of __consumer_offsets, field by field
//	record/           a command: runs all of the history on a live Kafka and keeps its log directory in testdata/kafka
//	compare/          a command: runs the common history on both, and compares bytes and what Kafka's formatters print
//
// testdata/kafka was made by
//
//	cd integration && go run ./bytes/record
//
// with Apache Kafka 4.4.0. It holds log segments only: indexes and empty partitions are left out.
//
// # What it may not know
//
// As all of integration it sees sockets, files and standard output. offsetslog.Decode is not used here: kmsg's decoder
// is the second opinion.
package offsetbytes
