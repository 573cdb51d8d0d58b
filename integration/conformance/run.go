package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Target is a broker that scenarios run against: Kafka, or Kohort in real time, or Kohort with a clock that is moved.
type Target interface {
	Addr() string
	// Pass lets time pass.
	Pass(d time.Duration)
	// Settle is how long it takes at most until a request that was sent has had its effect.
	Settle() time.Duration
	// Restart stops and starts the broker, once for all scenarios that run.
	Restart() error
}

const (
	answerTime = 20 * time.Second
	retryTime  = 30 * time.Second
	retryPause = 100 * time.Millisecond
)

// run is one scenario on its way.
type run struct {
	ctx      context.Context
	scenario *Scenario
	target   Target
	conns    map[string]*conn
	vars     map[string]string // $name -> value
	history  *history          // nil for scenarios of a file
	out      Transcript
}

// Run runs a scenario, with names of its own made from nonce. An error says that the scenario could not be run, not
// that an answer was unexpected.
func Run(ctx context.Context, s *Scenario, t Target, nonce string) (Transcript, error) {
	r := newRun(ctx, s, t, fmt.Sprintf("s%.3s-%s-", s.Name, nonce))
	defer r.closeAll()
	if slices.ContainsFunc(s.Steps, func(st *Step) bool { return st.Kind == Try }) {
		r.history = &history{began: time.Now(), slot: s.Slot}
	}
	if err := r.prepare(); err != nil {
		return Transcript{}, fmt.Errorf("preparing: %w", err)
	}
	return r.steps()
}

func newRun(ctx context.Context, s *Scenario, t Target, prefix string) *run {
	r := &run{ctx: ctx, scenario: s, target: t, conns: map[string]*conn{}, vars: map[string]string{}}
	for _, name := range []string{"g", "g2", "g3", "t", "u", "v", "w", "d"} {
		r.vars["$"+name] = prefix + name
	}
	return r
}

func (r *run) steps() (Transcript, error) {
	for _, step := range r.scenario.Steps {
		if err := r.ctx.Err(); err != nil {
			return Transcript{}, err
		}
		leaves, err := r.step(step)
		if err != nil {
			return Transcript{}, fmt.Errorf("%q: %w", step.Line, err)
		}
		r.out.Steps = append(r.out.Steps, Answer{Line: step.Line, Leaves: leaves})
	}
	return r.out, nil
}

func (r *run) closeAll() {
	for _, c := range r.conns {
		_ = c.net.Close() // nothing depends on it
	}
	clear(r.conns)
}

// lookup is where a request finds $names.
func (r *run) lookup(name string) (string, bool) {
	v, ok := r.vars[name]
	if !ok && r.history != nil {
		return r.history.unknown(name), true
	}
	return v, ok
}

func (r *run) conn(name string) (*conn, error) {
	if c := r.conns[name]; c != nil {
		return c, nil
	}
	c, err := dial(r.target.Addr())
	if err == nil {
		r.conns[name] = c
	}
	return c, err
}

// step does one step and returns what the transcript says of it.
func (r *run) step(s *Step) ([]Leaf, error) {
	switch s.Kind {
	case Wait:
		r.target.Pass(s.Pause)
		return nil, nil
	case Restart:
		r.closeAll()
		return nil, r.target.Restart()
	case Close:
		if c := r.conns[s.Conn]; c != nil {
			_ = c.net.Close() // nothing depends on it
			delete(r.conns, s.Conn)
			time.Sleep(r.target.Settle())
		}
		return nil, nil
	case Unname:
		c, err := r.conn(s.Conn)
		if err == nil {
			c.unnamed = true
		}
		return nil, err
	case ReadOffsets:
		return r.readOffsets(s)
	case Retry:
		return r.retry(s)
	case StillParked:
		return r.parked(s)
	case Answers:
		return r.answer(s, answerTime)
	case Try:
		return r.try(s)
	default:
	}
	if err := r.send(s); err != nil {
		return nil, err
	}
	if s.Kind == Park {
		return r.parked(s)
	}
	return r.answer(s, answerTime)
}

func (r *run) send(s *Step) error {
	c, err := r.conn(s.Conn)
	if err != nil {
		return err
	}
	req, err := s.request(r.lookup)
	if err != nil {
		return err
	}
	if c.pending != nil {
		return fmt.Errorf("connection %s still waits for an answer", s.Conn)
	}
	return c.send(req)
}

// parked waits for what must not come. What comes all the same is in the transcript, and can be asked for again.
func (r *run) parked(s *Step) ([]Leaf, error) {
	leaves, err := r.answer(s, r.target.Settle())
	if err != nil || len(leaves) == 1 && leaves[0] == never {
		return []Leaf{{"(parked)", "yes"}}, err
	}
	return append([]Leaf{{"(parked)", "no"}}, leaves...), nil
}

var (
	never  = Leaf{"(answer)", "never"}
	closed = Leaf{"(connection)", "closed"}
)

// answer waits for the answer on a step's connection.
func (r *run) answer(s *Step, within time.Duration) ([]Leaf, error) {
	c, err := r.conn(s.Conn)
	if err != nil {
		return nil, err
	}
	req := c.pending
	if req == nil {
		return []Leaf{never}, nil
	}
	resp, err := c.receive(within)
	switch {
	case isNoAnswer(err):
		return []Leaf{never}, nil
	case errors.Is(err, io.EOF):
		delete(r.conns, s.Conn)
		return []Leaf{closed}, nil
	case err != nil:
		return []Leaf{{"(answer)", err.Error()}}, nil
	}
	return r.render(s, req, resp)
}

// render captures, and writes the answer.
func (r *run) render(s *Step, req kmsg.Request, resp kmsg.Response) ([]Leaf, error) {
	if cluster, ok := resp.(*kmsg.DescribeClusterResponse); ok {
		r.vars["$cluster"] = cluster.ClusterID
	}
	keepOwn(resp, r.vars["$g"])
	plain := renderer{plain: true}
	raw := plain.leaves(resp)
	for _, c := range s.Captures {
		r.vars["$"+c.Name] = strings.Trim(valueAt(raw, c.Path), `"`)
		if id, ok := idAt(reflect.ValueOf(resp).Elem(), c.Path); ok {
			r.vars["$"+c.Name] = formatID(id)
		}
	}
	leaves := r.renderer(req).leaves(resp)
	for _, c := range s.Captures {
		for i, l := range leaves {
			if l.Path == c.Path {
				leaves[i].Value = quoteAs(l.Value, "$"+c.Name)
			}
		}
	}
	return leaves, nil
}

// quoteAs writes a name the way that the value was written.
func quoteAs(value, name string) string {
	if strings.HasPrefix(value, `"`) {
		return `"` + name + `"`
	}
	return name
}

func (r *run) renderer(req kmsg.Request) *renderer {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.vars)) {
		if value := r.vars[name]; len(value) > 8 {
			names[value] = name // of two names the longer one, which a history never gives to another member
		}
	}
	return &renderer{names: names, port: portOf(r.target.Addr()), loose: looseOrder(req)}
}
