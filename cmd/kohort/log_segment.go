package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/kohort/kohort/partitionlog"
)

// The layout of a batch as far as finding one needs it.
// Source: DefaultRecordBatch.java.
const (
	batchLengthAt = 8 // after the base offset
	batchHead     = 12
	batchMagicAt  = 16
	batchSmallest = 61
	batchLargest  = 1 << 30
)

// damage is a stretch of a file that is no batch.
type damage struct {
	at, bytes int64
	reason    string
}

// walkSegment calls fn with each batch of a segment, in order, and with each stretch that is damaged. Behind a damage
// it goes on where the next whole batch begins.
func walkSegment(from io.ReaderAt, size int64, fn func(at int64, b partitionlog.Batch, bad *damage) error) error {
	file := &window{file: from, size: size}
	next := int64(-1) // the lowest offset that may come
	for at := int64(0); at < size; {
		b, err := batchAt(file, at, size)
		if err == nil && b.BaseOffset() < next {
			err = fmt.Errorf("offset %d comes after %d", b.BaseOffset(), next-1)
		}
		if err == nil {
			if err := fn(at, b, nil); err != nil {
				return err
			}
			next = b.NextOffset()
			at += int64(len(b))
			continue
		}
		var bad *damagedBatch
		if !errors.As(err, &bad) && b == nil {
			return err
		}
		began := at
		var readErr error
		if at, readErr = nextBatch(file, at+1, size); readErr != nil {
			return readErr
		}
		if err := fn(began, nil, &damage{began, at - began, err.Error()}); err != nil {
			return err
		}
	}
	return nil
}

// window reads ahead, for small reads that follow each other.
type window struct {
	file io.ReaderAt
	size int64
	at   int64
	b    []byte
}

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(b []byte, at int64) (int, error) {
	if at < w.at || at+int64(len(b)) > w.at+int64(len(w.b)) {
		if cap(w.b) == 0 {
			w.b = make([]byte, searchChunk)
		}
		if len(b) > cap(w.b) {
			return w.file.ReadAt(b, at)
		}
		w.at, w.b = at, w.b[:max(0, min(int64(cap(w.b)), w.size-at))]
		if n, err := w.file.ReadAt(w.b, at); err != nil && !(errors.Is(err, io.EOF) && n == len(w.b)) {
			w.b = w.b[:0]
			return 0, err
		}
	}
	n := copy(b, w.b[at-w.at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// searchChunk is how much is read at once to find the next batch.
const searchChunk = 1 << 20

// nextBatch returns the position of the first whole batch from a position on, or the file's size.
func nextBatch(file io.ReaderAt, from, size int64) (int64, error) {
	chunk := make([]byte, searchChunk+batchMagicAt)
	for ; from < size; from += searchChunk {
		b := chunk[:min(int64(len(chunk)), size-from)]
		if _, err := file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := 0; i+batchMagicAt < len(b); i++ {
			if b[i+batchMagicAt] != 2 || b[i+batchLengthAt]&0xc0 != 0 {
				continue
			}
			if _, err := batchAt(file, from+int64(i), size); err == nil {
				return from + int64(i), nil
			}
		}
	}
	return size, nil
}

// damagedBatch says why bytes are no batch, in contrast to those that could not be read.
type damagedBatch struct{ reason string }

func (e *damagedBatch) Error() string { return e.reason }

// batchAt reads the batch at a position, and checks that it is whole.
func batchAt(file io.ReaderAt, at, size int64) (partitionlog.Batch, error) {
	if size-at < batchSmallest {
		return nil, &damagedBatch{fmt.Sprintf("%d bytes are too few for a batch", size-at)}
	}
	head := make([]byte, batchMagicAt+1)
	if _, err := file.ReadAt(head, at); err != nil {
		return nil, err
	}
	length := int64(int32(binary.BigEndian.Uint32(head[batchLengthAt:]))) + batchHead
	switch {
	case head[batchMagicAt] != 2:
		return nil, &damagedBatch{fmt.Sprintf("a batch begins with magic %d, not 2", head[batchMagicAt])}
	case length < batchSmallest || length > batchLargest:
		return nil, &damagedBatch{fmt.Sprintf("a batch of %d bytes is impossible", length)}
	case length > size-at:
		return nil, &damagedBatch{fmt.Sprintf("a batch of %d bytes ends behind the file, which has %d left", length, size-at)}
	}
	b := make([]byte, length)
	if _, err := file.ReadAt(b, at); err != nil {
		return nil, err
	}
	batch, _, err := partitionlog.NextBatch(b)
	if err != nil {
		return nil, &damagedBatch{err.Error()}
	}
	if got := batch.ComputeCRC(); got != batch.CRC() {
		return nil, &damagedBatch{fmt.Sprintf("the checksum is %08x, and should be %08x", got, batch.CRC())}
	}
	return batch, nil
}
