package coordinator

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var testStart = time.Unix(1_700_000_000, 0)

// testCore is an empty core that checks itself.
func testCore(change func(*Config)) *Core {
	config := DefaultConfig()
	config.Check = true
	if change != nil {
		change(&config)
	}
	c := New(config, 1)
	c.Loaded(testStart)
	return c
}

// TestJavaHash compares with values that Java's String.hashCode gives.
func TestJavaHash(t *testing.T) {
	for s, want := range map[string]int32{
		"": 0, "g": 103, "foo": 101574, "test": 3556498, "my-group": -1906497762, "é": 233, "日本": 835047, "😀": 1772899,
		"polygenelubricants": -2147483648,
	} {
		if got := int32(javaHash(s)); got != want {
			t.Errorf("javaHash(%q) = %d, want %d", s, got, want)
		}
	}
}

// TestBallot compares with the order in which a Java HashMap of these names is iterated.
func TestBallot(t *testing.T) {
	for name, want := range map[string]uint32{"sticky": 8, "range": 9, "roundrobin": 10, "cooperative-sticky": 15} {
		if got := bucket(name, 16); got != want {
			t.Errorf("bucket(%q) = %d, want %d", name, got, want)
		}
	}
	for n, want := range map[int]uint32{0: 16, 12: 16, 13: 32, 24: 32, 25: 64} {
		if got := hashMapCapacity(n); got != want {
			t.Errorf("hashMapCapacity(%d) = %d, want %d", n, got, want)
		}
	}
	for votes, want := range map[string]string{
		"":                              "",
		"range":                         "range",
		"range sticky":                  "sticky",
		"roundrobin range":              "range",
		"cooperative-sticky roundrobin": "roundrobin",
		"range sticky range":            "range",
	} {
		var b ballot
		for _, vote := range strings.Fields(votes) {
			b.vote(vote)
		}
		if got := b.winner(); got != want {
			t.Errorf("the votes %q elect %q, want %q", votes, got, want)
		}
	}
}

func TestMemberID(t *testing.T) {
	c := testCore(nil)
	instance := "s1"
	pattern := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, test := range []struct {
		client   string
		instance *string
		prefix   string
	}{{"c", nil, "c-"}, {"", nil, "-"}, {"c", &instance, "s1-"}} {
		id := c.newMemberID(Client{ID: test.client}, test.instance)
		uuid, ok := strings.CutPrefix(id, test.prefix)
		if !ok || !pattern.MatchString(uuid) {
			t.Errorf("client %q, instance %s: member id %q, want %s and a version 4 UUID", test.client, null(test.instance), id, test.prefix)
		}
	}
	if a, b := New(DefaultConfig(), 5), New(DefaultConfig(), 5); a.newMemberID(Client{}, nil) != b.newMemberID(Client{}, nil) {
		t.Error("one seed gave two member ids")
	}
}

