package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// installTime bounds one client's installation, from empty caches.
const installTime = 8 * time.Minute

// Install installs what the worker needs. It does nothing where that is done already.
func (c *Client) Install(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.dir, "install"))
	cmd.Env, cmd.Dir = c.env(), c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("installing %s: %w\n%s", c.Name, err, out)
	}
	return c.checkVersion(ctx)
}

// checkVersion compares what the installed library says of itself with client.json.
func (c *Client) checkVersion(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.dir, "run"), "version")
	cmd.Env = c.env()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: run version: %w", c.Name, err)
	}
	var said event
	if err := json.Unmarshal(out, &said); err != nil || said.Version != c.Version {
		return fmt.Errorf("%s is version %q by its own word (%s), and %q in client.json", c.Name, said.Version, out, c.Version)
	}
	return nil
}
