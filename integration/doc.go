// Package integration drives the built kohort binary from outside: real clients (franz-go and kcat), real processes on
// loopback, and `kill -9` in the middle of load. It is a module of its own, so that what only its tests need does not
// become a dependency of the library.
//
// It may not know the inside of the broker: it sees sockets, files, standard output and the log. The one exception is
// offsetslog.Decode, which reads what any consumer of __consumer_offsets could read.
//
// # What the tests wait for
//
// Nothing sleeps. A test waits for a line of the broker's log (JSON, one for each decision about a group), for a
// callback of a client, or asks until a deadline. Every broker gets a free port, and a directory of its own.
//
// # Randomness
//
// Random tests draw a fresh seed and print it when they fail. Give it again with
//
//	go test -run TestCrash -args -seed=N
package integration
