package main

import (
	"fmt"
	"net"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/broker/settings"
)

// defaultAddr is where the broker listens when nothing says otherwise: nobody but this machine reaches it.
const defaultAddr = "127.0.0.1:9092"

// settingFlags are the flags that become settings; `kohort config` has them too.
type settingFlags struct {
	Addr string   `placeholder:"HOST:PORT" help:"Address to listen on, 127.0.0.1:9092 unless given. Port 0 takes a free port."`
	Set  []string `sep:"none" placeholder:"NAME=VALUE" help:"Set a Kafka property, for example num.partitions=3. May be repeated."`
	File string   `short:"f" placeholder:"FILE" help:"Read Kafka properties from a file (server.properties)."`
}

// sources returns where the settings come from, highest precedence first.
func (f *settingFlags) sources(w *world, dataDir string) ([]settings.Source, error) {
	var sources []settings.Source
	if f.Addr != "" {
		if _, _, err := net.SplitHostPort(f.Addr); err != nil {
			return nil, fmt.Errorf("--addr takes HOST:PORT, for example %s, and not %q", defaultAddr, f.Addr)
		}
		sources = append(sources, settings.Source{Name: "--addr", Values: map[string]string{"listeners": "PLAINTEXT://" + f.Addr}})
	}
	if dataDir != "" {
		sources = append(sources, settings.Source{Name: "--data", Whole: true, Values: map[string]string{"log.dirs": dataDir}})
	}
	sets, err := settings.Sets(f.Set)
	if err != nil {
		return nil, err
	}
	sources = append(sources, sets, settings.Environment(w.environ))
	if f.File != "" {
		file, err := settings.File(f.File)
		if err != nil {
			return nil, err
		}
		sources = append(sources, file)
	}
	return sources, nil
}

// listenAddr returns the address to listen on.
func listenAddr(s *settings.Settings) string {
	if len(s.Listeners) > 0 {
		return s.Listeners[0].Addr()
	}
	return defaultAddr
}

// logFlags say how the log looks.
type logFlags struct {
	LogFormat string `enum:"auto,console,json" default:"auto" help:"Form of the log: console, json, or auto (console on a terminal)."`
	LogLevel  string `enum:"trace,debug,info,warn,error" default:"info" help:"Lowest level that is logged: trace, debug, info, warn or error."`
}

// logger returns the log, which goes to standard error.
func (f *logFlags) logger(w *world) zerolog.Logger {
	level, err := zerolog.ParseLevel(f.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel // the flag's enumeration has only levels
	}
	terminal := onTerminal(w.stderr)
	out := w.stderr
	if f.LogFormat == "console" || (f.LogFormat == "auto" && terminal) {
		out = zerolog.ConsoleWriter{
			Out: w.stderr, TimeFormat: "15:04:05.000", NoColor: !terminal || os.Getenv("NO_COLOR") != "",
			FieldsExclude: []string{"event", "generation", "group", "host", "member", "reason", "state"}, // the message says them
		}
	}
	return zerolog.New(out).Level(level).Hook(zerolog.HookFunc(stamp))
}

// stamp adds the time to a line of the log, with the milliseconds that zerolog itself leaves out.
func stamp(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().Format(timeLayout))
}
