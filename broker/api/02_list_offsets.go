package api

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/partitionlog"
)

// ListOffsets, key 2.
//
//   - v1: one offset with its timestamp (KIP-79); v0 is gone in Kafka 4
//   - v2: isolation level, throttle time
//   - v3: the client throttles itself
//   - v4: leader epoch (KIP-320)
//   - v5: OFFSET_NOT_AVAILABLE
//   - v6: flexible
//   - v7: max timestamp, -3 (KIP-734)
//   - v8: earliest local, -4 (KIP-405)
//   - v9: latest tiered, -5 (KIP-1005)
//   - v10: timeout (KIP-1075)
//   - v11: earliest pending upload, -6 (KIP-1023)
//
// There is no tiered storage and there are no transactions: earliest local is earliest, latest stable is latest.

// Special timestamps of ListOffsets.
//
// Source: ListOffsetsRequest.java.
const (
	timestampLatest        = -1
	timestampEarliest      = -2
	timestampMax           = -3
	timestampEarliestLocal = -4
	timestampLatestTiered  = -5
	timestampPendingUpload = -6
)

// minVersions is the version in which each special timestamp came.
var minVersions = map[int64]int16{
	timestampLatest: 1, timestampEarliest: 1, timestampMax: 7, timestampEarliestLocal: 8,
	timestampLatestTiered: 9, timestampPendingUpload: 11,
}

func (s *Server) listOffsets(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ListOffsetsRequest)
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	type place struct {
		topic     string
		partition int32
	}
	const answered = -1 // a partition that is named twice is refused once
	count := map[place]int{}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			count[place{t.Topic, p.Partition}]++
		}
	}
	for _, t := range req.Topics {
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = t.Topic
		for i := range t.Partitions {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.Offset, p.Timestamp, p.LeaderEpoch = t.Partitions[i].Partition, -1, -1, -1
			switch here := (place{t.Topic, p.Partition}); {
			case count[here] == answered:
				continue
			case count[here] > 1:
				p.ErrorCode = kerr.InvalidRequest.Code
				count[here] = answered
			default:
				s.listOffset(req.Version, t.Topic, &t.Partitions[i], &p)
			}
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp, nil
}

func (s *Server) listOffset(version int16, topic string, in *kmsg.ListOffsetsRequestTopicPartition, out *kmsg.ListOffsetsResponseTopicPartition) {
	p, code := s.Topics.Partition(false, topic, [16]byte{}, in.Partition)
	if code == nil {
		code = s.Topics.CheckEpoch(in.CurrentLeaderEpoch)
	}
	if lowest, special := minVersions[in.Timestamp]; code == nil && in.Timestamp < 0 && (!special || version < lowest) {
		code = kerr.UnsupportedVersion
	}
	if code != nil {
		out.ErrorCode = code.Code
		return
	}
	if err := s.lookUpOffset(p, in.Timestamp, out); err != nil {
		out.ErrorCode = errorCode(err)
	}
}

func (s *Server) lookUpOffset(p *partitionlog.Partition, timestamp int64, out *kmsg.ListOffsetsResponseTopicPartition) error {
	start, high := p.Offsets()
	switch timestamp {
	case timestampLatest:
		out.Offset, out.LeaderEpoch = high, s.Store.LeaderEpoch()
		return nil
	case timestampEarliest, timestampEarliestLocal:
		out.Offset, out.LeaderEpoch = start, p.EpochAt(start)
		return nil
	case timestampLatestTiered, timestampPendingUpload:
		return nil
	}
	var found bool
	var err error
	offset, at, epoch := int64(0), int64(0), int32(0)
	if timestamp == timestampMax {
		offset, at, epoch, found, err = p.MaxTimestamp()
	} else {
		offset, at, epoch, found, err = p.OffsetForTimestamp(timestamp)
	}
	if err == nil && found {
		out.Offset, out.Timestamp, out.LeaderEpoch = offset, at, epoch
	}
	return err
}
