package broker

import (
	"net"
	"time"

	"github.com/rs/zerolog"

	"github.com/kohort/kohort/broker/settings"
	"github.com/kohort/kohort/partitionlog/vfs"
)

// Config says what to start. The zero value is a broker in memory on a free port of the loopback interface, with the
// defaults of `kohort dev`.
type Config struct {
	// Addr is HOST:PORT to listen on. Empty: the first of the `listeners` property, or else 127.0.0.1 and a free port.
	Addr string
	// DataDir is where everything is kept. Empty: in memory, and gone with the broker.
	DataDir string
	// Profile chooses the defaults when there is a DataDir; in memory they are always those of settings.Dev.
	Profile settings.Profile
	// Properties are settings by Kafka's names; they have precedence over Sources.
	Properties map[string]string
	// Sources are further settings, highest precedence first.
	Sources []settings.Source
	// Logger gets one line for each decision about a group, and whatever an operator should know. The zero value is
	// silent.
	Logger zerolog.Logger
	// NoSync leaves out the fdatasync of the journal: an acknowledged commit then survives the process, not the machine.
	NoSync bool

	// Listen replaces net.Listen: in-memory pipes in tests.
	Listen func(network, address string) (net.Listener, error)
	// FS replaces the operating system's files under DataDir: a disk that fails in tests.
	FS vfs.FS
	// Seed makes member ids repeatable. 0: from the operating system.
	Seed uint64
	// WriteTimeout cuts off a peer that does not read its answers. 0: 30 s.
	WriteTimeout time.Duration
	// OnPanic is told of each panic of the coordinator, which the broker otherwise survives. Tests fail on it.
	OnPanic func(trace string)
}

const (
	defaultAddr         = "127.0.0.1:0"
	defaultWriteTimeout = 30 * time.Second
)
