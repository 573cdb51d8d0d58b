package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recordBatch makes one v2 batch of n records of size bytes each.
func recordBatch(n, size int, seed int64) []byte {
	rnd := rand.New(rand.NewSource(seed))
	val := make([]byte, size)
	for i := range val {
		val[i] = byte('a' + rnd.Intn(26))
	}
	var recs []byte
	for i := range n {
		var b []byte
		b = append(b, 0)                                // attributes
		b = binary.AppendVarint(b, 0)                   // timestamp delta
		b = binary.AppendVarint(b, int64(i))            // offset delta
		b = binary.AppendVarint(b, -1)                  // no key
		b = binary.AppendVarint(b, int64(len(val)))     // value
		b = append(b, val...)                           //
		b = binary.AppendVarint(b, 0)                   // headers
		recs = binary.AppendVarint(recs, int64(len(b))) // zigzag, as the protocol's varint
		recs = append(recs, b...)
	}
	now := time.Now().UnixMilli()
	var tail []byte // from the attributes on: what the CRC covers
	tail = binary.BigEndian.AppendUint16(tail, 0)
	tail = binary.BigEndian.AppendUint32(tail, uint32(n-1))
	tail = binary.BigEndian.AppendUint64(tail, uint64(now))
	tail = binary.BigEndian.AppendUint64(tail, uint64(now))
	tail = binary.BigEndian.AppendUint64(tail, ^uint64(0)) // producer id
	tail = binary.BigEndian.AppendUint16(tail, ^uint16(0)) // producer epoch
	tail = binary.BigEndian.AppendUint32(tail, ^uint32(0)) // base sequence
	tail = binary.BigEndian.AppendUint32(tail, uint32(n))
	tail = append(tail, recs...)
	var out []byte
	out = binary.BigEndian.AppendUint64(out, 0)                   // base offset
	out = binary.BigEndian.AppendUint32(out, uint32(9+len(tail))) // epoch, magic, CRC and the tail
	out = binary.BigEndian.AppendUint32(out, ^uint32(0))          // leader epoch
	out = append(out, 2)
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(tail, castagnoli))
	return append(out, tail...)
}

// scanBatches checks whole batches: CRC, and offsets going on from next. It
// returns the next offset and how many records were read.
func scanBatches(b []byte, next int64) (int64, int64, error) {
	var records int64
	for len(b) >= 61 {
		base := int64(binary.BigEndian.Uint64(b))
		size := int(binary.BigEndian.Uint32(b[8:])) + 12
		if size > len(b) {
			break // cut short by the size limit
		}
		batch := b[:size]
		b = b[size:]
		if got, want := crc32.Checksum(batch[21:], castagnoli), binary.BigEndian.Uint32(batch[17:]); got != want {
			return next, records, fmt.Errorf("batch at offset %d: wrong CRC", base)
		}
		lastDelta := int64(binary.BigEndian.Uint32(batch[23:]))
		if base > next {
			return next, records, fmt.Errorf("batch at offset %d, want %d", base, next)
		}
		if base+lastDelta < next {
			continue
		}
		records += base + lastDelta + 1 - next
		next = base + lastDelta + 1
	}
	return next, records, nil
}

