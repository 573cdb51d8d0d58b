package jobs

import (
	"slices"
	"testing"
)

// job is one thing that every client does which has what it needs.
type job struct {
	name  string
	story string // for docs/clients.md
	has   func(*Client) bool
	run   func(*testing.T, *Client)
}

// table is all jobs, in the order of docs/clients.md.
var table = []job{
	{"produce", "produces with every codec it has; the log holds that codec, and every record where it belongs", func(c *Client) bool { return len(c.Codecs) > 0 }, produceCodecs},
	{"earliest", "a new group reads everything from the start, commits, and its successor goes on exactly there", always, earliest},
	{"latest", "a new group reads what comes after it, and nothing before", resets("latest"), latest},
	{"eager", "two members share six partitions, a third joins, one leaves, one is killed; nothing is lost, and what is read twice was not committed", strategy("eager"), func(t *testing.T, c *Client) { members(t, c, "eager") }},
	{"cooperative", "the same, incrementally: who keeps a partition never loses it", strategy("cooperative"), func(t *testing.T, c *Client) { members(t, c, "cooperative") }},
	{"static", "a static member is killed and comes back within its session: same partitions, same generation", func(c *Client) bool { return c.Static }, static},
	{"manual commit", "commits when told to; killed after reading on, its successor starts at the commit", can("commit"), commitManual},
	{"auto commit", "commits by itself, at intervals and when it closes", func(c *Client) bool { return c.Auto }, commitAuto},
	{"broker killed", "kill -9 of the broker in the middle: the member goes on, no acknowledged commit and no record is lost, generations never go back", always, brokerKilled},
	{"seek", "seeks to an offset and to a time", func(c *Client) bool { return c.Can("seek") || c.Can("seek_time") }, seek},
	{"reset earliest", "auto.offset.reset without a commit, after the records at the commit were deleted, after the offsets expired", resets("earliest"), resetEarliest},
	{"reset latest", "the same three, with latest", resets("latest"), resetLatest},
	{"reset none", "the same three, with none: an error that names the reason", resets("none"), resetNone},
	{"reset by_duration", "reads what is younger than the duration (KIP-1106)", resets("by_duration"), resetByDuration},
	{"zombie", "a member is stopped beyond its session: another takes over, and when it wakes its commit is refused and changes nothing", func(c *Client) bool { return c.Can("hold") && c.Can("commit") }, zombie},
	{"lag", "the lag by the client's own calls is the broker's", func(c *Client) bool { return c.Lag }, lag},
	{"admin", "every admin call that it has, each checked at the broker", func(c *Client) bool { return len(c.Admin) > 0 }, admin},
	{"not served", "asking for transactions or group.protocol=consumer fails at once with a clear message, or falls back", func(c *Client) bool { return c.Transactions != "" || c.ConsumerProtocol != "" }, notServed},
}

func always(*Client) bool { return true }

func resets(policy string) func(*Client) bool {
	return func(c *Client) bool { return slices.Contains(c.Resets, policy) }
}

func strategy(name string) func(*Client) bool {
	return func(c *Client) bool { return slices.Contains(c.Strategies, name) }
}

func can(command string) func(*Client) bool {
	return func(c *Client) bool { return c.Can(command) }
}

// Names are the jobs' names with what each is, in order.
func Names() (names [][2]string) {
	for _, j := range table {
		names = append(names, [2]string{j.name, j.story})
	}
	return names
}

// Has tells whether the client has what a job needs.
func Has(c *Client, name string) bool {
	return table[index(name)].has(c)
}

// Run runs the job of a name.
func Run(t *testing.T, c *Client, name string) { table[index(name)].run(t, c) }

func index(name string) int {
	return slices.IndexFunc(table, func(j job) bool { return j.name == name })
}
