package coordinator

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata; commit only what you can explain")

// TestTranscripts runs the stories in testdata. A story is a list of commands, each followed by a dashed line and the
// effects that it has. Lines that begin with # are comments. See runner.run for the commands.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(source))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(source) {
				t.Errorf("%s differs from what happened:\n%s", file, firstDifference(string(source), got))
			}
		})
	}
}

// play runs a story and returns it with the effects that happened in place of the expected ones.
func play(t *testing.T, source string) string {
	r := newRunner(t)
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(source, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && lines[i+1] != "" {
			i++ // the old expectation, and its dashed line
		}
		result := r.run(line)
		if result == "" {
			result = "(nothing)\n"
		}
		out.WriteString("----\n" + result)
	}
	if n := len(r.core.Parked()); n+len(r.answered) != int(r.token) {
		t.Errorf("%d tokens were given out, %d answered and %d parked", r.token, len(r.answered), n)
	}
	return out.String()
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n  want %s\n  got  %s", i+1, a, b)
		}
	}
	return ""
}

// runner drives one core through a story with fake time.
type runner struct {
	t       *testing.T
	config  Config
	core    *Core
	seed    uint64
	start   time.Time
	now     time.Time
	log     []Record
	token   Token
	senders map[Token]string // who asked, and what
	clients map[string]*client
	names   map[string]string // UUID of a member id -> name in the story

	answered map[Token]bool
}

// client is a person of the story.
type client struct {
	name       string
	memberID   string
	instance   *string
	generation int32
	leads      bool
	ids        int
}

func newRunner(t *testing.T) *runner {
	start := time.Unix(1_700_000_000, 0)
	r := &runner{
		t: t, seed: 1, start: start, now: start,
		senders: map[Token]string{}, clients: map[string]*client{}, names: map[string]string{}, answered: map[Token]bool{},
	}
	// The fixture of the specification's section 9.
	r.config = DefaultConfig()
	r.config.InitialRebalanceDelay = 0
	r.config.FirstBarrier = 0
	r.config.MinSessionTimeout = 100 * time.Millisecond
	r.config.RetentionCheckInterval = time.Hour
	r.config.Check = true
	r.restart()
	return r
}

func (r *runner) restart() {
	r.core = New(r.config, r.seed)
	r.seed++
	for _, rec := range r.log {
		r.core.Replay(rec)
	}
	r.core.Loaded(r.now)
}

// arguments splits "verb word key=value ..." into its parts.
type arguments struct {
	verb   string
	words  []string
	values map[string]string
}

func parseArguments(line string) arguments {
	a := arguments{values: map[string]string{}}
	for i, f := range strings.Fields(line) {
		key, value, isValue := strings.Cut(f, "=")
		switch {
		case i == 0:
			a.verb = f
		case isValue && !strings.Contains(key, "-"):
			a.values[key] = value
		default:
			a.words = append(a.words, f)
		}
	}
	return a
}

func (a arguments) str(key, otherwise string) string {
	if v, ok := a.values[key]; ok {
		return v
	}
	return otherwise
}

func (a arguments) optional(key string, otherwise *string) *string {
	v, ok := a.values[key]
	switch {
	case !ok:
		return otherwise
	case v == "null":
		return nil
	}
	return &v
}

func (a arguments) num(key string, otherwise int) int {
	v, ok := a.values[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(fmt.Sprintf("%s=%s is not a number", key, v))
	}
	return n
}

func (a arguments) duration(key string, otherwise time.Duration) time.Duration {
	v, ok := a.values[key]
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		panic(fmt.Sprintf("%s=%s is not a duration", key, v))
	}
	return d
}

