package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCommand is `kohort version`.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(w *world) error {
	_, err := fmt.Fprintf(w.stdout, "kohort %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the module's version, or "devel" with the commit for a build out of a work tree.
func version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok || build.Main.Version == "" || build.Main.Version == "(devel)" {
		return "devel"
	}
	return build.Main.Version
}
