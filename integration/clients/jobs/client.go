package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kohort/kohort/integration/clients/harness"
)

// Client is one variant of a client, as its client.json describes it.
type Client struct {
	Name       string            `json:"name"`
	Version    string            `json:"version"`
	Env        map[string]string `json:"env"`
	Codecs     []string          `json:"codecs"`
	Strategies []string          `json:"strategies"`
	Resets     []string          `json:"resets"`
	NoneError  string            `json:"none_error"` // regular expression
	Commands   []string          `json:"commands"`
	Auto       bool              `json:"auto"`
	Static     bool              `json:"static"`
	Lag        bool              `json:"lag"`
	Admin      []string          `json:"admin"`
	// Transactions and ConsumerProtocol say what happens to those who ask for what is not served: regular expressions for
	// the client's error. "falls back": the client says nothing and does it the classic way.
	Transactions     string `json:"transactions"`
	ConsumerProtocol string `json:"consumer_protocol"`
	// OutOfRange is where the client goes on when the records at its commit were deleted, if not where its reset says.
	OutOfRange string `json:"out_of_range"`
	// Drops is how many records a member may lose when it ends or is killed, because it commits before it hands them out.
	Drops int64 `json:"drops"`
	// Zombie is "commits again" for a client that, when its commit is refused, joins and sends it once more by itself.
	Zombie string   `json:"zombie"`
	Quirks []string `json:"quirks"`

	dir string
}

// Can tells whether the client takes a command in a group.
func (c *Client) Can(command string) bool { return slices.Contains(c.Commands, command) }

// Clients reads every client.json below a directory, in the order of the names of their folders.
func Clients(dir string) (all []*Client, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "client.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var described struct {
			Variants []*Client `json:"variants"`
		}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&described); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, c := range described.Variants {
			if c.dir, err = filepath.Abs(filepath.Dir(file)); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// env is what install and run of this variant see.
func (c *Client) env() []string {
	env := harness.CleanEnv()
	for name, value := range c.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// Dir is the client's folder.
func (c *Client) Dir() string { return c.dir }
