package conformance

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// Settings are those of both brokers, unless a scenario says otherwise.
func Settings() map[string]string {
	return map[string]string{
		"group.initial.rebalance.delay.ms": "0",
		"group.min.session.timeout.ms":     "100",
		"offsets.topic.num.partitions":     "5",
		"log.retention.ms":                 "-1", // records have timestamps of 1970
		"num.partitions":                   "1",
	}
}

// merged are the fixture's settings with a scenario's; an empty value takes a setting away.
func merged(own map[string]string) map[string]string {
	all := Settings()
	for name, value := range own {
		if all[name] = value; value == "" {
			delete(all, name)
		}
	}
	return all
}

// Kohort is the broker in this process.
type Kohort struct {
	*broker.Broker
	config broker.Config
	moved  bool
}

// StartKohort starts Kohort with a scenario's settings. Moved: time passes by moving its clock.
func StartKohort(ctx context.Context, own map[string]string, moved bool, panicked func(trace string)) (*Kohort, error) {
	dir, err := os.MkdirTemp("", "kohort-conformance-")
	if err != nil {
		return nil, err
	}
	k := &Kohort{moved: moved, config: broker.Config{
		DataDir: dir, Profile: settings.Serve, NoSync: true, Properties: merged(own), Logger: zerolog.Nop(), OnPanic: panicked,
	}}
	if k.Broker, err = broker.Start(ctx, k.config); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return k, nil
}

// Close ends the broker and removes its directory.
func (k *Kohort) Close() error { return errors.Join(k.Broker.Close(), os.RemoveAll(k.config.DataDir)) }

// Settle is how long a request takes at most to have its effect: generous, for a busy machine.
func (k *Kohort) Settle() time.Duration { return 100 * time.Millisecond }

// Pass lets time pass, in steps, so that what a timer sets in motion finds the clock where it would be.
func (k *Kohort) Pass(d time.Duration) {
	if !k.moved {
		time.Sleep(d)
		return
	}
	step := max(d/100, 10*time.Millisecond)
	for end := d; end > 0; end -= step {
		k.Advance(min(step, end))
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
}

// Restart stops the broker in good order and starts it on the same directory and port.
func (k *Kohort) Restart() error {
	addr := k.Addr()
	if err := k.Broker.Close(); err != nil {
		return err
	}
	c := k.config
	c.Addr = addr
	b, err := broker.Start(context.Background(), c)
	if err == nil {
		k.Broker = b
	}
	return err
}
