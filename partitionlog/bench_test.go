package partitionlog

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// BenchmarkAppend measures one-batch appends over 50 partitions, in memory and on the disk of the temporary directory.
// BenchmarkRing is what that disk could do at best with the same grouping.
func BenchmarkAppend(b *testing.B) {
	for _, kind := range []string{"memory", "disk"} {
		for _, callers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("store=%s/callers=%d", kind, callers), func(b *testing.B) {
				c := Config{MaintenanceInterval: -1, MinFreeBytes: 1}
				if kind == "disk" {
					c.Dir = b.TempDir()
				}
				benchmarkAppend(b, c, callers)
			})
		}
	}
}

func benchmarkAppend(b *testing.B, c Config, callers int) {
	s, err := Open(c)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	topic, err := s.CreateTopic(TopicSpec{Name: "t", Partitions: 50})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().UnixMilli()
	var done atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for caller := range callers {
		wg.Go(func() {
			batch := batchOf(now, "group topic partition")
			a := &Append{Partition: topic.Partitions[caller%50], Records: batch, Origin: OriginCoordinator}
			for done.Add(1) <= int64(b.N) {
				if s.Append(a); a.Err != nil {
					b.Error(a.Err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// BenchmarkRing is a bare file: 256 waiting callers, page-aligned frames of what gathered, one write and one fdatasync
// each.
func BenchmarkRing(b *testing.B) {
	f, err := vfs.OS.Create(filepath.Join(b.TempDir(), "ring"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const size = 16 << 20
	if _, err := f.WriteAt(make([]byte, size), 0); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	type waiter struct{ wake chan struct{} }
	var mu sync.Mutex
	var waiting []*waiter
	signal := make(chan struct{}, 1)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		frame := make([]byte, 1<<20)
		var position int64
		for {
			select {
			case <-signal:
			case <-stop:
				return
			}
			mu.Lock()
			taken := waiting
			waiting = nil
			mu.Unlock()
			if len(taken) == 0 {
				continue
			}
			length := int64((len(taken)*130 + 4095) &^ 4095)
			if position+length > size {
				position = 0
			}
			if _, err := f.WriteAt(frame[:length], position); err != nil {
				b.Error(err)
			}
			if err := f.Sync(); err != nil {
				b.Error(err)
			}
			position += length
			for _, w := range taken {
				w.wake <- struct{}{}
			}
		}
	})
	var done atomic.Int64
	var callers sync.WaitGroup
	b.ResetTimer()
	for range 256 {
		callers.Go(func() {
			w := &waiter{make(chan struct{}, 1)}
			for done.Add(1) <= int64(b.N) {
				mu.Lock()
				waiting = append(waiting, w)
				mu.Unlock()
				select {
				case signal <- struct{}{}:
				default:
				}
				<-w.wake
			}
		})
	}
	callers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
	close(stop)
	writer.Wait()
}
