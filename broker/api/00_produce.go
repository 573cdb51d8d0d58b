package api

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/offsetslog"
	"github.com/kohort/kohort/partitionlog"
)

// Produce, key 0.
//
//   - v3: v2 batches and the transactional id (KIP-98); v0 to v2 carry older formats, and Kafka 4 dropped them
//   - v5: log start offset
//   - v7: zstd
//   - v8: error records and message (KIP-467)
//   - v9: flexible
//   - v10: the current leader as a tag (KIP-951)
//   - v11: TRANSACTION_ABORTABLE (KIP-890)
//
// v12 and v13 tell a client that transactions add partitions on their own and that topics have ids; they come with
// transactions.
//
// The store checks batches, sequences and epochs; here are the topic, the acks and the internal topic, which no client
// may write to. Deviation: Kafka lets the client id `__admin_client` write to it; nobody may here, for one bad record
// would make its groups unreadable.

func (s *Server) produce(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.ProduceRequest)
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	refused := s.refuseProduce(req, c)
	appends := make([]*partitionlog.Append, 0, 1)
	for i := range req.Topics {
		in := &req.Topics[i]
		out := kmsg.ProduceResponseTopic{Topic: in.Topic, Partitions: make([]kmsg.ProduceResponseTopicPartition, len(in.Partitions))}
		for j := range in.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition, p.BaseOffset, p.LogStartOffset = in.Partitions[j].Partition, -1, -1
			partition, err := s.Topics.Partition(false, in.Topic, [16]byte{}, p.Partition)
			switch {
			case refused != nil:
				p.ErrorCode = refused.Code
			case in.Topic == offsetslog.Topic:
				p.ErrorCode = kerr.InvalidTopicException.Code
			case err != nil:
				p.ErrorCode = err.Code
			case len(in.Partitions[j].Records) == 0:
				p.ErrorCode = kerr.InvalidRecord.Code
				p.ErrorMessage = kmsg.StringPtr("a produce request must have at least one record batch for each partition")
			case noBatch(in.Partitions[j].Records):
				p.ErrorCode = kerr.InvalidRecord.Code
			case unproducible(req.Version, in.Partitions[j].Records) != nil:
				p.ErrorCode = unproducible(req.Version, in.Partitions[j].Records).Code
			default:
				p.ErrorCode = undecided
				appends = append(appends, &partitionlog.Append{Partition: partition, Records: in.Partitions[j].Records})
			}
			out.Partitions[j] = p
		}
		resp.Topics = append(resp.Topics, out)
	}
	if len(appends) > 0 {
		s.Store.Append(appends...)
	}
	fillProduced(resp, appends)
	if req.Acks == 0 {
		return nil, acksZero(resp)
	}
	return resp, nil
}

// refuseProduce says what is wrong with the request as a whole.
func (s *Server) refuseProduce(req *kmsg.ProduceRequest, c *Call) *kerr.Error {
	if req.Acks < -1 || req.Acks > 1 {
		return kerr.InvalidRequiredAcks
	}
	if req.TransactionID != nil {
		s.refuseTransactions(c, "Produce")
		return kerr.TransactionalIDAuthorizationFailed
	}
	return nil
}

// noBatch tells whether records end before their first batch does. What is wrong in other ways is a damaged batch.
//
// Source: ByteBufferLogInputStream.nextBatch, ProduceRequest.validateRecords.
func noBatch(records []byte) bool {
	const overhead, upToMagic, smallest = 12, 17, 14 // bytes; smallest is that of the oldest format
	if len(records) < overhead {
		return true
	}
	size := int(int32(binary.BigEndian.Uint32(records[8:])))
	if size < smallest {
		return false
	}
	return len(records) < upToMagic || records[upToMagic-1] <= 2 && len(records) < overhead+size
}

// unproducible says what the request's own form forbids in a batch, of which nobody has looked at more yet: zstd in
// versions whose clients know nothing of it (KIP-110), and records of a transaction without a transactional id.
func unproducible(version int16, records []byte) *kerr.Error {
	b, _, err := partitionlog.NextBatch(records)
	switch {
	case err != nil:
		return nil // the store says what is wrong
	case version < 7 && b.Codec() == partitionlog.Zstd:
		return kerr.UnsupportedCompressionType
	case b.IsTransactional():
		return kerr.TransactionalIDAuthorizationFailed
	}
	return nil
}

// fillProduced puts the store's results where they belong, in the order of the request.
func fillProduced(resp *kmsg.ProduceResponse, appends []*partitionlog.Append) {
	next := 0
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			if p.ErrorCode != undecided {
				continue
			}
			a := appends[next]
			next++
			p.ErrorCode = errorCode(a.Err)
			if a.Err != nil {
				explain(p, a)
				continue
			}
			p.BaseOffset, p.LogAppendTime, p.LogStartOffset = a.BaseOffset, a.LogAppendTime, a.LogStartOffset
		}
	}
}

// explain adds what Kafka says about a refused batch: a sentence when records are invalid, and the start of the log
// unless the batch never got as far as the log. Clients show the sentence in place of their own for the code.
//
// Source: ReplicaManager.appendRecordsToLeader.
func explain(p *kmsg.ProduceResponseTopicPartition, a *partitionlog.Append) {
	switch p.ErrorCode {
	case kerr.InvalidRecord.Code, kerr.InvalidTimestamp.Code:
		p.ErrorMessage = kmsg.StringPtr(sentence(a.Err))
	case kerr.UnknownTopicOrPartition.Code, kerr.NotLeaderForPartition.Code, kerr.MessageTooLarge.Code,
		kerr.CorruptMessage.Code, kerr.KafkaStorageError.Code:
		return
	}
	p.LogStartOffset, _ = a.Partition.Offsets()
}

// acksZero closes the connection of a producer that asked for no answer and did not succeed: it is the only sign that
// it gets, and makes it refresh its metadata.
//
// Source: KafkaApis.handleProduceRequest.
func acksZero(resp *kmsg.ProduceResponse) error {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return errors.New("produce with acks=0 to " + t.Topic + ": " + kerr.ErrorForCode(p.ErrorCode).Error())
			}
		}
	}
	return nil
}
