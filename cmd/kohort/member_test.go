package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// environ names the broker.
func environ(addr string) []string { return []string{brokerVariable + "=" + addr} }

// A member that was removed while it worked ends with a sentence about its refused commit, and what it read is still there
// for the others.
func TestFencedMember(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "-p", "0", "one")
	done := filepath.Join(t.TempDir(), "done")
	p := begin(t, environ(addr), "consume", "orders", "-g", "team", "--client-id", "slow", "--each", "cat; until test -e "+done+"; do sleep 0.01; done")
	<-p.stdout.started
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	groups, err := admin.DescribeGroups(t.Context(), "team")
	if err != nil || len(groups["team"].Members) != 1 || !strings.HasPrefix(groups["team"].Members[0].MemberID, "slow-") {
		t.Fatalf("%+v, %v", groups, err)
	}
	remove(t, client, groups["team"].Members[0].MemberID)
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 1)
	if got := p.stderr.String(); !strings.Contains(got, `group "team" goes on without this member, and refused its last commit with UNKNOWN_MEMBER_ID`) {
		t.Errorf("got %q", got)
	}
	if out, errOut, code := said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1"); out != "one\n" || code != 0 {
		t.Errorf("exit code %d, %q %q", code, out, errOut)
	}
}

// remove takes a member out of the group, as an administrator does.
func remove(t *testing.T, client *kgo.Client, member string) {
	t.Helper()
	leave := kmsg.NewPtrLeaveGroupRequest()
	entry := kmsg.NewLeaveGroupRequestMember()
	entry.MemberID = member
	leave.Group, leave.Members = "team", append(leave.Members, entry)
	answer, err := leave.RequestWith(t.Context(), client)
	if err != nil || answer.ErrorCode != 0 || len(answer.Members) != 1 || answer.Members[0].ErrorCode != 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// What a command has not done is not committed; a signal ends it.
func TestEach(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "-p", "0", "one", "two", "three")
	out, errOut, code := said(t, addr, "", "consume", "orders", "-g", "team", "--each", "grep -v two", "--with", "offset")
	want := `kohort: --each "grep -v two" failed on the record at offset 1 of orders:0, which is not committed: exit status 1` + "\n"
	if out != "0\tone\n" || errOut != want || code != 1 {
		t.Errorf("exit code %d, %q %q", code, out, errOut)
	}
	if out, _, _ := said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1"); out != "two\n" {
		t.Errorf("got %q", out)
	}
	p := begin(t, environ(addr), "consume", "orders", "-g", "team", "--each", "cat; exec sleep 1000")
	<-p.stdout.started
	p.signals <- syscall.SIGINT
	p.ends(t, 1)
	if got := p.stderr.String(); !strings.Contains(got, "stopped by a signal while --each worked on the record at offset 2 of orders:0, which is not committed") {
		t.Errorf("got %q", got)
	}
}

// Who reads outlives the broker, and goes on with the next one on the same directory.
func TestOutage(t *testing.T) {
	config := broker.Config{
		Profile: settings.Serve, DataDir: t.TempDir(), Addr: "127.0.0.1:0", NoSync: true,
		Properties: map[string]string{"group.initial.rebalance.delay.ms": "0"},
	}
	b, err := broker.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	config.Addr = b.Addr()
	said(t, config.Addr, "", "produce", "orders", "one")
	p := begin(t, environ(config.Addr), "consume", "orders", "-g", "team")
	<-p.stdout.started
	if _, errOut, code := said(t, config.Addr, "", "wait", "--group", "team", "--members", "1", "--lag", "0"); code != 0 {
		t.Fatal(errOut)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err = broker.Start(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	said(t, config.Addr, "", "produce", "orders", "two")
	if _, errOut, code := said(t, config.Addr, "", "wait", "--group", "team", "--members", "1", "--lag", "0"); code != 0 {
		t.Fatal(errOut)
	}
	p.signals <- syscall.SIGINT
	p.ends(t, 0)
	if got := p.stdout.String(); got != "one\ntwo\n" {
		t.Errorf("got %q", got)
	}
}

// A reading with an end bears an outage for a while only; what is no outage ends any.
func TestOutageEnds(t *testing.T) {
	errOut := newTerminal()
	s := &session{w: &world{stderr: errOut}, ctx: context.Background(), addr: "ADDR"}
	lost := &kgo.ErrGroupSession{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	endless, bounded := &outage{session: s}, &outage{session: s, patience: 1}
	for range 3 {
		if err := endless.over(lost, false); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Count(errOut.String(), "trying again\n"); got != 1 {
		t.Errorf("said %d times: %q", got, errOut)
	}
	if err := bounded.over(lost, false); err != nil {
		t.Error(err)
	}
	if bounded.over(nil, false) != nil || bounded.over(lost, false) == nil {
		t.Error("an outage that lasts does not end a reading that has an end")
	}
	if bounded.over(nil, true) != nil || bounded.over(lost, false) != nil {
		t.Error("records do not end the outage")
	}
	if err := endless.over(errors.New("wrong"), false); err == nil {
		t.Error("an error is taken for an outage")
	}
}

// Members that hand a partition over are not settled while nobody has it.
func TestOwned(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "-p", "0", "one")
	s, err := (&clientFlags{Broker: addr}).open(&world{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	g := &group{State: "Stable", topics: []string{"orders", "absent"}, Members: []member{{Assigned: []assignment{{"orders", []int32{0}}}}, {}}}
	if err := s.owned(g); err == nil || err.Error() != "it is Stable with 2 members, none of which owns orders:1" {
		t.Errorf("got %v", err)
	}
	g.Members[1].Assigned = []assignment{{"orders", []int32{1}}}
	if err := s.owned(g); err != nil {
		t.Error(err)
	}
	if err := s.owned(&group{State: "Stable", Members: []member{{}}}); err != nil {
		t.Error(err)
	}
}
