package api

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker/topics"
	"github.com/kohort/kohort/partitionlog"
)

// Fetch, key 1.
//
//   - v4: isolation level, last stable offset, aborted transactions (KIP-98); v0 to v3 carry older formats
//   - v5: log start offset
//   - v7: sessions (KIP-227)
//   - v9: current leader epoch (KIP-320)
//   - v10: zstd
//   - v11: rack and preferred replica (KIP-392)
//   - v12: flexible; last fetched epoch and diverging epoch (KIP-595)
//   - v13: topic ids (KIP-516)
//   - v15: the replica id is a tag (KIP-903)
//   - v16: leaders' endpoints (KIP-951)
//   - v17: directory ids (KIP-853)
//   - v18: the follower's high watermark (KIP-1166)
//
// Deviation: no session is kept, as in a Kafka whose cache is full: the answer's session id is always 0, and every client
// then sends full requests. A request with a session, which none can have, is answered FETCH_SESSION_ID_NOT_FOUND.

// fetch is one Fetch on its way: what is asked, and what has been read so far.
type fetch struct {
	s         *Server
	call      *Call
	req       *kmsg.FetchRequest
	resp      *kmsg.FetchResponse
	watched   []*partitionlog.Partition
	minBytes  int
	maxBytes  int
	committed bool // read_committed: an empty list of aborted transactions instead of none
}

func (s *Server) fetch(ctx context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.FetchRequest)
	f := fetch{s: s, call: c, req: req, resp: req.ResponseKind().(*kmsg.FetchResponse), committed: req.IsolationLevel == 1}
	if code := checkSession(req); code != nil {
		f.resp.ErrorCode = code.Code
		return f.resp, nil
	}
	f.maxBytes = min(int(req.MaxBytes), int(s.Settings.FetchMaxBytes))
	f.minBytes = min(int(req.MinBytes), f.maxBytes)
	f.resolve()
	topics.Wait(ctx, time.Duration(req.MaxWaitMillis)*time.Millisecond, f.watched, f.read)
	return f.resp, nil
}

// checkSession refuses what refers to a session, since there are none.
//
// Source: FetchManager.newContext; also a session epoch without a session is answered so.
func checkSession(req *kmsg.FetchRequest) *kerr.Error {
	if req.Version < 7 || req.SessionEpoch == -1 || req.SessionEpoch == 0 {
		return nil
	}
	return kerr.FetchSessionIDNotFound
}

// resolve prepares the answer's shape and the partitions to wait for.
func (f *fetch) resolve() {
	f.resp.Topics = make([]kmsg.FetchResponseTopic, len(f.req.Topics))
	for i := range f.req.Topics {
		in, out := &f.req.Topics[i], &f.resp.Topics[i]
		out.Topic, out.TopicID = in.Topic, in.TopicID
		out.Partitions = make([]kmsg.FetchResponseTopicPartition, len(in.Partitions))
		for j := range in.Partitions {
			if p, _ := f.partition(in, in.Partitions[j].Partition); p != nil {
				f.watched = append(f.watched, p)
			}
		}
	}
}

func (f *fetch) partition(in *kmsg.FetchRequestTopic, index int32) (*partitionlog.Partition, *kerr.Error) {
	return f.s.Topics.Partition(f.req.Version >= 13, in.Topic, in.TopicID, index)
}

// read fills the whole answer anew and reports whether it may leave: enough bytes, an error, or nothing to wait for.
//
// Source: DelayedFetch.tryComplete; ReplicaManager.readFromLog.
func (f *fetch) read() bool {
	total, failed := 0, false
	f.call.reuse()
	for i := range f.req.Topics {
		in := &f.req.Topics[i]
		for j := range in.Partitions {
			out := &f.resp.Topics[i].Partitions[j]
			f.readPartition(in, &in.Partitions[j], out, f.maxBytes-total, total == 0)
			total += len(out.RecordBatches)
			failed = failed || out.ErrorCode != 0 || out.DivergingEpoch.EndOffset >= 0
		}
	}
	return failed || total >= f.minBytes || len(f.watched) == 0
}

// readPartition answers one partition. room is what is left of the whole answer's bound; the first batch of the first
// partition that has any is returned whole, even if it is larger, or a consumer would never get past it.
func (f *fetch) readPartition(topic *kmsg.FetchRequestTopic, in *kmsg.FetchRequestTopicPartition, out *kmsg.FetchResponseTopicPartition, room int, first bool) {
	*out = kmsg.NewFetchResponseTopicPartition()
	out.Partition, out.HighWatermark = in.Partition, -1
	out.RecordBatches = []byte{} // empty, never null: librdkafka asks again and again after a null
	if f.committed {
		out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	}
	p, code := f.partition(topic, in.Partition)
	if code != nil {
		// As Kafka answers what it does not look for in a log.
		out.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
		f.refuse(out, code)
		return
	}
	if code = f.s.Topics.CheckEpoch(in.CurrentLeaderEpoch); code != nil {
		f.refuse(out, code)
		return
	}
	if in.LastFetchedEpoch >= 0 && diverges(p, in, out) {
		return
	}
	records, err := p.ReadInto(f.call.Bytes, in.FetchOffset, min(int(in.PartitionMaxBytes), max(room, 0)), first)
	if err != nil {
		f.refuse(out, kafkaError(err))
		return
	}
	// After the read: what it returned lies below this high watermark.
	start, high := p.Offsets()
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = high, high, start
	if records != nil {
		out.RecordBatches = records
	}
}

// refuse puts an error in place of data; a leader's epoch goes along, so that the client need not look it up.
func (f *fetch) refuse(out *kmsg.FetchResponseTopicPartition, code *kerr.Error) {
	out.ErrorCode, out.HighWatermark, out.LastStableOffset, out.LogStartOffset = code.Code, -1, -1, -1
}

// diverges tells a client that has read records of an epoch that ended before its position where that epoch ended.
//
// Source: UnifiedLog.read, Partition.readRecords (KIP-595).
func diverges(p *partitionlog.Partition, in *kmsg.FetchRequestTopicPartition, out *kmsg.FetchResponseTopicPartition) bool {
	epoch, end := p.EndOffsetForEpoch(in.LastFetchedEpoch)
	if epoch < 0 || (epoch == in.LastFetchedEpoch && end >= in.FetchOffset) {
		return false
	}
	start, high := p.Offsets()
	out.HighWatermark, out.LastStableOffset, out.LogStartOffset = high, high, start
	out.DivergingEpoch.Epoch, out.DivergingEpoch.EndOffset = epoch, end
	return true
}
