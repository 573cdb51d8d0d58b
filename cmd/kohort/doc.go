// Command kohort starts a small broker that speaks Kafka's protocol.
//
//	kohort dev                 in memory, quick to rebalance, for tests and for learning
//	kohort serve --data DIR    durable
//	kohort config dev          every setting with its value and where that came from
//	kohort version
//
// # What it may not know
//
// The command knows the broker from outside only: it reads arguments, starts it, waits for a signal and prints. What a
// setting means, and everything that a client can see, is decided elsewhere.
//
// # Output
//
// The banner goes to standard output and the log to standard error. An error at the start is one sentence on standard
// error, and the exit code is 1. A signal ends the broker in good order within two seconds; a second one at once.
package main
