package coordinator

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzSubscription feeds the parser of consumer metadata: it must neither panic nor read outside, must agree with kmsg's
// own decoder wherever that one succeeds, and must find the same topics whatever a later version appends.
func FuzzSubscription(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0})
	f.Add(subscriptionTo())
	f.Add(subscriptionTo("t"))
	f.Add(subscriptionTo("t", "a-longer-name", ""))
	f.Add([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, metadata []byte) {
		topics, ok := topicsOf(metadata)
		var want kmsg.ConsumerMemberMetadata
		if len(metadata) >= 6 && (int16(binary.BigEndian.Uint16(metadata)) < 0 || int32(binary.BigEndian.Uint32(metadata[2:])) < 0) {
			if ok {
				t.Fatalf("%x has a negative version or count, and was read", metadata) // as Kafka, and unlike kmsg
			}
			return
		}
		if err := want.ReadFrom(metadata); err == nil {
			if !ok || len(topics) != len(want.Topics) {
				t.Fatalf("kmsg reads topics %q of %x, we read %q (%t)", want.Topics, metadata, topics, ok)
			}
			for i := range topics {
				if topics[i] != want.Topics[i] {
					t.Fatalf("kmsg reads topics %q of %x, we read %q", want.Topics, metadata, topics)
				}
			}
		}
		if !ok {
			return
		}
		longer, ok := topicsOf(append(append([]byte{}, metadata...), 1, 2, 3))
		if !ok || len(longer) != len(topics) {
			t.Fatalf("%x has topics %q, with something appended %q (%t)", metadata, topics, longer, ok)
		}
	})
}

func topicsOf(metadata []byte) (topics []string, ok bool) {
	ok = eachSubscribedTopic(metadata, func(topic []byte) { topics = append(topics, string(topic)) })
	return topics, ok
}

// FuzzStep feeds a core with requests that the fuzzer makes up. It must not panic, must keep its invariants, must answer
// each token at most once, must encode its answers, and a replay of its records must give the same hard state.
func FuzzStep(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte("joinsyncheartbeatcommitleave"))
	}
	f.Fuzz(func(t *testing.T, seed uint64, script []byte) {
		stepAnything(t, seed, script[:min(len(script), 3000)]) // the invariants are checked at each step, which long scripts make slow
	})
}

func stepAnything(t *testing.T, seed uint64, script []byte) {
	config := DefaultConfig()
	config.Check = true
	config.MinSessionTimeout = 0
	config.MaxSessionTimeout = 1<<31*time.Millisecond - 1
	config.InitialRebalanceDelay = time.Duration(seed%3) * time.Second
	config.FirstBarrier = time.Duration(seed%2) * time.Millisecond
	config.MaxGroupSize = 1 + int(seed%5)
	config.OffsetsRetention = time.Second
	config.RetentionCheckInterval = 3 * time.Second
	c := New(config, seed)
	now := time.Unix(1_700_000_000, 0)
	c.Loaded(now)
	m := &maker{random: rand.New(rand.NewPCG(seed, 2)), script: script, ids: []string{"", "x"}}
	var records []Record
	open := map[Token]bool{}
	take := func(e Effects) {
		records = append(records, e.Records...)
		for _, r := range e.Replies {
			if !open[r.Token] {
				t.Fatalf("token %d is answered twice, or was never asked", r.Token)
			}
			delete(open, r.Token)
			if r.Response != nil {
				r.Response.AppendTo(nil)
			}
			if join, ok := r.Response.(*kmsg.JoinGroupResponse); ok {
				m.ids = append(m.ids, join.MemberID)
				m.generation = max(m.generation, join.Generation)
			}
		}
	}
	for token := Token(1); len(m.script) > 0; token++ {
		now = now.Add(time.Duration(m.n(3)) * time.Duration(m.n(4000)) * time.Millisecond)
		if next, ok := c.NextDeadline(); ok && !next.After(now) && m.n(4) > 0 {
			take(c.Tick(now))
			if after, ok := c.NextDeadline(); ok && !after.After(now) {
				t.Fatalf("after Tick(%v) the next deadline is %v", now, after)
			}
		}
		open[token] = true
		take(c.Step(now, m.event(token)))
	}
	if parked := c.Parked(); len(parked) != len(open) {
		t.Fatalf("%d tokens are open, %d are parked", len(open), len(parked))
	}
	replayed := New(config, 1)
	for _, rec := range records {
		replayed.Replay(rec)
	}
	if c.Digest() != replayed.Digest() {
		t.Fatalf("the live core and the replayed one differ")
	}
	replayed.Loaded(now)
	replayed.Tick(now)
}

// maker makes requests up: the script decides, and chance when it is silent.
type maker struct {
	random     *rand.Rand
	script     []byte
	ids        []string // member ids seen so far
	generation int32
}

