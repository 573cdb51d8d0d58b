// Package matrix writes docs/clients.md: which client does which job, and in which versions of the apis.
//
// It may not run anything: it is given the results.
package matrix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Result is how a job went.
type Result string

// The results. Absent is a client that lacks what the job needs, by its own documentation.
const (
	Passed Result = "✓"
	Failed Result = "✗"
	Absent Result = "–"
)

// Row is a client with its results by job.
type Row struct {
	Client, Version string
	Results         map[string]Result
	Spoken          map[string][]int16 // versions by api
	Quirks          []string
}

// Report is all of docs/clients.md.
type Report struct {
	Jobs      [][2]string // of consumer clients: names and stories
	Clients   []Row
	Platforms []Row // whose jobs are their own
}

const head = `# Clients

What real clients do against Kohort, unmodified, each job with a broker of its own that is a process of its own, and checked
at the broker as well as in what the client says. They have their defaults but for what a job is about, a session timeout of 6 s
and a heartbeat every 0.5 s; where a client needs another setting, that stands below. This page is written by ` + "`make clients`" + `, which installs
the clients at these versions, runs everything in a few minutes, and fails if anything here is not ✓ or –.
How a client is driven, and how to run one of them alone: [integration/clients](../integration/clients/README.md).

✓ passed   ✗ failed   – the client has no such thing

`

// Markdown is the page.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("## Consumer clients\n\n")
	names := make([]string, len(r.Jobs))
	for i, j := range r.Jobs {
		names[i] = j[0]
	}
	b.WriteString("| client | version | " + strings.Join(names, " | ") + " |\n|---|---|" + strings.Repeat(":-:|", len(names)) + "\n")
	for _, c := range r.Clients {
		fmt.Fprintf(&b, "| %s | %s |", c.Client, c.Version)
		for _, name := range names {
			fmt.Fprintf(&b, " %s |", cmp.Or(c.Results[name], Failed))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nThe jobs:\n\n")
	for _, j := range r.Jobs {
		fmt.Fprintf(&b, "- **%s**: %s.\n", j[0], j[1])
	}
	b.WriteString("\n## Tools, platforms and fixtures\n\n| what | version | job | |\n|---|---|---|:-:|\n")
	for _, p := range r.Platforms {
		for _, job := range slices.Sorted(maps.Keys(p.Results)) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Client, p.Version, job, p.Results[job])
		}
	}
	r.spoken(&b)
	b.WriteString("\n## Worth knowing\n\n")
	for _, c := range slices.Concat(r.Clients, r.Platforms) {
		for _, q := range c.Quirks {
			fmt.Fprintf(&b, "- **%s**: %s\n", c.Client, q)
		}
	}
	return b.String()
}

// spoken is the table of apis: a line for each that anybody called.
func (r *Report) spoken(b *strings.Builder) {
	all := slices.Concat(r.Clients, r.Platforms)
	all = slices.DeleteFunc(all, func(c Row) bool { return len(c.Spoken) == 0 })
	apis := map[string]bool{}
	for _, c := range all {
		for api := range c.Spoken {
			apis[api] = true
		}
	}
	b.WriteString("\n## Versions\n\nThe versions of each API that the clients chose in these jobs, as the broker's log tells (`--log-level trace`).\n\n| api |")
	for _, c := range all {
		fmt.Fprintf(b, " %s |", c.Client)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(all)) + "\n")
	for _, api := range slices.Sorted(maps.Keys(apis)) {
		fmt.Fprintf(b, "| %s |", api)
		for _, c := range all {
			fmt.Fprintf(b, " %s |", list(c.Spoken[api]))
		}
		b.WriteByte('\n')
	}
}

func list(versions []int16) string {
	var s []string
	for _, v := range versions {
		s = append(s, fmt.Sprint(v))
	}
	return strings.Join(s, ", ")
}

// Green tells whether nothing failed, and nothing that must run is missing.
func (r *Report) Green() bool {
	for _, c := range r.Clients {
		for _, j := range r.Jobs {
			if res := c.Results[j[0]]; res != Passed && res != Absent {
				return false
			}
		}
	}
	for _, p := range r.Platforms {
		for _, res := range p.Results {
			if res != Passed {
				return false
			}
		}
	}
	return len(r.Clients) > 0
}
