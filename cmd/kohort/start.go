package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// stopLimit is how long the broker may take to stop in good order. Whatever was acknowledged is durable without it.
const stopLimit = 2 * time.Second

// startFlags are the flags of both commands that start a broker.
type startFlags struct {
	settingFlags
	logFlags
	AddrFile string `placeholder:"FILE" help:"Write the address to this file once clients can connect."`
}

// devCommand is `kohort dev`.
type devCommand struct {
	startFlags
}

// Run starts a broker in memory and waits for its end.
func (c *devCommand) Run(w *world) error {
	return c.start(w, broker.Config{Profile: settings.Dev}, "")
}

// serveCommand is `kohort serve`.
type serveCommand struct {
	startFlags
	Data  string `placeholder:"DIR" help:"Data directory; made if missing."`
	Fsync string `enum:"on,off" default:"on" help:"on: what is acknowledged survives a power cut; off: a crash of the broker only, as in Kafka."`
}

// Run starts a durable broker and waits for its end.
func (c *serveCommand) Run(w *world) error {
	return c.start(w, broker.Config{Profile: settings.Serve, NoSync: c.Fsync == "off"}, c.Data)
}

// start completes the configuration, starts the broker, tells where it is and waits for a signal or its failure.
func (f *startFlags) start(w *world, config broker.Config, dataDir string) error {
	sources, err := f.sources(w, dataDir)
	if err != nil {
		return err
	}
	s, _, err := settings.Load(config.Profile, sources...) // broker.Start loads again, and logs the warnings
	if err != nil {
		return err
	}
	config.Sources = sources
	config.Addr = listenAddr(s)
	config.Logger = f.logger(w)
	if config.Profile == settings.Serve {
		if config.DataDir = s.LogDir; config.DataDir == "" {
			return errors.New("there is no data directory; name one with --data DIR, or start `kohort dev`, which needs none")
		}
	}
	b, err := broker.Start(context.Background(), config)
	if err != nil {
		return explain(err, config.Addr)
	}
	if f.AddrFile != "" {
		if err := writeFile(f.AddrFile, b.Addr()+"\n"); err != nil {
			return errors.Join(fmt.Errorf("address file: %w; give --addr-file a file that can be written", err), b.Close())
		}
	}
	if config.DataDir != "" && w.checkpoints != nil {
		go writeCheckpoints(w.checkpoints, b, config.Logger)
		if err := announce(config.DataDir); err != nil {
			config.Logger.Warn().Err(err).Msg("`kohort backup` will not ask for a checkpoint, for the lock file cannot say that it may")
		}
	}
	fmt.Fprint(w.stdout, banner(s, &config, b.Addr()))
	return wait(w, b)
}

// ender is what can be waited for and closed: the broker, or one that does not end in tests.
type ender interface {
	Wait() error
	Close() error
}

// wait returns when the broker has ended: by itself with its error, by a signal within stopLimit, by a second at once.
func wait(w *world, b ender) error {
	failed := make(chan error, 1)
	go func() { failed <- b.Wait() }()
	select {
	case err := <-failed:
		return err
	case <-w.signals:
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	select {
	case err := <-closed:
		return err
	case <-w.signals:
		return errors.New("stopped at once by a second signal")
	case <-time.After(stopLimit):
		return fmt.Errorf("the broker did not stop in good order within %v; what was acknowledged is kept", stopLimit)
	}
}

// writeFile writes a file so that a reader finds all of it or nothing.
func writeFile(path, content string) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temp.WriteString(content)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
