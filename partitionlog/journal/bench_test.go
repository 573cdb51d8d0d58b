package journal

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kohort/kohort/partitionlog/vfs"
)

// settle waits for the spares, whose zeros would compete for the disk.
func settle(j *Journal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.wantsSpare() {
		j.changed.Wait()
	}
}

// bareFile is the least that can be done: a file that was written before.
func bareFile(b *testing.B) vfs.File {
	f := must(vfs.OS.Create(filepath.Join(b.TempDir(), "f")))
	zeros := make([]byte, 1<<20)
	for pos := int64(0); pos < DefaultFileBytes; pos += int64(len(zeros)) {
		must(f.WriteAt(zeros, pos))
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkAppend takes turns with a bare write and fdatasync of as many bytes, so that a busy disk slows down both, and
// reports the ratio of the medians.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 3000, 60_000, 1 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			j := must(Create(Config{FS: vfs.OS, Dir: filepath.Join(b.TempDir(), "j"), FileBytes: DefaultFileBytes}))
			settle(j)
			f := bareFile(b)
			p := payload(0, size)
			raw := payload(0, int(framePages(size)))
			var ours, bare []time.Duration
			pos := int64(0)
			for b.Loop() {
				began := time.Now()
				j.Release(must(j.Append(p)))
				ours = append(ours, time.Since(began))
				if pos+int64(len(raw)) > DefaultFileBytes {
					pos = 0
				}
				began = time.Now()
				must(f.WriteAt(raw, pos))
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(began))
				pos += int64(len(raw))
			}
			slices.Sort(ours)
			slices.Sort(bare)
			m, n := ours[len(ours)/2], bare[len(bare)/2]
			b.ReportMetric(float64(m.Microseconds()), "journal-µs")
			b.ReportMetric(float64(n.Microseconds()), "bare-µs")
			b.ReportMetric(float64(m)/float64(n), "x-bare")
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
