// Package offsetslog remembers the coordinator's records in Kafka's own `__consumer_offsets` encoding, hashes groups to
// partitions, and reads a partition back.
//
// It may not know that requests, clients or timers exist. It may import coordinator for the record types, and
// partitionlog for batches and partitions.
//
// What lies in a partition: v2 record batches, one for each turn of the coordinator. A key begins with an int16 that
// says what kind of fact follows; a null value is a tombstone for any kind.
//
//	key      00 01 | group string | topic string | partition int32      a committed offset (type 0 is an older form of it)
//	  value  00 03 | offset int64 | leader epoch int32 | metadata string | commit timestamp int64
//	         00 01 | offset int64 | metadata string | commit timestamp int64 | expire timestamp int64
//	                                                                      written only for a commit with a retention of its own
//	key      00 02 | group string                                        a classic group
//	  value  00 03 | protocol type | generation int32 | protocol | leader | state timestamp int64 | members
//
// Deviation: Kafka 4.1 and later write offset values as v4 (flexible, with the topic's id in a tag). That broke every
// tool that follows this topic (Burrow, kminion), and all that it adds is a guard against offsets of a topic that was
// deleted and made again, which DeleteTopics prevents here by writing tombstones before it answers. So v3 is written;
// 0 to 4 are read.
//
// The caller's duties:
//
//  1. Replay a partition with Load before the first append to it.
//  2. Append the bytes of Encode as one batch: the records of one operation are one atomic fact.
//  3. Strings of a record are at most MaxString bytes long: the encoding has 16-bit lengths.
//
// Source: OffsetCommitKey.json, OffsetCommitValue.json, GroupMetadataKey.json, GroupMetadataValue.json,
// CoordinatorRecordSerde.java.
package offsetslog
