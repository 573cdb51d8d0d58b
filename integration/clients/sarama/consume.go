package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// member is a member of a group: sarama's handler. Each partition has a goroutine in ConsumeClaim.
type member struct {
	topic string
	group string
	auto  bool

	client sarama.Client
	adm    sarama.ClusterAdmin
	errs   errorList

	gate    sync.Mutex // held between two records: while a command is done, and while it holds
	sess    sarama.ConsumerGroupSession
	restart context.CancelFunc // ends the session, and joins again
	owned   map[int32]bool
	next    map[int32]int64 // after the last record printed, of the partitions owned
}

func memberConfig(args lines.Args) *sarama.Config {
	config := sarama.NewConfig()
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.AutoCommit.Enable = args["commit"] != "manual"
	if d, ok := args.Millis("auto_ms"); ok {
		config.Consumer.Offsets.AutoCommit.Interval = d
	}
	if d, ok := args.Millis("session_ms"); ok {
		config.Consumer.Group.Session.Timeout = d
	}
	if d, ok := args.Millis("heartbeat_ms"); ok {
		config.Consumer.Group.Heartbeat.Interval = d
	}
	if client := args["client"]; client != "" {
		config.ClientID = client
	}
	if instance := args["instance"]; instance != "" {
		config.Consumer.Group.InstanceId = instance
	}
	switch args["reset"] {
	case "":
	case "earliest":
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
	case "latest":
		config.Consumer.Offsets.Initial = sarama.OffsetNewest
	default:
		lines.Fail(fmt.Errorf("sarama has no reset %q", args["reset"]))
	}
	strategy(config, args["strategy"])
	return config
}

func consume(args lines.Args) {
	config := memberConfig(args)
	m := &member{
		topic: args["topic"], group: args["group"], auto: config.Consumer.Offsets.AutoCommit.Enable,
		owned: map[int32]bool{}, next: map[int32]int64{},
	}
	client, err := sarama.NewClient(brokers(args), config)
	if err != nil {
		lines.Fail(err)
	}
	group, err := sarama.NewConsumerGroupFromClient(m.group, client)
	if err != nil {
		lines.Fail(err)
	}
	// Questions go by connections of their own: on the group's they wait behind a fetch that waits for records.
	if m.client, err = sarama.NewClient(brokers(args), config); err != nil {
		lines.Fail(err)
	}
	if m.adm, err = sarama.NewClusterAdminFromClient(m.client); err != nil {
		lines.Fail(err)
	}
	go m.errs.read(group.Errors())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.loop(ctx, group)
	}()
	m.obey(lines.Commands())
	cancel()
	<-done
	if err := group.Close(); err != nil {
		lines.Error(err)
	}
	lines.Emit("closed", nil)
}

// obey does the commands until `close`, each between two records. While it holds it keeps the gate, so that no claim
// ends, and with it no session: as a program that works long on its messages.
func (m *member) obey(commands <-chan []string) {
	holding := false
	for words := range commands {
		if !holding {
			m.gate.Lock()
		}
		switch words[0] {
		case "close":
			m.gate.Unlock()
			return
		case "hold":
			holding = true
			lines.Emit("holding", nil)
		case "go":
			holding = false
			lines.Emit("going", nil)
		default:
			m.command(words)
		}
		if !holding {
			m.gate.Unlock()
		}
	}
}

// loop joins again and again, as the manual says. Only a member whose seat another has taken gives up.
func (m *member) loop(ctx context.Context, group sarama.ConsumerGroup) {
	for ctx.Err() == nil {
		session, cancel := context.WithCancel(ctx)
		m.gate.Lock()
		m.restart = cancel
		m.gate.Unlock()
		err := group.Consume(session, []string{m.topic}, m)
		cancel()
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, context.Canceled):
		case errors.Is(err, sarama.ErrFencedInstancedId):
			lines.Fail(err)
		default:
			lines.Error(err)
			select { // sarama has none here, and returns at once while nobody listens
			case <-time.After(backoff):
			case <-ctx.Done():
			}
		}
	}
}

// backoff is what a failed attempt to join is followed by.
const backoff = 250 * time.Millisecond

// Setup begins a session.
func (m *member) Setup(sess sarama.ConsumerGroupSession) error {
	m.gate.Lock()
	defer m.gate.Unlock()
	m.sess = sess
	for _, p := range sess.Claims()[m.topic] {
		m.owned[p] = true
	}
	m.tell()
	return nil
}

// Cleanup ends it, when all claims have returned.
func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.gate.Lock()
	defer m.gate.Unlock()
	m.sess = nil
	if len(m.owned) > 0 {
		clear(m.owned)
		clear(m.next)
		m.tell()
	}
	return nil
}

// ConsumeClaim reads a partition while it is owned.
func (m *member) ConsumeClaim(sess sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	m.claimed(sess)
	defer m.released(sess, claim.Partition())
	for {
		select {
		case msg, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			m.read(sess, msg)
		case <-sess.Context().Done():
			return nil
		}
	}
}

// claimed tells of claims that a cooperative rebalance has added to the session.
func (m *member) claimed(sess sarama.ConsumerGroupSession) {
	m.gate.Lock()
	defer m.gate.Unlock()
	before := len(m.owned)
	for _, p := range sess.Claims()[m.topic] {
		m.owned[p] = true
	}
	if len(m.owned) > before {
		m.tell()
	}
}

// released waits until nothing is done with the partition any more. When the session goes on without it, a cooperative
// rebalance has taken it away.
func (m *member) released(sess sarama.ConsumerGroupSession, partition int32) {
	m.gate.Lock()
	defer m.gate.Unlock()
	if sess.Context().Err() == nil {
		delete(m.owned, partition)
		delete(m.next, partition)
		m.tell()
	}
}

func (m *member) read(sess sarama.ConsumerGroupSession, msg *sarama.ConsumerMessage) {
	m.gate.Lock()
	defer m.gate.Unlock()
	if sess.Context().Err() != nil {
		return
	}
	lines.Record(msg.Partition, msg.Offset, msg.Key, msg.Value, msg.Timestamp)
	m.next[msg.Partition] = msg.Offset + 1
	if m.auto {
		sess.MarkMessage(msg, "")
	}
}

func (m *member) tell() {
	lines.Assigned(slices.Collect(maps.Keys(m.owned)))
}
