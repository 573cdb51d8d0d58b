//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// committer commits offsets 1, 2, 3 ... of a group, one at a time, each in a journal frame of its own.
type committer struct {
	admin        *kadm.Client
	acknowledged atomic.Int64
}

func newCommitter(t *testing.T, addr string) *committer {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &committer{admin: kadm.NewClient(client)}
}

// commit commits the next offset.
func (c *committer) commit(t *testing.T) error {
	next := c.acknowledged.Load() + 1
	var offsets kadm.Offsets
	offsets.AddOffset("orders", 0, next, -1)
	if err := c.admin.CommitAllOffsets(t.Context(), "team", offsets); err != nil {
		return err
	}
	c.acknowledged.Store(next)
	return nil
}

// commitMore commits so many offsets.
func (c *committer) commitMore(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := c.commit(t); err != nil {
			t.Fatal(err)
		}
	}
}

// copyOf makes a copy and returns what `kohort backup` says of it, and on standard error.
func copyOf(t *testing.T, dir string, args ...string) (*copied, string) {
	t.Helper()
	out, errOut, code := said(t, "", "", append([]string{"backup", dir, filepath.Join(t.TempDir(), "copy"), "-o", "json"}, args...)...)
	var done copied
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s%s", code, err, out, errOut)
	}
	if v, err := verify(done.To); err != nil || !v.Starts || v.Replayed != done.Replays || len(v.Cuts) > 0 {
		t.Errorf("verify: %v, %+v; the backup said %+v", err, v, done)
	}
	return &done, strings.Join(quiet(errOut), "")
}

// quiet leaves out the lines that only say that something goes on.
func quiet(errOut string) (lines []string) {
	for line := range strings.Lines(errOut) {
		if !strings.HasPrefix(line, "kohort: still ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// committed starts a broker on a copy and returns the offset that it has for the group.
func committed(t *testing.T, dir string) int64 {
	t.Helper()
	b, err := broker.Start(t.Context(), broker.Config{DataDir: dir, Profile: settings.Dev})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	offsets, err := newCommitter(t, b.Addr()).admin.FetchOffsets(t.Context(), "team")
	if err != nil {
		t.Fatal(err)
	}
	o, _ := offsets.Lookup("orders", 0)
	return o.At
}

// A copy of a process that serves begins with a checkpoint: it has nothing to replay but what is committed while it is
// made, and every commit that was acknowledged before. So has a copy of a broker that was stopped.
func TestBackupOfAProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := serve(t, dir)
	said(t, p.addr, "", "topics", "create", "orders")
	c := newCommitter(t, p.addr)
	c.commitMore(t, 200)
	if done, errOut := copyOf(t, dir, "--checkpoint-timeout", "0"); done.Fresh || !done.Running || done.Replays < 200 || errOut != "" {
		t.Errorf("not asked: %+v, %s", done, errOut)
	}
	for range 2 { // the second checkpoint has nothing new in it
		if done, errOut := copyOf(t, dir); !done.Fresh || done.Replays != 0 || errOut != "" {
			t.Errorf("asked: %+v, %s", done, errOut)
		}
	}
	stop := make(chan struct{})
	var load sync.WaitGroup
	load.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := c.commit(t); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2 {
		least := c.acknowledged.Load()
		done, errOut := copyOf(t, dir)
		if !done.Fresh || done.Checkpoint < uint64(least) || errOut != "" {
			t.Errorf("under load: %+v, %d commits were acknowledged; %s", done, least, errOut)
		}
		if got := committed(t, done.To); got < least {
			t.Errorf("restored: offset %d, %d was acknowledged", got, least)
		}
		t.Logf("%d acknowledged, a checkpoint at %d, %d frames to replay", least, done.Checkpoint, done.Replays)
	}
	close(stop)
	load.Wait()
	p.end(t, syscall.SIGTERM)
	done, errOut := copyOf(t, dir)
	if done.Fresh || done.Running || done.Replays != 0 || errOut != "" {
		t.Errorf("of a stopped broker: %+v, %s", done, errOut)
	}
	if got, want := committed(t, done.To), c.acknowledged.Load(); got != want {
		t.Errorf("restored: offset %d, want %d", got, want)
	}
}

// A process that does not answer is copied as it is, with a sentence; what was asked of it does no harm later. One that
// was killed is not asked.
func TestBackupWithoutAnAnswer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := serve(t, dir)
	said(t, p.addr, "", "topics", "create", "orders")
	c := newCommitter(t, p.addr)
	c.commitMore(t, 50)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	done, errOut := copyOf(t, dir, "--checkpoint-timeout", "300ms")
	if want := fmt.Sprintf("kohort: copying without a new checkpoint: process %d has not written one within 300ms\n", p.Pid); errOut != want {
		t.Errorf("got %q, want %q", errOut, want)
	}
	if done.Fresh || !done.Running || done.Replays < 50 {
		t.Errorf("of a stopped process: %+v", done)
	}
	if got := committed(t, done.To); got != 50 {
		t.Errorf("restored: offset %d, want 50", got)
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.commitMore(t, 50)
	if done, _ := copyOf(t, dir); !done.Fresh {
		t.Errorf("once it goes on: %+v", done)
	}
	c.commitMore(t, 50)
	p.end(t, syscall.SIGKILL)
	done, errOut = copyOf(t, dir)
	if done.Fresh || done.Running || done.Replays < 50 || errOut != "" {
		t.Errorf("of a process that was killed: %+v, %s", done, errOut)
	}
	if got := committed(t, done.To); got != 150 {
		t.Errorf("restored: offset %d, want 150", got)
	}
}

// Who stops the program while it waits gets no copy.
func TestBackupStopped(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	p := serve(t, dir)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b := begin(t, nil, "backup", dir, to, "--checkpoint-timeout", "1h")
	b.signals <- os.Interrupt
	b.ends(t, 1)
	if _, err := os.Stat(to); b.stderr.String() != "kohort: stopped by a signal; there is no copy\n" || !os.IsNotExist(err) {
		t.Errorf("got %q, %v", b.stderr, err)
	}
}
