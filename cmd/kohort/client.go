package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// pingLimit is how long a broker may take to show that it is there.
const pingLimit = 10 * time.Second

// requestLimit is how long one question may take, with all its repetitions.
const requestLimit = 30 * time.Second

// brokerVariable names the environment variable that takes the place of --broker.
const brokerVariable = "KOHORT_BROKER"

// clientFlags say which broker is asked, and in which form the answer is printed.
type clientFlags struct {
	Broker string `short:"b" aliases:"bootstrap-server" placeholder:"HOST:PORT" help:"Broker to ask; else KOHORT_BROKER, else 127.0.0.1:9092."`
	Output string `short:"o" enum:"table,json" default:"table" help:"table or json."`
}

// addr returns the broker's address: of the flag, of the environment, or where a broker listens by default.
func (f *clientFlags) addr(w *world) string {
	if f.Broker != "" {
		return f.Broker
	}
	for _, variable := range w.environ {
		if value, ok := strings.CutPrefix(variable, brokerVariable+"="); ok && value != "" {
			return value
		}
	}
	return defaultAddr
}

// session is a run of a command that asks a broker.
type session struct {
	w      *world
	ctx    context.Context // ends with the first signal
	cancel context.CancelFunc
	addr   string
	json   bool
	client *kgo.Client
	admin  *kadm.Client
}

// open makes a session and finds out whether a broker is there.
func (f *clientFlags) open(w *world, opts ...kgo.Opt) (*session, error) {
	s, err := f.prepare(w, opts...)
	if err != nil {
		return nil, err
	}
	if err := s.ping(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// prepare makes a session without asking anything.
func (f *clientFlags) prepare(w *world, opts ...kgo.Opt) (*session, error) {
	client, err := f.client(w, opts...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{w: w, ctx: ctx, cancel: cancel, addr: f.addr(w), json: f.Output == "json", client: client, admin: kadm.NewClient(client)}
	s.admin.SetTimeoutMillis(int32(requestLimit.Milliseconds()))
	go func() {
		select {
		case <-w.signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return s, nil
}

// client returns a client of the broker that the flags name. It has not connected yet.
func (f *clientFlags) client(w *world, opts ...kgo.Opt) (*kgo.Client, error) {
	addr := f.addr(w)
	for seed := range strings.SplitSeq(addr, ",") {
		if _, _, err := net.SplitHostPort(seed); err != nil {
			return nil, fmt.Errorf("--broker takes HOST:PORT, for example %s, and not %q", defaultAddr, addr)
		}
	}
	return kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(strings.Split(addr, ",")...), kgo.ClientID("kohort"), kgo.DialTimeout(pingLimit / 2),
		kgo.RetryTimeout(requestLimit), kgo.MetadataMinAge(50 * time.Millisecond),
	}, opts...)...)
}

// close ends the session.
func (s *session) close() {
	s.cancel()
	s.client.CloseAllowingRebalance() // a member that ends with an error may still hold a rebalance up
}

// ping finds out whether a broker is there.
func (s *session) ping() error {
	var err error
	s.during("connecting to "+s.addr, func() {
		ctx, cancel := context.WithTimeout(s.ctx, pingLimit)
		defer cancel()
		err = s.client.Ping(ctx)
	})
	if err == nil {
		return nil
	}
	return s.unreachable(err)
}

// unreachable says why there is no broker, and how to come by one.
func (s *session) unreachable(err error) error {
	const remedy = "start one with `kohort dev`, or name another with --broker HOST:PORT or " + brokerVariable
	var dns *net.DNSError
	switch {
	case s.ctx.Err() != nil:
		return errors.New("stopped by a signal")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no broker listens at %s; %s", s.addr, remedy)
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %q; name a broker that exists with --broker HOST:PORT or %s", dns.Name, brokerVariable)
	case errors.Is(err, context.DeadlineExceeded):
		return &silentError{fmt.Sprintf("no broker answered at %s within %v; %s", s.addr, pingLimit, remedy)}
	case errors.Is(err, io.EOF), errors.As(err, new(*kgo.ErrFirstReadEOF)):
		return fmt.Errorf("what listens at %s closed the connection: no Kafka broker, or one that wants TLS or SASL, which kohort does not speak", s.addr)
	}
	return fmt.Errorf("no broker could be reached at %s: %w; %s", s.addr, err, remedy)
}

// silentError says that nothing answered in time.
type silentError struct{ text string }

// Error is the sentence.
func (e *silentError) Error() string { return e.text }

// Unwrap tells what it is an instance of.
func (e *silentError) Unwrap() error { return context.DeadlineExceeded }

// request returns the context of one question.
func (s *session) request() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, requestLimit)
}

// asked returns an error with what was asked, of whom. If the broker does not have the api at all, it says so.
func (s *session) asked(what string, key kmsg.Key, err error) error {
	var code *kerr.Error
	switch {
	case s.ctx.Err() != nil:
		return fmt.Errorf("%s: stopped by a signal", what)
	case errors.As(err, &code):
		return fmt.Errorf("%s: %s answers %s (%s)", what, s.addr, code.Message, strings.TrimSuffix(code.Description, "."))
	case s.lacks(key):
		return fmt.Errorf("%s: the broker at %s has no %s, which this needs; it may be too old, or not be Kafka", what, s.addr, key.Name())
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, s.unreachable(err))
	}
	return fmt.Errorf("%s at %s: %w", what, s.addr, err)
}

// lacks tells whether the broker says that it does not have an api.
func (s *session) lacks(key kmsg.Key) bool {
	ctx, cancel := context.WithTimeout(s.ctx, pingLimit)
	defer cancel()
	all, err := s.admin.ApiVersions(ctx)
	if err != nil || len(all) == 0 {
		return false
	}
	for _, versions := range all {
		if versions.Err != nil {
			return false // one that does not answer says nothing
		}
		if _, _, exists := versions.KeyVersions(key.Int16()); exists {
			return false
		}
	}
	return true
}
