package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/kohort/kohort/broker/settings"
)

// configCommand is `kohort config`.
type configCommand struct {
	Serve configServeCommand `cmd:"" default:"withargs" help:"As kohort serve would have them (if neither is named)."`
	Dev   configDevCommand   `cmd:"" help:"As kohort dev would have them."`
}

type configServeCommand struct {
	settingFlags
	Data string `placeholder:"DIR" help:"Data directory."`
}

type configDevCommand struct {
	settingFlags
}

// Run prints the settings of `kohort serve`.
func (c *configServeCommand) Run(w *world) error { return c.print(w, settings.Serve, c.Data) }

// Run prints the settings of `kohort dev`.
func (c *configDevCommand) Run(w *world) error { return c.print(w, settings.Dev, "") }

// print writes a line for each setting: name, value, where it came from. Warnings go to standard error.
func (f *settingFlags) print(w *world, profile settings.Profile, dataDir string) error {
	sources, err := f.sources(w, dataDir)
	if err != nil {
		return err
	}
	s, warnings, err := settings.Load(profile, sources...)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		fmt.Fprintf(w.stderr, "kohort: %s\n", warning)
	}
	table := tabwriter.NewWriter(w.stdout, 0, 8, 2, ' ', 0)
	for _, e := range s.Effective() {
		value := e.Value
		if e.Null {
			value = "(not set)"
		}
		note := ""
		if e.Fixed && e.Explicit {
			note = ", without effect"
		}
		fmt.Fprintf(table, "%s\t%s\t%s%s\n", e.Name, value, e.Source, note)
	}
	return table.Flush()
}
