package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/partitionlog"
)

// backups is how many copies TestBackupUnderCheckpoints makes.
var backups = flag.Int("backups", 8, "copies that are made under load")

// A copy of a broker that serves holds every record and offset that was acknowledged before, and a broker starts on it.
func TestBackupWhileServing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	b, err := broker.Start(t.Context(), broker.Config{
		DataDir: dir, Profile: settings.Dev, Properties: map[string]string{"group.initial.rebalance.delay.ms": "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	said(t, b.Addr(), "", "produce", "orders", "-p", "0", "1", "2", "3")
	said(t, b.Addr(), "", "consume", "orders", "-g", "team", "-n", "2")
	stop, acknowledged := make(chan struct{}), atomic.Int64{}
	acknowledged.Store(3)
	var load sync.WaitGroup
	load.Go(func() {
		for n := int64(4); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, _, code := said(t, b.Addr(), "", "produce", "orders", "-p", "0", strconv.FormatInt(n, 10)); code == 0 {
				acknowledged.Store(n)
			}
		}
	})
	for range 3 {
		least := acknowledged.Load()
		to := filepath.Join(t.TempDir(), "copy")
		out, errOut, code := said(t, "", "", "backup", dir, to)
		if code != 0 || !strings.Contains(out, "restore it with: kohort serve --data "+to) {
			t.Fatalf("exit code %d, %s%s", code, out, errOut)
		}
		// This process embeds the broker, and said nothing of the signal: it must not get it.
		if !strings.Contains(errOut, fmt.Sprintf("kohort: copying without a new checkpoint: process %d does not take SIGUSR1", os.Getpid())) {
			t.Errorf("got %s", errOut)
		}
		restored(t, to, least)
	}
	close(stop)
	load.Wait()
	if _, errOut, code := said(t, "", "", "backup", dir, filepath.Dir(dir)); code != 1 || !strings.Contains(errOut, "is not empty") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	if _, errOut, code := said(t, "", "", "backup", t.TempDir(), filepath.Join(t.TempDir(), "copy")); code != 1 || !strings.Contains(errOut, "is no data directory") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}

// restored starts a broker on a copy, and finds at least so many records, without a hole, and the group's offset.
func restored(t *testing.T, dir string, least int64) {
	t.Helper()
	b, err := broker.Start(t.Context(), broker.Config{DataDir: dir, Profile: settings.Dev})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out, errOut, _ := said(t, b.Addr(), "", "consume", "orders:0", "-e")
	values := strings.Fields(out)
	if int64(len(values)) < least {
		t.Errorf("%d records, %d were acknowledged: %s", len(values), least, errOut)
	}
	for i, value := range values {
		if value != strconv.Itoa(i+1) {
			t.Fatalf("record %d is %s", i, value)
		}
	}
	out, _, _ = said(t, b.Addr(), "", "groups", "describe", "team", "-o", "json")
	var views []lagView
	if err := json.Unmarshal([]byte(out), &views); err != nil || len(views) != 1 || number(views[0].Partitions[0].Committed) != "2" {
		t.Errorf("%v: %s", err, out)
	}
}

// With a journal so small that checkpoints, rolled and removed segments never pause, every copy is still whole, verify
// never cries wolf, and a copy holds what was acknowledged before it was begun.
func TestBackupUnderCheckpoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	store, err := partitionlog.Open(partitionlog.Config{Dir: dir, JournalBytes: 2 << 20, MaintenanceInterval: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	topic, err := store.CreateTopic(partitionlog.TopicSpec{
		Name: "t", Partitions: 4, Overrides: map[string]string{"segment.bytes": "200000", "retention.bytes": "1000000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, next := make(chan struct{}), make([]atomic.Int64, len(topic.Partitions))
	var load sync.WaitGroup
	for i, p := range topic.Partitions {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				batch := partitionlog.NewBuilder(partitionlog.None)
				batch.Add(0, time.Now().UnixMilli(), nil, []byte(strings.Repeat(fmt.Sprint(next[i].Load()), 2000)), nil)
				a := &partitionlog.Append{Partition: p, Records: batch.Bytes(0)}
				if store.Append(a); a.Err != nil {
					t.Error(a.Err)
					return
				}
				next[i].Store(a.BaseOffset + 1)
			}
		})
	}
	for n := range *backups {
		var least [4]int64
		for i := range least {
			least[i] = next[i].Load()
		}
		to := filepath.Join(t.TempDir(), "copy")
		done, err := backup(dir, to, nil)
		if err != nil {
			t.Error(err)
			break
		}
		checkCopy(t, to, least)
		v, err := verify(dir)
		if err != nil || !v.Starts || len(v.Damage) > 0 || !v.Running {
			t.Errorf("verify: %v, %+v", err, v)
		}
		t.Logf("copy %d: %d tries, %d files, checkpoint %d", n, done.Tries, done.Files, done.Checkpoint)
	}
	close(stop)
	load.Wait()
}

// checkCopy opens a copy, and reads every record of it.
func checkCopy(t *testing.T, dir string, least [4]int64) {
	t.Helper()
	store, err := partitionlog.Open(partitionlog.Config{Dir: dir, MaintenanceInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for i, p := range store.Topic("t").Partitions {
		at, end := p.Offsets()
		if end < least[i] {
			t.Errorf("%s ends at %d, and %d were acknowledged", p, end, least[i])
		}
		for at < end {
			records, err := p.Read(at, 1<<20, true)
			if err != nil {
				t.Fatal(err)
			}
			for len(records) > 0 {
				b, rest, err := partitionlog.NextBatch(records)
				if err != nil || b.BaseOffset() != at || b.CRC() != b.ComputeCRC() {
					t.Fatalf("%s at %d: %v", p, at, err)
				}
				at, records = b.NextOffset(), rest
			}
		}
	}
}