// n is a number from 0 to limit-1.
func (m *maker) n(limit int) int {
	if len(m.script) == 0 {
		return m.random.IntN(limit)
	}
	b := m.script[0]
	m.script = m.script[1:]
	return (int(b) + m.random.IntN(7)) % limit
}

func (m *maker) group() string { return []string{"g", "h", "", "g"}[m.n(4)] }

func (m *maker) id() string { return m.ids[len(m.ids)-1-m.n(min(len(m.ids), 6))] }

func (m *maker) instance() *string {
	s := []string{"", "i", "j"}[m.n(3)]
	if s == "" {
		return nil
	}
	return &s
}

func (m *maker) gen() int32 {
	return []int32{m.generation, m.generation, m.generation - 1, -1, 0}[m.n(5)]
}

func (m *maker) event(token Token) Event {
	r := &Request{Token: token, Client: Client{ID: "c", Host: "/127.0.0.1"}}
	switch m.n(12) {
	case 0, 1, 2:
		req := &kmsg.JoinGroupRequest{
			Version: int16(m.n(10)), Group: m.group(), MemberID: m.id(), InstanceID: m.instance(),
			SessionTimeoutMillis:   []int32{0, 1, 500, 1 << 30}[m.n(4)],
			RebalanceTimeoutMillis: []int32{-1, 0, 500, 1<<31 - 1}[m.n(4)],
			ProtocolType:           []string{"consumer", "consumer", "", "connect"}[m.n(4)],
		}
		for range m.n(4) {
			name := []string{"range", "range", "sticky", "", "roundrobin"}[m.n(5)]
			req.Protocols = append(req.Protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: subscriptionTo("t")[:m.n(23)]})
		}
		r.Body = req
	case 3, 4:
		req := &kmsg.SyncGroupRequest{Version: int16(m.n(6)), Group: m.group(), Generation: m.gen(), MemberID: m.id(), InstanceID: m.instance()}
		for range m.n(4) {
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.id(), MemberAssignment: []byte{1}})
		}
		r.Body = req
	case 5:
		r.Body = &kmsg.HeartbeatRequest{Version: 4, Group: m.group(), Generation: m.gen(), MemberID: m.id(), InstanceID: m.instance()}
	case 6:
		req := &kmsg.LeaveGroupRequest{Version: int16(m.n(6)), Group: m.group()}
		for range m.n(4) {
			req.Members = append(req.Members, kmsg.LeaveGroupRequestMember{MemberID: m.id(), InstanceID: m.instance()})
		}
		r.Body = req
	case 7, 8:
		req := &kmsg.OffsetCommitRequest{
			Version: int16(m.n(11)), Group: m.group(), Generation: m.gen(), MemberID: m.id(), InstanceID: m.instance(),
			RetentionTimeMillis: []int64{-1, 0, 1 << 62, -5}[m.n(4)],
		}
		for range m.n(3) {
			topic := kmsg.OffsetCommitRequestTopic{Topic: []string{"t", "u", ""}[m.n(3)]}
			for range m.n(4) {
				topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: int32(m.n(5)), Offset: int64(m.n(9)), Metadata: m.instance()})
			}
			req.Topics = append(req.Topics, topic)
		}
		r.Body = req
	default:
		return m.adminEvent(r)
	}
	return r
}

func (m *maker) adminEvent(r *Request) Event {
	switch m.n(6) {
	case 0:
		group := kmsg.OffsetFetchRequestGroup{Group: m.group()}
		for range m.n(3) {
			group.Topics = append(group.Topics, kmsg.OffsetFetchRequestGroupTopic{Topic: "t", Partitions: []int32{0, 9}})
		}
		r.Body = &kmsg.OffsetFetchRequest{Version: 9, Groups: []kmsg.OffsetFetchRequestGroup{group}}
	case 1:
		req := &kmsg.OffsetDeleteRequest{Group: m.group()}
		for range m.n(3) {
			req.Topics = append(req.Topics, kmsg.OffsetDeleteRequestTopic{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: int32(m.n(5))}}})
		}
		r.Body = req
	case 2:
		r.Body = &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{m.group(), m.group()}}
	case 3:
		r.Body = &kmsg.DescribeGroupsRequest{Version: int16(m.n(7)), Groups: []string{m.group()}, IncludeAuthorizedOperations: true}
	case 4:
		r.Body = &kmsg.ListGroupsRequest{Version: int16(m.n(6)), StatesFilter: []string{"stable", " EMPTY "}[:m.n(3)]}
	default:
		return &TopicsDeleted{Token: r.Token, Topics: []string{"t", "t", "u"}[:m.n(4)]}
	}
	return r
}

// TestStepAnything runs what FuzzStep does with random scripts.
func TestStepAnything(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seeds from %d", seed)
	random := rand.New(rand.NewPCG(seed, 3))
	script := make([]byte, 3000)
	for i := range uint64(100) {
		for j := range script {
			script[j] = byte(random.Uint32())
		}
		stepAnything(t, seed+i, script)
	}
}
