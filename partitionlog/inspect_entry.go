package partitionlog

import "time"

// Entry is an entry of the command log, for people.
type Entry struct {
	Kind      string            `json:"entry"`
	TopicID   string            `json:"topicId,omitempty"`
	Topic     string            `json:"topic,omitempty"` // of a new topic
	Partition *int32            `json:"partition,omitempty"`
	Group     string            `json:"group,omitempty"`
	Number    *int64            `json:"number,omitempty"` // log start, next offset, partitions, epoch or producer id
	Internal  bool              `json:"internal,omitempty"`
	Overrides map[string]string `json:"overrides,omitempty"`
	Batch     Batch             `json:"-"` // of an append; aliases the frame
}

// entryNames are the kinds of entries in words.
var entryNames = map[entryKind]string{
	entryAppend: "append", entryTrim: "trim", entryCreateTopic: "create-topic", entryCreatePartitions: "create-partitions",
	entryTopicConfig: "topic-config", entryGroupConfig: "group-config", entryBeginDelete: "begin-delete",
	entryFinishDelete: "finish-delete", entryLeaderEpoch: "leader-epoch", entryProducerIDs: "producer-ids",
	entrySkip: "skip",
}

// name returns the kind in words, or its number.
func (k entryKind) name() string {
	if name, ok := entryNames[k]; ok {
		return name
	}
	return "kind-" + itoa(int64(k))
}

// DecodeFrame returns the entries of a journal frame's payload, and when its turn was. With an error, those before the
// mistake are returned.
//
// Errors: ErrDamaged.
func DecodeFrame(payload []byte) (turn time.Time, entries []Entry, err error) {
	d := decoder{b: payload}
	turn = time.UnixMilli(int64(d.fixed64()))
	for d.err == nil && len(d.b) > 0 {
		e, err := d.entry()
		if err != nil {
			return turn, entries, err
		}
		shown := Entry{Kind: e.kind.name(), Internal: e.internal, Overrides: e.overrides, Batch: e.batch}
		if e.id != ([16]byte{}) {
			shown.TopicID = formatID(e.id)
		}
		switch e.kind {
		case entryAppend:
			shown.Partition = &e.partition
		case entryTrim, entrySkip:
			shown.Partition, shown.Number = &e.partition, &e.number
		case entryGroupConfig:
			shown.Group = e.name
		case entryCreateTopic:
			shown.Topic, shown.Number = e.name, &e.number
		case entryCreatePartitions, entryLeaderEpoch, entryProducerIDs:
			shown.Number = &e.number
		default: // the topic is all
		}
		entries = append(entries, shown)
	}
	return turn, entries, d.err
}
