// Command kohort starts a small broker that speaks Kafka's protocol.
//
//	kohort dev                 in memory, quick to rebalance, for tests and for learning
//	kohort serve --data DIR    durable
//	kohort config dev          every setting with its value and where that came from
//	kohort version
//
// and asks any broker that speaks Kafka's protocol:
//
//	kohort groups, lag         see and change groups
//	kohort topics              see and change topics
//	kohort produce, consume    write and read records
//	kohort wait                wait for a broker or a group, in scripts
//	kohort completion SHELL    what makes a shell complete the arguments
//
// and looks at the files of a data directory, whose broker may run meanwhile:
//
//	kohort log dump, verify    print a file; check them all
//	kohort backup DIR TO       a copy that a broker starts on
//
// and makes or fills one that no broker uses:
//
//	kohort import-offsets DIR... --data DATA    groups, offsets and records out of Kafka's log directory
//
// # What it may not know
//
// The command knows the broker from outside only: it reads arguments, starts it, waits for a signal and prints. What a
// setting means, and everything that a client can see, is decided elsewhere. Files it only reads, through an overlay that
// keeps every change to itself; import-offsets, which writes, does so as a broker does, through a store of its own.
//
// # Output
//
// What was asked for goes to standard output, as a table or, with -o json, as JSON; what is said about it to standard
// error. A table fits the terminal, or COLUMNS; into a pipe it is as wide as it likes. Whatever takes over two seconds
// says so. testdata has sessions with all of it.
//
// The banner goes to standard output and the log to standard error. An error at the start is one sentence on standard
// error, and the exit code is 1. A signal ends the broker in good order within two seconds; a second one at once.
// SIGUSR1 makes `kohort serve` write a checkpoint, which is how `kohort backup` asks for one: the lock file tells the pid,
// and that its process takes the signal so.
package main
