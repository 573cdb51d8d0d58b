package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// inGroup are the options of a lone consumer of topic "log".
func inGroup(group string, opts ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics("log"), kgo.FetchMaxWait(100 * time.Millisecond)}, opts...)
}

// numbered returns n values that begin with prefix.
func numbered(prefix string, n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(prefix, i)
	}
	return values
}

// TestResetPolicies starts groups without a commit at the beginning and at the end, and groups whose commit was
// overtaken by DeleteRecords with each policy.
func TestResetPolicies(t *testing.T) {
	t.Parallel()
	b := dev(t)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "log", 1)
	producer := newClient(t, b.addr)
	produce(t, producer, "log", 0, numbered("old-", 10)...)

	earliest, latest := kgo.NewOffset().AtStart(), kgo.NewOffset().AtEnd()
	if r := consume(t, newClient(t, b.addr, inGroup("earliest", kgo.ConsumeResetOffset(earliest))...), 10); r[0].Offset != 0 {
		t.Errorf("earliest began at %d", r[0].Offset)
	}
	if r := firstNew(t, producer, newClient(t, b.addr, inGroup("latest", kgo.ConsumeResetOffset(latest))...)); r.Offset < 10 {
		t.Errorf("latest began at the old record %d", r.Offset)
	}

	for _, group := range []string{"cut-earliest", "cut-latest", "cut-none"} {
		commit(t, admin, group, 5)
	}
	deleted, err := admin.DeleteRecords(limited(t), offsetsOf("log", 8))
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	if low := deleted["log"][0].LowWatermark; low != 8 {
		t.Errorf("DeleteRecords left the low watermark at %d, want 8", low)
	}
	if starts, err := admin.ListStartOffsets(limited(t), "log"); err != nil || starts["log"][0].Offset != 8 {
		t.Errorf("the log starts at %v (%v), want 8", starts["log"][0].Offset, err)
	}
	if r := consume(t, newClient(t, b.addr, inGroup("cut-earliest", kgo.ConsumeResetOffset(earliest))...), 2); r[0].Offset != 8 {
		t.Errorf("earliest went on at %d, want the log's start, 8", r[0].Offset)
	}
	if r := firstNew(t, producer, newClient(t, b.addr, inGroup("cut-latest", kgo.ConsumeResetOffset(latest))...)); r.Offset < 10 {
		t.Errorf("latest went on at %d, below the end", r.Offset)
	}
	none := newClient(t, b.addr, inGroup("cut-none", kgo.ConsumeResetOffset(kgo.NoResetOffset()))...)
	fetches := none.PollFetches(limited(t))
	if err := fetches.Err(); !isCode(err, kerr.OffsetOutOfRange) {
		t.Errorf("none went on with %v and %d records, want OFFSET_OUT_OF_RANGE", err, fetches.NumRecords())
	}
}

// firstNew produces record after record until the consumer gets one, and returns that.
func firstNew(t *testing.T, producer, consumer *kgo.Client) *kgo.Record {
	t.Helper()
	ctx := limited(t)
	for i := 0; ; i++ {
		produce(t, producer, "log", 0, fmt.Sprint("new-", i))
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		fetches := consumer.PollFetches(short)
		cancel()
		if records := fetches.Records(); len(records) > 0 {
			return records[0]
		}
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			t.Fatalf("no new record was consumed: %v", err)
		}
	}
}

func offsetsOf(topic string, at int64) kadm.Offsets {
	offsets := kadm.Offsets{}
	offsets.AddOffset(topic, 0, at, -1)
	return offsets
}

func commit(t *testing.T, admin *kadm.Client, group string, at int64) {
	t.Helper()
	if err := admin.CommitAllOffsets(limited(t), group, offsetsOf("log", at)); err != nil {
		t.Fatalf("committing %d to group %s: %v", at, group, err)
	}
}

// committed returns a group's committed offset in partition 0 of topic "log", or -1.
func committed(t *testing.T, admin *kadm.Client, group string) int64 {
	t.Helper()
	offsets, err := admin.FetchOffsets(limited(t), group)
	if err != nil {
		t.Fatalf("offsets of group %s: %v", group, err)
	}
	o, ok := offsets.Lookup("log", 0)
	if !ok {
		return -1
	}
	if o.Err != nil {
		t.Fatalf("offset of group %s: %v", group, o.Err)
	}
	return o.At
}

// TestCommitsAndResume commits by hand and automatically; whoever comes next goes on behind the commit, also after the
// broker was killed.
func TestCommitsAndResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := serveForever(t, dir)
	admin := newAdmin(t, b.addr)
	createTopic(t, admin, "log", 1)
	produce(t, newClient(t, b.addr), "log", 0, numbered("r-", 30)...)

	manual := newClient(t, b.addr, inGroup("manual", kgo.DisableAutoCommit())...)
	records := consume(t, manual, 30)
	if at := committed(t, admin, "manual"); at != -1 {
		t.Errorf("before any commit the group has offset %d", at)
	}
	if err := manual.CommitRecords(limited(t), records[:12]...); err != nil {
		t.Fatal(err)
	}
	if at := committed(t, admin, "manual"); at != 12 {
		t.Errorf("after a commit of 12 records the group has offset %d", at)
	}
	manual.Close()

	automatic := newClient(t, b.addr, inGroup("automatic", kgo.AutoCommitInterval(commitInterval))...)
	consume(t, automatic, 30)
	automatic.PollFetches(expired(t)) // an automatic commit covers what was polled before the last poll
	eventually(t, func() error {
		if at := committed(t, admin, "automatic"); at != 30 {
			return fmt.Errorf("the automatic commit is at %d, want 30", at)
		}
		return nil
	})
	automatic.Close()

	b.kill()
	b = serve(t, dir)
	admin = newAdmin(t, b.addr)
	if at := committed(t, admin, "automatic"); at != 30 {
		t.Errorf("after kill -9 the automatic commit is at %d, want 30", at)
	}
	if r := consume(t, newClient(t, b.addr, inGroup("manual")...), 18); r[0].Offset != 12 || string(r[0].Value) != "r-12" {
		t.Errorf("after kill -9 the group went on at %d (%s), want 12", r[0].Offset, r[0].Value)
	}
}

// expired is a context for a poll that shall not wait.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