func TestNoteString(t *testing.T) {
	for want, n := range map[string]Note{
		"orders: generation 7, rebalancing: consumer-3 (10.0.0.5) sent no heartbeat for 10 s": {
			Kind: NoteMemberRemoved, Group: "orders", Generation: 7, State: PreparingRebalance, Member: "consumer-3", ClientHost: "/10.0.0.5",
			Reason: "sent no heartbeat for " + seconds(10_000),
		},
		"orders: generation 0, empty: created by a test": {Kind: NoteGroupCreated, Group: "orders", Reason: "created by a test"},
	} {
		if got := n.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for ms, want := range map[int64]string{250: "250 ms", 1000: "1 s", 1500: "1.5 s", 6987: "6.987 s", 300_000: "300 s"} {
		if got := seconds(ms); got != want {
			t.Errorf("seconds(%d) = %q, want %q", ms, got, want)
		}
	}
	if len(noteKinds) != int(NoteGroupExpired)+1 || len(stateWords) != len(stateNames) || len(transitions) != len(stateNames) {
		t.Error("a table of names lacks an entry")
	}
}

// TestTransitions spells the specification's list out.
func TestTransitions(t *testing.T) {
	legal := "Empty-PreparingRebalance Stable-PreparingRebalance CompletingRebalance-PreparingRebalance " +
		"PreparingRebalance-CompletingRebalance PreparingRebalance-Empty CompletingRebalance-Stable " +
		"Empty-Dead PreparingRebalance-Dead CompletingRebalance-Dead Stable-Dead"
	for from := Empty; from <= Dead; from++ {
		for to := Empty; to <= Dead; to++ {
			want := slices.Contains(strings.Fields(legal), from.String()+"-"+to.String())
			if got := from.mayBecome(to); got != want {
				t.Errorf("%s may become %s: %t, want %t", from, to, got, want)
			}
		}
	}
}

func mustPanic(t *testing.T, what string, fn func()) {
	t.Helper()
	defer func() {
		b, ok := recover().(*Bug)
		if !ok || !strings.Contains(b.Error(), what) {
			t.Errorf("panicked with %v, want a *Bug about %q", b, what)
		}
	}()
	fn()
}

// TestBugs are mistakes of the caller or of ours, which must be loud.
func TestBugs(t *testing.T) {
	c := testCore(nil)
	mustPanic(t, "the clock went back by 1s", func() { c.Tick(testStart.Add(-time.Second)) })
	mustPanic(t, "not one of a group coordinator", func() { c.Step(testStart, &Request{Body: &kmsg.MetadataRequest{}}) })
	mustPanic(t, "replayed after the end of loading", func() { c.Replay(&GroupRecord{Group: "g"}) })
	c.Step(testStart, &Request{Body: &kmsg.OffsetCommitRequest{Group: "g", Generation: -1, Topics: make([]kmsg.OffsetCommitRequestTopic, 1)}})
	mustPanic(t, "illegal transition from Empty to Stable", func() { c.transition(c.groups["g"], Stable) })
	mustPanic(t, `group "g" (seed 1)`, func() { c.transition(c.groups["g"], Stable) })

	// A panic of the runtime is wrapped, and says what was going on.
	broken := New(DefaultConfig(), 1)
	broken.Loaded(testStart)
	broken.create("g").byID = map[string]*member{"n": {id: "n", timer: timer{index: 99, queued: 1 << 62}}}
	mustPanic(t, "index out of range", func() {
		broken.Step(testStart, &Request{Body: &kmsg.HeartbeatRequest{Version: 4, Group: "g", MemberID: "n"}})
	})
}

// TestConfigWithoutLimits makes sure that a limit of 0, which would make no sense, means Kafka's default: an interval of 0
// would even keep Tick busy for ever.
func TestConfigWithoutLimits(t *testing.T) {
	c := New(Config{}, 1)
	c.Loaded(testStart)
	if next, ok := c.NextDeadline(); !ok || !next.Equal(testStart.Add(10*time.Minute)) {
		t.Errorf("the first search for expired offsets is at %v, want after Kafka's 10 minutes", next)
	}
	if got := c.config.MaxGroupSize; got != DefaultConfig().MaxGroupSize {
		t.Errorf("a group may have %d members, want no limit", got)
	}
	c.Tick(testStart.Add(time.Hour))
}

// TestParked gives the tokens that a caller answers when it drops the core.
func TestParked(t *testing.T) {
	c := testCore(nil)
	for token := Token(9); token > 6; token-- {
		instance := fmt.Sprint(token)
		c.Step(testStart, &Request{Token: token, Body: &kmsg.JoinGroupRequest{
			Version: 9, Group: "g", InstanceID: &instance, SessionTimeoutMillis: 10_000, RebalanceTimeoutMillis: 10_000, ProtocolType: "consumer",
			Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range"}},
		}})
	}
	if got, want := c.Parked(), []Token{7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("parked are %v, want %v", got, want)
	}
}

// TestBytesAreCloned changes the request's buffer after the step, as a caller that reuses it does.
func TestBytesAreCloned(t *testing.T) {
	c := testCore(func(config *Config) { config.InitialRebalanceDelay, config.FirstBarrier = 0, 0 })
	metadata := []byte("before")
	c.Step(testStart, &Request{Token: 1, Body: &kmsg.JoinGroupRequest{
		Version: 3, Group: "g", SessionTimeoutMillis: 10_000, RebalanceTimeoutMillis: 10_000, ProtocolType: "consumer",
		Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: metadata}},
	}})
	copy(metadata, "after!")
	join := c.Tick(testStart).Replies[0].Response.(*kmsg.JoinGroupResponse)
	if got := string(join.Members[0].ProtocolMetadata); got != "before" {
		t.Errorf("the leader is told metadata %q, want before", got)
	}
	assignment := []byte("before")
	e := c.Step(testStart, &Request{Token: 2, Body: &kmsg.SyncGroupRequest{
		Version: 3, Group: "g", Generation: 1, MemberID: join.MemberID,
		GroupAssignment: []kmsg.SyncGroupRequestGroupAssignment{{MemberID: join.MemberID, MemberAssignment: assignment}},
	}})
	record := e.Records[0].(*GroupRecord)
	copy(assignment, "after!")
	if got := string(record.Members[0].Assignment); got != "before" {
		t.Errorf("the record has assignment %q, want before", got)
	}
}

