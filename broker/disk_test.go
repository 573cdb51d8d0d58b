package broker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// onDisk starts a broker on a disk of a test, which may die before the broker: what Close then says does not matter.
func onDisk(t testing.TB, disk vfs.FS, edit ...func(*broker.Config)) *brokertest.Broker {
	t.Helper()
	c := broker.Config{DataDir: "/data", FS: disk, Profile: settings.Dev, OnPanic: func(trace string) { t.Error(trace) }}
	for _, f := range edit {
		f(&c)
	}
	b, err := broker.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return &brokertest.Broker{Broker: b, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, b.Addr())
	}}
}

const powerCuts = 8

// A power cut at a moment of nobody's choice: every acknowledged commit and record is there after it, at least as far as
// acknowledged, members go on without a rebalance, and a generation never goes back.
func TestPowerLoss(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	disk := vfs.NewCrash(seed)
	var commits, records atomic.Int64
	member, generation := "", int32(0)
	for round := range powerCuts {
		b := onDisk(t, disk)
		w := dial(t, b)
		if round == 0 {
			makeTopic(w, "t", 1)
			findCoordinator(w)
			member = stable(t, w, "live")
			generation = 1
		} else {
			if got, want := committed(w, "g", "t", 0), commits.Load(); got < want {
				t.Fatalf("round %d: offset %d, acknowledged %d", round, got, want)
			}
			p := fetch(w, 12, fetchRequest("t", [16]byte{}, 0, 0))
			if p.HighWatermark < records.Load() {
				t.Fatalf("round %d: %d records (error %d), acknowledged %d", round, p.HighWatermark, p.ErrorCode, records.Load())
			}
			records.Store(p.HighWatermark)
			beat := kmsg.NewPtrHeartbeatRequest()
			beat.Group, beat.MemberID, beat.Generation = "live", member, generation
			if resp := ask[*kmsg.HeartbeatResponse](w, 4, beat); resp.ErrorCode != 0 {
				t.Fatalf("round %d: the member's heartbeat got error %d", round, resp.ErrorCode)
			}
		}
		done, stop := make(chan struct{}), make(chan struct{})
		moved := make(chan struct{}, 1)
		go func() {
			defer close(done)
			for n := commits.Load() + 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if code, err := try(w, commitRequest("g", "t", [16]byte{}, 0, n), 9); err != nil || code != 0 {
					return
				}
				commits.Store(n)
				select {
				case moved <- struct{}{}:
				default:
				}
				if code, err := try(w, produceRequest("t", 0, -1, batchOf(partitionlog.None, time.Now().UnixMilli(), "v")), 9); err != nil || code != 0 {
					return
				}
				records.Add(1)
			}
		}()
		target := commits.Load() + int64(rng.IntN(60))
		for commits.Load() < target {
			select {
			case <-moved:
			case <-done:
				t.Fatalf("round %d: the load ended early", round)
			}
		}
		after := disk.Crash(rng.Uint64())
		close(stop)
		<-done
		_ = b.Close() // the machine is dead; what it says does not matter
		disk = after
	}
	t.Logf("%d commits and %d records through %d power cuts", commits.Load(), records.Load(), powerCuts)
}

// try sends a request whose answer may not come.
func try(w *wire, req kmsg.Request, version int16) (int16, error) {
	req.SetVersion(version)
	w.next++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, w.next)
	if _, err := w.net.Write(frame); err != nil {
		return 0, err
	}
	resp, err := w.receive(req, w.next)
	if err != nil {
		return 0, err
	}
	switch resp := resp.(type) {
	case *kmsg.OffsetCommitResponse:
		return resp.Topics[0].Partitions[0].ErrorCode, nil
	case *kmsg.ProduceResponse:
		return resp.Topics[0].Partitions[0].ErrorCode, nil
	}
	return 0, fmt.Errorf("unexpected %T", resp)
}

// A sync that fails: who waits gets a code to try again with, nobody is told a lie, and the broker goes on with what the
// disk holds.
func TestFailedSync(t *testing.T) {
	disk := vfs.NewCrash(1)
	var log logBuffer
	b := onDisk(t, disk, withLog(&log))
	w := dial(t, b)
	makeTopic(w, "t", 1)
	findCoordinator(w)
	member := stable(t, w, "live")
	if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 1)); code != 0 {
		t.Fatalf("commit: error %d", code)
	}
	failNextFrame := func() {
		failing := true
		disk.Inject(func(op vfs.Op) vfs.Fault {
			if failing && op.Kind == "sync" && strings.HasSuffix(op.Path, ".journal") { // a spare file has no such name yet
				failing = false
				return vfs.Fault{Err: errors.New("no"), Drop: true}
			}
			return vfs.Fault{}
		})
	}
	failNextFrame()
	if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 2)); code != 16 {
		t.Errorf("commit of which the sync failed: error %d, want NOT_COORDINATOR", code)
	}
	if got := committed(w, "g", "t", 0); got != 1 && got != 2 {
		t.Errorf("offset %d after a failed commit of 2 over 1", got)
	}
	if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 3)); code != 0 {
		t.Errorf("the next commit: error %d", code)
	}
	if got := committed(w, "g", "t", 0); got != 3 {
		t.Errorf("offset %d, want 3", got)
	}
	failNextFrame()
	if p := produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, "x")); p.ErrorCode != 56 {
		t.Errorf("produce of which the sync failed: error %d, want KAFKA_STORAGE_ERROR", p.ErrorCode)
	}
	// Every core reloads with the new incarnation; the first write of one that did not fail itself finds out.
	for range 3 {
		if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 4)); code != 0 && code != 16 {
			t.Errorf("commit after another's failure: error %d", code)
		}
	}
	if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 5)); code != 0 {
		t.Errorf("the last commit: error %d", code)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "live", member, 1
	if resp := ask[*kmsg.HeartbeatResponse](w, 4, beat); resp.ErrorCode != 0 {
		t.Errorf("the live member's heartbeat: error %d", resp.ErrorCode)
	}
	log.waitFor(t, "the coordinator is read again from the log")
	// And it was all durable.
	after := disk.Crash(7)
	_ = b.Close() // its machine is dead
	if got := committed(dial(t, onDisk(t, after)), "g", "t", 0); got != 5 {
		t.Errorf("after a power cut: offset %d, want 5", got)
	}
}

