// Package conformance compares Kohort with Apache Kafka, request by request and field by field.
//
// A scenario is a text file in scenarios/: requests on named raw connections, waits, restarts, and what is expected of
// the answers. The same file runs against a live Apache Kafka, whose answers are kept in golden/, and against Kohort,
// whose answers must be the same but for what the file marks as a deviation, with its reason.
//
//	scenarios/NNN_name.txt --parse--> Scenario --Run--> Transcript --Differences--> golden/NNN_name.txt
//	fixture.txt: defaults and macros       |
//	                                       +-- Kafka:  a process, real time       (make conformance)
//	                                       +-- Kohort: in this process, real time (make conformance)
//	                                       +-- Moved:  its clock is moved         (make test)
//
// # The notation
//
//	title: a sentence                           what the scenario shows
//	with group.max.size=1                       a setting that differs from the fixture's
//	with log.retention.ms=                      a setting of the fixture's that is not given
//	steps take 450ms                            each step that tries has its own time (histories in which time passes)
//	alone                                       on a broker of its own, that nobody has talked to
//	spec: text                                  where Kafka's live answer differs from the written specification
//	A: JoinGroup v9 MemberID: "", Protocols: [{Name: range, Metadata: M}]
//	                                            connection A sends a request and waits for the answer
//	  = ErrorCode 79                            what the answer has to say there, as the transcript writes it
//	  -> A = MemberID                           keeps a field as $A
//	  ! Path value -- Deviation: reason         what Kohort says there instead
//	  ? Path value -- Deviation: reason         what it may say there instead
//	  ~ ErrorCode 0|14                          what the answers before the last may say (retries)
//	A parks: JoinGroup v9 MemberID: $A          sends, and no answer must come
//	A still parked                              none has come until now
//	A answers                                   it comes now
//	A retries: DescribeGroups v6 Groups: [$g]   asks until the expectations hold, and keeps the last answer
//	A tries: JoinGroup v9 MemberID: $A          sends, whether it is answered now, later or never (histories)
//	A closes                                    the connection
//	A has no client id                          from now on
//	A reads offsets of $g                       what the offsets topic holds about the group, decoded
//	wait 1000ms                                 time passes
//	restart                                     the broker is stopped and started
//	do stable A                                 a macro of fixture.txt
//
// An indented line that begins with none of = ~ ! ? -> continues the request. Field names are kmsg's; fields that are not
// named have the value of the `default` line in fixture.txt, or else kmsg's. Every scenario has groups $g, $g2, $g3 of its own,
// and, where it names them, topics $t (three partitions), $u (one) and the names $v, $w and $d that do not exist yet; $t.id is an id, and $cluster
// the cluster's after a DescribeCluster.
// The steps that try learn $A, $gen, $proto, $d.id and $d.old from the answers.
// A `!` that Kohort does not need is an error. In PATH and value of = ! ? a * stands for anything.
//
// # What is never compared
//
// Generated member ids (kept as $A, or written <uuid>), topic ids, times, ports, and the order of members and groups.
//
// # What it may not know
//
// The inside of either broker: only bytes on connections.
package conformance
