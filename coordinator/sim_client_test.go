package coordinator

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	simMaxSession   = 10 * time.Second
	simMaxRebalance = 8 * time.Second
	simPartitions   = 8 // of topic t, which the groups share out
)

// simClient is one process with a consumer in it: a small script that does what client libraries do, and sometimes what
// they should not.
type simClient struct {
	w         *world
	number    int
	who       Client
	group     string
	instance  *string
	session   time.Duration
	rebalance time.Duration
	version   int16 // of its JoinGroup
	protocols []kmsg.JoinGroupRequestProtocol

	phase      simPhase
	epoch      int // grows when older timers and answers no longer count
	memberID   string
	generation int32
	leads      bool
	members    []string // as the leader
	owned      []byte
	fetched    bool // last
	gone       bool // fenced for good, or left the stage
}

type simPhase int8

const (
	simJoining simPhase = iota
	simSyncing
	simMember
)

func (c *simClient) name() string { return fmt.Sprintf("client-%d", c.number) }

func (w *world) addClient() *simClient {
	c := &simClient{
		w: w, number: len(w.clients), group: w.groups[w.random.IntN(len(w.groups))],
		session:    time.Duration(w.between(500, int(simMaxSession.Milliseconds()))) * time.Millisecond,
		version:    []int16{9, 9, 9, 8, 5, 3, 0}[w.random.IntN(7)],
		generation: -1,
	}
	// Who beats less often than its rebalance timeout misses each rebalance, and starts the next one.
	least := int(c.session.Milliseconds())/2 + 100
	c.rebalance = time.Duration(w.between(least, int(simMaxRebalance.Milliseconds()))) * time.Millisecond
	c.who = Client{ID: c.name(), Host: "/10.0.0.2"}
	if w.chance(0.3) {
		instance := fmt.Sprintf("instance-%d", c.number)
		c.instance = &instance
		c.version = max(c.version, 5)
	}
	c.choose()
	w.clients = append(w.clients, c)
	w.at(w.soon(5*time.Second), simEvent{kind: simWake, client: c})
	return c
}

// choose picks protocols; all lists share range but one in ten.
func (c *simClient) choose() {
	names := []string{"range", "roundrobin", "sticky", "cooperative-sticky"}
	c.w.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:c.w.between(1, 3)]
	if !slices.Contains(names, "range") && c.w.chance(0.9) {
		names[0] = "range"
	}
	c.protocols = c.protocols[:0:0]
	for _, name := range names {
		metadata := subscriptionTo("t")
		if c.w.chance(0.1) {
			metadata = []byte{byte(c.w.random.IntN(256))}
		}
		c.protocols = append(c.protocols, kmsg.JoinGroupRequestProtocol{Name: name, Metadata: metadata})
	}
}

// later wakes the client again, unless something else does first.
func (c *simClient) later(d time.Duration) {
	c.epoch++
	c.w.at(c.w.now+int64(d), simEvent{kind: simWake, client: c, epoch: c.epoch})
}

// ask sends a request and sets the client's own timeout, at which it gives the connection up.
func (c *simClient) ask(body kmsg.Request, timeout time.Duration) {
	if c.w.chaos && c.w.chance(0.03) {
		timeout = time.Duration(c.w.between(1, 1000)) * time.Millisecond // an impatient one
	}
	c.later(timeout)
	c.w.send(c, c.epoch, body, nil)
}

// wake is the client's timer: of its next action, or of a request that was not answered.
func (c *simClient) wake(epoch int) {
	if epoch != c.epoch || c.gone {
		return
	}
	if c.w.chaos && c.misbehave() {
		return
	}
	switch c.phase {
	case simJoining:
		c.join()
	case simSyncing:
		c.phase = simJoining // the SyncGroup got no answer
		c.join()
	case simMember:
		c.work()
	}
}