// A disk that takes no more writes at all: the broker ends with the reason, and does not pretend.
func TestDiskThatFailsForGood(t *testing.T) {
	disk := vfs.NewCrash(1)
	b := onDisk(t, disk)
	w := dial(t, b)
	makeTopic(w, "t", 1)
	findCoordinator(w)
	disk.Inject(func(op vfs.Op) vfs.Fault {
		if op.Kind == "sync" || op.Kind == "write" || op.Kind == "create" {
			return vfs.Fault{Err: errors.New("the disk is gone")}
		}
		return vfs.Fault{}
	})
	if code, err := try(w, commitRequest("g", "t", [16]byte{}, 0, 1), 9); err == nil && code != 16 && code != 15 {
		t.Errorf("commit: error %d, want a retriable one", code)
	}
	select {
	case <-b.Done():
		if err := b.Wait(); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("ended with %v, want the reason", err)
		}
	case <-time.After(answerTime):
		t.Error("the broker goes on without a disk")
		_ = b.Close()
	}
}

// A disk that is nearly full: commits and records are refused with codes to try again with, everything else goes on,
// and it heals when space returns.
func TestDiskNearlyFull(t *testing.T) {
	disk := vfs.NewCrash(1)
	b := onDisk(t, disk)
	w := dial(t, b)
	makeTopic(w, "t", 1)
	findCoordinator(w)
	member := stable(t, w, "live")
	if code := commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 1)); code != 0 {
		t.Fatalf("commit: error %d", code)
	}
	disk.SetFree(1 << 20)
	eventually(t, "commits are refused", func() bool {
		return commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 2)) == 15
	})
	if p := produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, "x")); p.ErrorCode != 56 {
		t.Errorf("produce: error %d, want KAFKA_STORAGE_ERROR", p.ErrorCode)
	}
	if got := committed(w, "g", "t", 0); got != 1 && got != 2 {
		t.Errorf("reads do not go on: offset %d", got)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "live", member, 1
	if resp := ask[*kmsg.HeartbeatResponse](w, 4, beat); resp.ErrorCode != 0 {
		t.Errorf("heartbeat: error %d", resp.ErrorCode)
	}
	stable(t, w, "another") // group metadata still passes
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{"g"}
	if resp := ask[*kmsg.DeleteGroupsResponse](w, 2, del); resp.Groups[0].ErrorCode != 0 {
		t.Errorf("tombstones do not pass: error %d", resp.Groups[0].ErrorCode)
	}
	disk.SetFree(1 << 40)
	eventually(t, "commits are accepted again", func() bool {
		return commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 3)) == 0
	})
	if p := produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, "x")); p.ErrorCode != 0 {
		t.Errorf("produce after healing: error %d", p.ErrorCode)
	}
}

// eventually asks again and again until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	over := time.Now().Add(answerTime)
	for !so() {
		if time.Now().After(over) {
			t.Fatalf("never: %s", what)
		}
	}
}

// A deletion that a crash interrupted is finished by the next start: the topic is gone, its name free, and no group
// remembers an offset of it.
func TestInterruptedTopicDeletion(t *testing.T) {
	disk := vfs.NewCrash(1)
	b := onDisk(t, disk)
	w := dial(t, b)
	id := makeTopic(w, "t", 1)
	findCoordinator(w)
	commit(w, 9, commitRequest("g", "t", id, 0, 7))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := partitionlog.Open(partitionlog.Config{Dir: "/data", FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.BeginDeleteTopic(id); err != nil { // the first of the deletion's three steps, and no more
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	w = dial(t, onDisk(t, disk))
	if p := fetch(w, 13, fetchRequest("", id, 0, 0)); p.ErrorCode != 100 {
		t.Errorf("the topic is still there: error %d", p.ErrorCode)
	}
	makeTopic(w, "t", 1)
	if got := committed(w, "g", "t", 0); got != -1 {
		t.Errorf("the topic that was made again has offset %d", got)
	}
}

// Groups would move to other partitions: an explicit number that differs from the directory's is refused.
func TestOffsetsPartitionsDoNotChange(t *testing.T) {
	disk := vfs.NewCrash(1)
	b := onDisk(t, disk, property("offsets.topic.num.partitions", "5"))
	w := dial(t, b)
	makeTopic(w, "t", 1)
	findCoordinator(w)
	commit(w, 9, commitRequest("g", "t", [16]byte{}, 0, 7))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := broker.Start(t.Context(), broker.Config{DataDir: "/data", FS: disk, Properties: map[string]string{"offsets.topic.num.partitions": "6"}})
	if err == nil || !strings.Contains(err.Error(), "groups would move") {
		t.Errorf("got %v", err)
	}
	// The same number, or none, is fine.
	if got := committed(dial(t, onDisk(t, disk)), "g", "t", 0); got != 7 {
		t.Errorf("offset %d, want 7", got)
	}
}