// run executes one command and returns what happened:
//
//	config delay=1s barrier=3ms min=6s max=30m size=2 retention=1m interval=1s   a new core with these limits
//	join A [v= member= instance= type= protocols=name:metadata,... session= rebalance= reason=]
//	sync A [v= generation= member= instance= assign=A:x,B:y type= protocol=]
//	heartbeat A [v= generation= member= instance=]
//	leave A B... [v= reason=]      or leave member= instance=
//	commit A t-0=5 u-1=7 [v= generation= member= instance= metadata= epoch= retention=]   A may be - for nobody
//	fetch t-0 t-1                  or fetch * for all
//	delete-offsets t-0 | delete-groups g h | topics-deleted t u
//	describe g [v= operations=true] | list [v= states=a,b types=a,b]
//	advance 3s                     tick at every deadline until then
//	crash                          drop the core and replay its records
//	state                          what the core holds
//	stable A B...                  join and sync all of them, A first; prints only the state
//
// Every command takes group=, which is g otherwise. A command after "quietly" prints only ok.
func (r *runner) run(line string) string {
	if rest, ok := strings.CutPrefix(line, "quietly "); ok {
		r.run(rest)
		return "ok\n"
	}
	a := parseArguments(line)
	switch a.verb {
	case "config":
		r.configure(a)
		return "ok\n"
	case "advance":
		return r.advance(a.words[0])
	case "crash":
		return r.crash()
	case "state":
		return r.state(a.str("group", "g"))
	case "stable":
		return r.stable(a)
	case "topics-deleted":
		r.token++
		r.senders[r.token] = "topics-deleted"
		return r.show(r.core.Step(r.now, &TopicsDeleted{Token: r.token, Topics: a.words}), "")
	}
	return r.send(a, r.request(a))
}

func (r *runner) send(a arguments, body kmsg.Request) string {
	who := "admin"
	if c := r.sender(a); c != nil {
		who = c.name
	}
	r.token++
	r.senders[r.token] = who
	ev := &Request{Token: r.token, Client: Client{ID: a.str("client", "c"), Host: a.str("host", "/127.0.0.1")}, Body: body}
	return r.show(r.core.Step(r.now, ev), "")
}

func (r *runner) configure(a arguments) {
	c := &r.config
	c.InitialRebalanceDelay = a.duration("delay", c.InitialRebalanceDelay)
	c.FirstBarrier = a.duration("barrier", c.FirstBarrier)
	c.MinSessionTimeout = a.duration("min", c.MinSessionTimeout)
	c.MaxSessionTimeout = a.duration("max", c.MaxSessionTimeout)
	c.MaxGroupSize = a.num("size", c.MaxGroupSize)
	c.OffsetsRetention = a.duration("retention", c.OffsetsRetention)
	c.RetentionCheckInterval = a.duration("interval", c.RetentionCheckInterval)
	r.restart()
}

func (r *runner) advance(by string) string {
	d, err := time.ParseDuration(by)
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	until := r.now.Add(d)
	for {
		next, ok := r.core.NextDeadline()
		if !ok || next.After(until) {
			break
		}
		if next.After(r.now) {
			r.now = next
		}
		out.WriteString(r.show(r.core.Tick(r.now), fmt.Sprintf("%v: ", r.now.Sub(r.start))))
		if after, ok := r.core.NextDeadline(); ok && !after.After(r.now) {
			r.t.Fatalf("after Tick(%v) the next deadline is %v", r.now, after)
		}
	}
	r.now = until
	return out.String()
}

func (r *runner) crash() string {
	before := r.core.Digest()
	lost := r.core.Parked()
	for _, token := range lost {
		r.answered[token] = true // by the shell, with NOT_COORDINATOR
	}
	r.restart()
	if after := r.core.Digest(); after != before {
		r.t.Errorf("digest %x before the crash, %x after the replay", before, after)
	}
	return fmt.Sprintf("%d records replayed, %d parked requests lost\n", len(r.log), len(lost))
}

// stable brings clients into one generation.
func (r *runner) stable(a arguments) string {
	keys := ""
	for k, v := range a.values {
		keys += " " + k + "=" + v
	}
	for _, name := range a.words {
		r.run("join " + name + keys)
		if c := r.clients[name]; c.instance == nil && a.num("v", 9) >= 4 {
			r.run("join " + name + keys)
		}
	}
	r.advance("100ms")
	for range 3 {
		for _, name := range a.words {
			c := r.clients[name]
			if r.core.groups[a.str("group", "g")].state == PreparingRebalance && !r.core.groups[a.str("group", "g")].member(c.memberID).join.waits {
				r.run("join " + name + keys)
			}
		}
	}
	assign := ""
	leader := ""
	for _, name := range a.words {
		assign += "," + name + ":for-" + name
		if r.clients[name].leads {
			leader = name
		}
	}
	for _, name := range a.words {
		if name != leader {
			r.run("sync " + name + " group=" + a.str("group", "g") + " type=" + a.str("type", "consumer"))
		}
	}
	r.run("sync " + leader + " group=" + a.str("group", "g") + " type=" + a.str("type", "consumer") + " assign=" + assign[1:])
	return r.state(a.str("group", "g"))
}