// misbehave sometimes does what a healthy client does not, and says whether it did.
func (c *simClient) misbehave() bool {
	switch p := c.w.random.Float64(); {
	case p < 0.01:
		c.w.trace("%s stalls", c.name())
		c.later(time.Duration(c.w.between(0, 3*int(c.session.Milliseconds()))) * time.Millisecond)
	case p < 0.02:
		c.w.trace("%s restarts", c.name())
		c.restart()
	case p < 0.03:
		c.leave()
	case p < 0.036 && c.instance != nil && len(c.w.clients) < 40:
		// A second process with the same instance id: the first does not know that it is a zombie.
		c.w.stats.Twins++
		twin := *c
		twin.number = len(c.w.clients)
		twin.who.ID = c.who.ID
		c.w.clients = append(c.w.clients, &twin)
		c.w.trace("%s is a twin of %s", twin.name(), c.name())
		twin.restart()
		return false
	case p < 0.05:
		c.choose()
		c.phase = simJoining
		c.join()
	default:
		return false
	}
	return true
}

// restart begins as a new process.
func (c *simClient) restart() {
	c.memberID, c.generation, c.phase, c.owned = "", -1, simJoining, nil
	c.later(time.Duration(c.w.between(0, 5000)) * time.Millisecond)
}

func (c *simClient) leave() {
	if c.memberID == "" {
		c.restart()
		return
	}
	m := kmsg.LeaveGroupRequestMember{MemberID: c.memberID, InstanceID: c.instance}
	c.w.send(c, -1, &kmsg.LeaveGroupRequest{Version: 5, Group: c.group, Members: []kmsg.LeaveGroupRequestMember{m}}, nil)
	c.restart()
}

func (c *simClient) join() {
	c.phase = simJoining
	req := &kmsg.JoinGroupRequest{
		Version: c.version, Group: c.group, MemberID: c.memberID, InstanceID: c.instance, ProtocolType: "consumer",
		SessionTimeoutMillis:   int32(c.session.Milliseconds()),
		RebalanceTimeoutMillis: int32(c.rebalance.Milliseconds()),
		Protocols:              c.protocols,
	}
	c.ask(req, simMaxRebalance+5*time.Second)
}

func (c *simClient) sync() {
	c.phase = simSyncing
	req := &kmsg.SyncGroupRequest{Version: 3, Group: c.group, Generation: c.generation, MemberID: c.memberID, InstanceID: c.instance}
	if c.leads {
		for i, id := range c.members {
			var owned []byte
			for p := i; p < simPartitions; p += len(c.members) {
				owned = append(owned, byte(p))
			}
			req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: owned})
		}
	}
	c.ask(req, simMaxRebalance+time.Second)
}

// work is what a member does at each turn of its loop.
func (c *simClient) work() {
	p := c.w.random.Float64()
	if c.fetched {
		p, c.fetched = 0, false // fetching does not keep a session
	}
	switch {
	case p < 0.5 || len(c.owned) == 0:
		c.ask(&kmsg.HeartbeatRequest{Version: 4, Group: c.group, Generation: c.generation, MemberID: c.memberID, InstanceID: c.instance}, c.session)
	case p < 0.9:
		partition := int32(c.owned[c.w.random.IntN(len(c.owned))])
		c.ask(c.w.commit(c.group, "t", partition, c.generation, c.memberID, c.instance), c.session)
	default:
		c.fetched = true
		c.ask(c.w.fetch(c.group), c.session)
	}
}

// answered is an answer, if the client still waits for it.
func (c *simClient) answered(epoch int, resp kmsg.Response) {
	if epoch != c.epoch || c.gone {
		return
	}
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		c.joined(resp)
	case *kmsg.SyncGroupResponse:
		if c.recover(resp.ErrorCode) {
			return
		}
		c.phase, c.owned = simMember, resp.MemberAssignment
		c.loop()
	case *kmsg.HeartbeatResponse:
		if !c.recover(resp.ErrorCode) {
			c.loop()
		}
	case *kmsg.OffsetCommitResponse:
		code := resp.Topics[0].Partitions[0].ErrorCode
		if code == kerr.RebalanceInProgress.Code || !c.recover(code) {
			c.loop()
		}
	default:
		c.loop()
	}
}

// loop is the pause until the next turn.
func (c *simClient) loop() {
	c.later(time.Duration(c.w.between(1, int(c.session.Milliseconds())/3)) * time.Millisecond)
}

