package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// crashes is how often TestCrash kills the broker.
const crashes = 55

// TestCrash kills a durable broker with kill -9 in the middle of load, again and again, now and then while it starts.
// After each restart it holds the broker against everything that clients were promised.
func TestCrash(t *testing.T) {
	t.Parallel()
	rng := random(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	args := []string{
		"serve", "--data", dir, "--set", "advertised.listeners=PLAINTEXT://127.0.0.1:9092", "--set", "group.initial.rebalance.delay.ms=0",
		"--set", "group.min.session.timeout.ms=100",
		"--set", "offsets.topic.segment.bytes=16384", "--set", "log.segment.bytes=262144", "--set", "log.retention.check.interval.ms=100",
	}
	b := startBroker(t, args...)
	direct := kadm.NewClient(newClient(t, "127.0.0.1:9092", kgo.Dialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, b.addr)
	})))
	createTopic(t, direct, siegeTopic, siegePartitions)
	createTopic(t, direct, rawTopic, 1)

	l := &load{ledger: newLedger(), gate: newGate(), ctx: ctx}
	defer l.gate.condemn()
	l.gate.lift(b.addr)
	l.start(t, rng)
	settle(t, l)
	inspector := newInspector(l.ledger)
	var slowest time.Duration
	compactions := 0
	for n := 1; n <= crashes && !t.Failed(); n++ {
		<-time.After(time.Duration(20+rng.IntN(700)) * time.Millisecond)
		l.gate.shut()
		b.kill()
		compactions += strings.Count(strings.Join(b.stderr.whole(), "\n"), "compacted")
		for range 2 {
			if rng.IntN(4) == 0 { // a crash of the recovery itself
				killWhileStarting(t, args, time.Duration(rng.IntN(40))*time.Millisecond)
			}
		}
		began := time.Now()
		b = startBroker(t, args...)
		slowest = max(slowest, time.Since(began))
		inspector.inspect(t, b.addr, n%10 == 0 || n == crashes)
		l.gate.lift(b.addr)
		if t.Failed() {
			t.Logf("this was crash %d; the log of the life after it:\n%s", n, b.messages())
		}
	}
	l.do(func() { l.counts["settled"] = 0 }) // the members leave now
	cancel()
	l.wait.Wait()
	l.close()
	if t.Failed() {
		return
	}
	l.do(func() {
		fmt.Printf("TestCrash: %d crashes, %d records, %d raw batches, %d commits of each committer, %d topics, %d rebalances, %d compactions; slowest start %v\n",
			crashes, len(l.records), len(l.raw), latest(l.commits), len(l.topics), l.counts["rebalances"], compactions, slowest)
		for what, n := range map[string]int{"records": len(l.records), "raw batches": len(l.raw), "commits": int(latest(l.commits)), "topics": len(l.topics), "rebalances": l.counts["rebalances"], "compactions": compactions} {
			if n < crashes/2 {
				t.Errorf("only %d %s in %d crashes: the load did not run", n, what, crashes)
			}
		}
	})
	l.gate.shut()
	b.stop(t)
	b = startBroker(t, args...) // and after an end in good order
	inspector.inspect(t, b.addr, true)
	b.stop(t)
}

// latest is the last acknowledged commit of the committer that came farthest.
func latest(commits map[string]span) (at int64) {
	for _, s := range commits {
		at = max(at, s.acked)
	}
	return at
}

// settle waits until the steady group has its two members, for good.
func settle(t *testing.T, l *load) {
	t.Helper()
	admin := kadm.NewClient(l.client(t))
	eventually(t, func() error {
		groups, err := admin.DescribeGroups(limited(t), "steady")
		if err != nil {
			return err
		}
		g := groups["steady"]
		assigned := 0
		for _, m := range g.Members {
			if a, ok := m.Assigned.AsConsumer(); ok {
				for _, topic := range a.Topics {
					assigned += len(topic.Partitions)
				}
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if g.State != "Stable" || len(g.Members) != 2 || assigned != siegePartitions || len(l.members) != 2 || len(l.next) != siegePartitions {
			return fmt.Errorf("the steady group is %s with %d members and %d partitions", g.State, len(g.Members), assigned)
		}
		return nil
	})
	// Members tell their generation when they are assigned something; one more look at the heartbeat's truth.
	client := newClient(t, "127.0.0.1:9092", l.opts()...)
	l.mu.Lock()
	defer l.mu.Unlock()
	for generation := l.issued["steady"]; ; generation++ {
		errs := make([]error, 0, 2)
		for id := range l.members {
			errs = append(errs, heartbeat(t, client, "steady", id, nil, generation))
		}
		if errors.Join(errs...) == nil {
			l.counts["settled"] = int(generation)
			return
		}
		if generation > l.issued["steady"]+5 {
			t.Fatalf("no generation of the steady group is known to both members: %v", errs)
		}
	}
}

// killWhileStarting starts a broker and kills it a moment later.
func killWhileStarting(t *testing.T, args []string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(kohort, slices.Concat(args, []string{"--addr", "127.0.0.1:0", "--log-format", "json"})...)
	cmd.Env = cleanEnv()
	p := launch(t, cmd)
	select {
	case <-time.After(after):
	case <-p.exited:
		t.Errorf("the broker did not start: %s", p.stderr.text())
	}
	p.kill()
}
