// Package harness is what the jobs of every client stand on: a built kohort in a process of its own, other programs as
// processes that can be stopped, continued and killed, and the broker's side of the truth: groups, committed offsets,
// generations, records and codecs as they lie in the log.
//
// It may not know any client but franz-go, with which it asks the broker, and nothing of the broker's inside but its
// log, which is JSON with a line for each request and each decision about a group.
//
// Nothing here sleeps for a result: it waits for a line, or asks again until a deadline.
package harness
