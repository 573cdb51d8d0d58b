package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/partitionlog"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// announcement is the line that `kohort serve` adds to the lock file, below its pid. To a process that embeds a broker
// the signal may mean something else, so who does not say this gets none.
const announcement = "SIGUSR1 writes a checkpoint\n"

// tablePause is how often a new table is looked for: nobody tells when it is there.
const tablePause = 10 * time.Millisecond

// announce says in the lock file that this process, which holds it, writes a checkpoint when it gets the signal. The
// next holder empties the file.
func announce(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, partitionlog.LockFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(announcement)
	return errors.Join(err, f.Close())
}

// announced says whether the holder of a lock file has announced it.
func announced(lock string) bool {
	b, err := os.ReadFile(lock)
	_, after, _ := bytes.Cut(b, []byte("\n"))
	return err == nil && string(after) == announcement
}

// writeCheckpoints writes a checkpoint for each signal, until the broker has ended.
func writeCheckpoints(signals <-chan os.Signal, b *broker.Broker, log zerolog.Logger) {
	for {
		select {
		case <-b.Done():
			return
		case <-signals:
		}
		began := time.Now()
		if err := b.Checkpoint(context.Background()); err != nil {
			log.Warn().Err(err).Msg("no checkpoint was written, which a signal asked for")
			continue
		}
		log.Info().Dur("took", time.Since(began)).Msg("a checkpoint was written, as a signal asked")
	}
}

// freshCheckpoint makes the broker that has a directory write a checkpoint, and returns when the new table is there.
// It is false when there is no broker, or it ends meanwhile, which is a checkpoint, too.
//
// Errors: why there is none, and that the user has stopped the program.
func freshCheckpoint(dir string, atMost time.Duration, stop <-chan os.Signal) (bool, error) {
	lock, table := filepath.Join(dir, partitionlog.LockFile), filepath.Join(dir, partitionlog.TableFile)
	pid, held := vfs.Holder(lock)
	if !held || atMost == 0 {
		return false, nil
	}
	before, err := os.Stat(table)
	if err != nil {
		return false, nil // the copy says better what is missing
	}
	if err := askForCheckpoint(lock, pid); err != nil {
		return false, err
	}
	ticker, late := time.NewTicker(tablePause), time.NewTimer(atMost)
	defer ticker.Stop()
	defer late.Stop()
	for {
		select {
		case <-ticker.C:
		case <-late.C:
			return false, fmt.Errorf("process %d has not written one within %v", pid, atMost)
		case <-stop:
			return false, errStopped
		}
		// A table that a checkpoint replaces is another file, also when nothing has changed.
		if now, err := os.Stat(table); err == nil && (!os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime())) {
			return true, nil
		}
		if holder, held := vfs.Holder(lock); !held || holder != pid {
			return false, nil
		}
	}
}