// TestExpiryIsBounded lets a quarter of a million offsets of two groups expire, with commits between the slices.
func TestExpiryIsBounded(t *testing.T) {
	const n = 250_000
	config := DefaultConfig()
	config.OffsetsRetention = time.Minute
	config.RetentionCheckInterval = time.Minute
	c := New(config, 1)
	for _, rec := range offsetRecords(n) {
		rec := rec.(*OffsetRecord)
		if rec.Group = "big"; rec.Offset%5 == 0 {
			rec.Group = "small"
		}
		rec.Topic, rec.Partition = fmt.Sprintf("t%d", rec.Offset/1000), int32(rec.Offset%1000)
		c.Replay(rec)
	}
	c.Loaded(testStart)
	var now time.Time
	expired, ticks, kept := 0, 0, 0
	deadline := testStart.Add(90 * time.Second)
	for {
		next, ok := c.NextDeadline()
		if !ok || next.After(deadline) {
			break
		}
		now = next
		records := len(c.Tick(now).Records)
		if records > expirySlice+2 {
			t.Fatalf("one tick expires %d offsets, want at most %d", records, expirySlice)
		}
		expired += records
		ticks++
		// A commit into the middle of what is being walked, of a partition that is kept.
		c.Step(now, &Request{Body: &kmsg.OffsetCommitRequest{
			Version: 9, Group: "big", Generation: -1,
			Topics: []kmsg.OffsetCommitRequestTopic{{Topic: fmt.Sprintf("t%d", ticks), Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1_000_000}}}},
		}})
		kept++
	}
	if ticks < n/expirySlice || c.groups["small"] != nil {
		t.Errorf("%d ticks, and the small group is %v", ticks, c.groups["small"])
	}
	left := 0
	for _, topic := range c.groups["big"].offsets {
		left += len(topic.partitions)
	}
	if left != kept || expired != n+1 { // one tombstone is the small group's
		t.Errorf("%d offsets are left, want the %d new ones; %d records, want %d", left, kept, expired, n+1)
	}
}

// TestOffsets compares the sorted slices with a map.
func TestOffsets(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	c := testCore(nil)
	c.create("g")
	model := map[string]int64{}
	for i := range int64(20_000) {
		topic, partition := fmt.Sprintf("t%d", random.IntN(20)), random.Int32N(50)
		key := fmt.Sprintf("%s-%d", topic, partition)
		rec := &OffsetRecord{Group: "g", Topic: topic, Partition: partition, Offset: i, Tombstone: random.IntN(3) == 0}
		c.apply(rec)
		if delete(model, key); !rec.Tombstone {
			model[key] = i
		}
		if i%100 != 0 {
			continue
		}
		count := 0
		for _, topic := range c.groups["g"].offsets {
			for _, o := range topic.partitions {
				if count++; model[fmt.Sprintf("%s-%d", topic.topic, o.partition)] != o.offset {
					t.Fatalf("step %d: %s-%d is %d, want %d", i, topic.topic, o.partition, o.offset, model[fmt.Sprintf("%s-%d", topic.topic, o.partition)])
				}
			}
		}
		if why := checkOffsets(c.groups["g"]); why != "" || count != len(model) {
			t.Fatalf("step %d: %d offsets, want %d; %s", i, count, len(model), why)
		}
	}
}

// TestReplayOfForeignLogs feeds records that we would never write: nothing of it may panic.
func TestReplayOfForeignLogs(t *testing.T) {
	config := DefaultConfig()
	config.Check = true
	c := New(config, 1)
	protocol, instance := "range", "i"
	c.Replay(&GroupRecord{Group: "g", Tombstone: true})
	c.Replay(&OffsetRecord{Group: "g", Topic: "t", Tombstone: true})
	c.Replay(&GroupRecord{Group: "g", ProtocolType: "consumer", Generation: 3, Protocol: &protocol, StateTimestamp: -1, Members: []MemberRecord{
		{MemberID: "a", RebalanceTimeout: -1, SessionTimeout: 1000}, {MemberID: "a"}, {MemberID: "b", InstanceID: &instance}, {MemberID: "c", InstanceID: &instance},
	}})
	c.Replay(&GroupRecord{Group: "h", ProtocolType: "consumer", Generation: 3, Members: []MemberRecord{{MemberID: "a"}}})
	c.Replay(&OffsetRecord{Group: "k", Topic: "t"})
	c.Replay(&GroupRecord{Group: "k", ProtocolType: "x"})
	c.Replay(&GroupRecord{Group: "k", Tombstone: true})
	c.Loaded(testStart)
	for now := testStart; now.Before(testStart.Add(time.Hour)); now = now.Add(time.Second) {
		c.Tick(now)
	}
	for _, id := range []string{"g", "h"} {
		if g := c.groups[id]; g != nil && g.state != Empty {
			t.Errorf("group %s is %s after an hour without members", id, g.state)
		}
	}
}
