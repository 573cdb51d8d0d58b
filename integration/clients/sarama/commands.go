package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"github.com/kohort/kohort/integration/clients/kgo/lines"
)

// errorList keeps what sarama reports while somebody wants to know; else it is written at once.
type errorList struct {
	mu   sync.Mutex
	keep bool
	kept []error
}

func (l *errorList) read(errs <-chan error) {
	for err := range errs {
		l.mu.Lock()
		if l.keep {
			l.kept = append(l.kept, err)
		} else {
			lines.Error(err)
		}
		l.mu.Unlock()
	}
}

// during returns the errors that come while f runs, and a little later: sarama hands them from goroutine to goroutine.
func (l *errorList) during(f func()) error {
	l.mu.Lock()
	l.keep = true
	l.mu.Unlock()
	f()
	<-time.After(100 * time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	err := errors.Join(l.kept...)
	l.keep, l.kept = false, nil
	return err
}

func (m *member) command(words []string) {
	switch words[0] {
	case "commit":
		next := maps.Clone(m.next)
		if err := m.commit(next); err != nil {
			lines.Emit("commit_failed", lines.Fields{"error": err.Error()})
			return
		}
		lines.Emit("committed", lines.Fields{"offsets": next})
	case "committed":
		offsets, err := committedOffsets(m.adm, m.group, m.topic, slices.Collect(maps.Keys(m.owned)))
		answer("offsets", offsets, err)
	case "seek":
		to := map[int32]int64{int32(lines.Number(words[1])): lines.Number(words[2])}
		answer("sought", to, m.seek(to))
	case "seek_time":
		to := map[int32]int64{}
		for p := range m.owned {
			offset, err := m.client.GetOffset(m.topic, p, lines.Number(words[1]))
			if err == nil && offset < 0 {
				offset, err = m.client.GetOffset(m.topic, p, sarama.OffsetNewest)
			}
			if err != nil {
				lines.Error(err)
				return
			}
			to[p] = offset
		}
		answer("sought", to, m.seek(to))
	default:
		lines.Error(fmt.Errorf("unknown command %s", words[0]))
	}
}

// answer writes offsets, or what went wrong.
func answer(event string, offsets map[int32]int64, err error) {
	if err != nil {
		lines.Error(err)
		return
	}
	lines.Emit(event, lines.Fields{"offsets": offsets})
}

// commit marks and commits. sarama's Commit returns nothing: it reports errors elsewhere, and of some it says nothing at
// all, so the coordinator is asked.
func (m *member) commit(next map[int32]int64) error {
	if m.sess == nil {
		return errors.New("no session")
	}
	for p, offset := range next {
		m.sess.MarkOffset(m.topic, p, offset, "")
	}
	return m.flush(next)
}

func (m *member) flush(want map[int32]int64) error {
	if err := m.errs.during(m.sess.Commit); err != nil {
		return err
	}
	got, err := committedOffsets(m.adm, m.group, m.topic, slices.Collect(maps.Keys(want)))
	if err != nil {
		return err
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("sarama reported no error, but committed is %v, not %v", got, want)
	}
	return nil
}

// seek is what sarama has instead: the committed offsets are reset, and the next session begins there; for the other
// partitions, where it has read to.
func (m *member) seek(to map[int32]int64) error {
	if m.sess == nil {
		return errors.New("no session")
	}
	marks := maps.Clone(m.next)
	maps.Copy(marks, to)
	for p, offset := range marks {
		m.sess.ResetOffset(m.topic, p, offset, "") // only back
		m.sess.MarkOffset(m.topic, p, offset, "")  // only forth
	}
	if err := m.flush(marks); err != nil {
		return err
	}
	m.restart()
	return nil
}