// leader dials the leader of a partition.
func leader(partition int32) (*conn, error) {
	c, err := dial(*addr)
	if err != nil {
		return nil, err
	}
	for range 200 {
		var at string
		if at, err = c.leaderAddr(partition); err == nil {
			if at != c.addr && !*direct {
				c.close()
				if c, err = dial(at); err != nil {
					return nil, err
				}
			}
			if *settle == 0 {
				return c, nil
			}
			if err = c.leads(partition); err == nil {
				return c, nil
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.close()
	return nil, fmt.Errorf("partition %d has no leader: %w", partition, err)
}

// leaderAddr asks which broker leads a partition.
func (c *conn) leaderAddr(partition int32) (string, error) {
	mr := kmsg.NewPtrMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = topic
	mr.Topics = append(mr.Topics, mt)
	resp, err := c.call(mr)
	if err != nil {
		return "", err
	}
	md := resp.(*kmsg.MetadataResponse)
	for _, p := range md.Topics[0].Partitions {
		if p.Partition != partition || p.ErrorCode != 0 {
			continue
		}
		for _, b := range md.Brokers {
			if b.NodeID == p.Leader {
				return fmt.Sprintf("%s:%d", b.Host, b.Port), nil
			}
		}
	}
	return "", fmt.Errorf("not in the metadata")
}

// leads asks whether a broker knows already that it leads the partition: some are named before they do.
func (c *conn) leads(partition int32) error {
	req := fetchRecords(partition, 0)
	req.MaxWaitMillis = 1
	resp, err := c.call(req)
	if err != nil {
		return err
	}
	_, err = fetched(resp)
	return err
}

func produceRequest(p int32, batch []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = int16(*acks), 10000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = *topic
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Partition, rp.Records = p, batch
	t.Partitions = append(t.Partitions, rp)
	req.Topics = append(req.Topics, t)
	return req
}

func producedAt(resp kmsg.Response) (int64, error) {
	ts := resp.(*kmsg.ProduceResponse).Topics
	if len(ts) != 1 || len(ts[0].Partitions) != 1 {
		return 0, fmt.Errorf("Produce answered %d topics", len(ts))
	}
	p := ts[0].Partitions[0]
	return p.BaseOffset, checkCode("Produce", p.ErrorCode)
}

func fetchRecords(p int32, from int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, int32(*fetchBytes)
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = *topic
	fp := kmsg.NewFetchRequestTopicPartition()
	fp.Partition, fp.FetchOffset, fp.PartitionMaxBytes = p, from, int32(*fetchBytes)
	fp.CurrentLeaderEpoch = -1
	t.Partitions = append(t.Partitions, fp)
	req.Topics = append(req.Topics, t)
	return req
}

// drain reads a partition from offset 0 up to end and returns the records.
func drain(c *conn, p int32, end int64) (int64, error) {
	var next, records int64
	for next < end {
		resp, err := c.call(fetchRecords(p, next))
		if err != nil {
			return records, err
		}
		b, err := fetched(resp)
		if err != nil {
			return records, err
		}
		was := next
		var n int64
		if next, n, err = scanBatches(b, next); err != nil {
			return records, err
		}
		records += n
		if next == was {
			return records, fmt.Errorf("partition %d ends at %d, want %d", p, next, end)
		}
	}
	return records, nil
}

func fetched(resp kmsg.Response) ([]byte, error) {
	f := resp.(*kmsg.FetchResponse)
	if err := checkCode("Fetch", f.ErrorCode); err != nil {
		return nil, err
	}
	if len(f.Topics) != 1 || len(f.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("Fetch answered %d topics", len(f.Topics))
	}
	p := f.Topics[0].Partitions[0]
	return p.RecordBatches, checkCode("Fetch", p.ErrorCode)
}

// produce: every connection produces to a partition of its own; at the end
// each partition is read back and every record counted and its CRC checked.
func produceScenario(r *result) error {
	n := *conns
	if err := createTopic(*topic, n); err != nil {
		return err
	}
	time.Sleep(*settle)
	cs := make([]*conn, n)
	next := make([]int64, n)
	if err := forAll(n, 64, func(i int) (err error) { cs[i], err = leader(int32(i)); return err }); err != nil {
		return err
	}
	size := 0
	r.measure(n, func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		batch := recordBatch(*batchRecords, *recordSize, int64(i))
		if i == 0 {
			size = len(batch)
		}
		req := produceRequest(int32(i), batch)
		return cs[i].drive(stop, *depth, gap(n), 0, h, func(int64) kmsg.Request { return req }, func(_ int64, resp kmsg.Response) error {
			off, err := producedAt(resp)
			if err == nil && off != next[i] {
				err = fmt.Errorf("batch put at offset %d, want %d", off, next[i])
			}
			next[i] += int64(*batchRecords)
			return err
		})
	})
	r.Extra["records_per_s"] = float64(r.Ops) / r.Seconds * float64(*batchRecords)
	r.Extra["mb_per_s"] = float64(r.Ops) / r.Seconds * float64(size) / 1e6
	r.Extra["batch_bytes"] = float64(size)
	return forAll(n, 4, func(i int) error {
		defer cs[i].close()
		got, err := drain(cs[i], int32(i), next[i])
		r.checked(int(next[i]), int(next[i]-got))
		return err
	})
}

// fetch: partitions are filled first, then every connection reads its own over
// and over; every batch read is checked.
func fetchScenario(r *result) error {
	n := *conns
	if err := createTopic(*topic, n); err != nil {
		return err
	}
	time.Sleep(*settle)
	cs := make([]*conn, n)
	end := int64(*batches) * int64(*batchRecords)
	if err := forAll(n, 64, func(i int) (err error) {
		if cs[i], err = leader(int32(i)); err != nil {
			return err
		}
		var h hist
		req := produceRequest(int32(i), recordBatch(*batchRecords, *recordSize, int64(i)))
		_, err = cs[i].drive(make(chan struct{}), 16, 0, int64(*batches), &h, func(int64) kmsg.Request { return req }, func(_ int64, resp kmsg.Response) error {
			_, err := producedAt(resp)
			return err
		})
		return err
	}); err != nil {
		return err
	}
	var mu sync.Mutex
	var bytes, records int64
	r.measure(n, func(i int, stop <-chan struct{}, h *hist) (int64, error) {
		var next, nb, nr int64
		ops, err := cs[i].drive(stop, 1, gap(n), 0, h, func(int64) kmsg.Request {
			if next >= end {
				next = 0
			}
			return fetchRecords(int32(i), next)
		}, func(_ int64, resp kmsg.Response) error {
			b, err := fetched(resp)
			if err != nil {
				return err
			}
			nb += int64(len(b))
			was := next
			var k int64
			if next, k, err = scanBatches(b, next); err != nil {
				return err
			}
			if next == was {
				return fmt.Errorf("nothing read at offset %d of %d", next, end)
			}
			nr += k
			return nil
		})
		mu.Lock()
		bytes, records = bytes+nb, records+nr
		mu.Unlock()
		r.checked(int(nr), 0)
		return ops, err
	})
	// bytes and records have the warm-up's share in them
	share := r.Seconds / (r.Seconds + warmup.Seconds())
	r.Extra["records_per_s"] = float64(records) * share / r.Seconds
	r.Extra["mb_per_s"] = float64(bytes) * share / r.Seconds / 1e6
	for _, c := range cs {
		c.close()
	}
	return nil
}