func (c *simClient) joined(resp *kmsg.JoinGroupResponse) {
	switch resp.ErrorCode {
	case 0:
	case kerr.MemberIDRequired.Code:
		c.memberID = resp.MemberID
		c.join()
		return
	case kerr.InconsistentGroupProtocol.Code, kerr.GroupMaxSizeReached.Code:
		c.choose()
		c.memberID = ""
		c.later(time.Second)
		return
	default:
		c.recover(resp.ErrorCode)
		return
	}
	c.memberID, c.generation = resp.MemberID, resp.Generation
	c.leads = resp.LeaderID == resp.MemberID && !resp.SkipAssignment
	c.members = c.members[:0]
	for _, m := range resp.Members {
		c.members = append(c.members, m.MemberID)
	}
	if c.w.chaos && c.w.chance(0.03) {
		// Too early: nobody knows yet who owns the partition.
		c.w.send(c, -1, c.w.commit(c.group, "t", 0, c.generation, c.memberID, c.instance), nil)
	}
	c.sync()
}

// recover does what an error code asks for, and says whether there was one.
func (c *simClient) recover(code int16) bool {
	switch code {
	case 0:
		return false
	case kerr.FencedInstanceID.Code:
		c.gone = true
		c.w.trace("%s is fenced", c.name())
		return true
	case kerr.UnknownMemberID.Code, kerr.GroupIDNotFound.Code:
		c.memberID = ""
	}
	c.phase = simJoining
	c.later(time.Duration(c.w.between(1, 50)) * time.Millisecond)
	return true
}

// commit is an OffsetCommit with a value that was never committed before, so that a fetched value tells which it was.
func (w *world) commit(group, topic string, partition, generation int32, memberID string, instance *string) kmsg.Request {
	w.token++
	return &kmsg.OffsetCommitRequest{
		Version: 8, Group: group, Generation: generation, MemberID: memberID, InstanceID: instance, RetentionTimeMillis: -1,
		Topics: []kmsg.OffsetCommitRequestTopic{{
			Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: partition, Offset: int64(w.token), LeaderEpoch: -1}},
		}},
	}
}

func (w *world) fetch(group string) kmsg.Request {
	return &kmsg.OffsetFetchRequest{Version: 8, Groups: []kmsg.OffsetFetchRequestGroup{{Group: group}}}
}

// admin does something from outside now and then.
func (w *world) admin() {
	if w.chaos {
		w.at(w.soon(2*time.Second), simEvent{kind: simAdmin})
	}
	group := append([]string{"simple"}, w.groups...)[w.random.IntN(len(w.groups)+1)]
	switch w.random.IntN(9) {
	case 8:
		w.expel(w.clients[w.random.IntN(len(w.clients))])
	case 0, 1:
		w.send(nil, 0, w.commit(group, "u", int32(w.random.IntN(2)), -1, "", nil), nil)
	case 2:
		w.send(nil, 0, w.fetch(group), nil)
	case 3:
		w.send(nil, 0, &kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{group}}, nil)
	case 4:
		topic := kmsg.OffsetDeleteRequestTopic{Topic: "u", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: 0}, {Partition: 1}}}
		w.send(nil, 0, &kmsg.OffsetDeleteRequest{Group: group, Topics: []kmsg.OffsetDeleteRequestTopic{topic}}, nil)
	case 5:
		w.send(nil, 0, nil, []string{"u"})
	case 6:
		w.send(nil, 0, &kmsg.DescribeGroupsRequest{Version: 6, Groups: w.groups}, nil)
	case 7:
		w.send(nil, 0, &kmsg.ListGroupsRequest{Version: 5}, nil)
	}
}

// expel removes a member on an administrator's behalf, whatever it is doing.
func (w *world) expel(c *simClient) {
	m := kmsg.LeaveGroupRequestMember{MemberID: c.memberID, InstanceID: c.instance}
	if c.instance != nil {
		m.MemberID = ""
	}
	w.send(nil, 0, &kmsg.LeaveGroupRequest{Version: 5, Group: c.group, Members: []kmsg.LeaveGroupRequestMember{m}}, nil)
}
