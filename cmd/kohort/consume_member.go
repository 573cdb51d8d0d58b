package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// beats is how many heartbeats a session has room for, as Kafka advises.
const beats = 3

// handDelay is how long the end of a command's output is awaited once the command itself has ended.
const handDelay = time.Second

// memberFlags say what `kohort consume` is to a group.
type memberFlags struct {
	ClientID       string        `placeholder:"NAME" help:"Name of this client, with which its member id begins."`
	InstanceID     string        `placeholder:"ID" help:"Be this static member of the group."`
	SessionTimeout time.Duration `placeholder:"TIME" help:"How long the group misses this member's heartbeats before it removes it; 45s unless given."`
}

// options returns what they mean to the client.
func (f *memberFlags) options() []kgo.Opt {
	var opts []kgo.Opt
	if f.ClientID != "" {
		opts = append(opts, kgo.ClientID(f.ClientID))
	}
	if f.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(f.InstanceID))
	}
	if f.SessionTimeout > 0 {
		opts = append(opts, kgo.SessionTimeout(f.SessionTimeout), kgo.HeartbeatInterval(min(f.SessionTimeout/beats, 3*time.Second)))
	}
	return opts
}

// hand gives a record to the command of --each, and waits until that has done its work. A signal ends the command.
func (c *consumeCommand) hand(s *session, r *kgo.Record, line string) error {
	command := exec.CommandContext(s.ctx, "sh", "-c", c.Each)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(line), s.w.stdout, s.w.stderr
	command.WaitDelay = handDelay
	err := command.Run()
	at := fmt.Sprintf("the record at offset %d of %s", r.Offset, place{r.Topic, r.Partition})
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	case s.ctx.Err() != nil:
		return fmt.Errorf("stopped by a signal while --each worked on %s, which is not committed", at)
	}
	return fmt.Errorf("--each %q failed on %s, which is not committed: %w", c.Each, at, err)
}

// fenced tells whether a commit was refused because the member is no longer one.
func fenced(err error) bool {
	return errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.FencedInstanceID)
}

// removed says what a refused commit means.
func (c *consumeCommand) removed(err error) error {
	var code *kerr.Error
	errors.As(err, &code)
	why := "it sent no heartbeat for its session timeout, or a rebalance could not wait for it any longer"
	if errors.Is(err, kerr.FencedInstanceID) {
		why = fmt.Sprintf("another client is now its static member %q", c.InstanceID)
	}
	return fmt.Errorf("group %q goes on without this member, and refused its last commit with %s: %s; what it read last belongs to others now",
		c.Group, code.Message, why)
}
