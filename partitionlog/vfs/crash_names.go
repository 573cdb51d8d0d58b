package vfs

import (
	"path/filepath"
	"slices"
)

// namespace is all names of a CrashFS, as cleaned paths. "/" and "." are always there.
type namespace map[string]*inode

func newNamespace() namespace {
	return namespace{"/": {dir: true}, ".": {dir: true}}
}

func (s namespace) clone() namespace {
	c := make(namespace, len(s))
	for name, n := range s {
		c[name] = n
	}
	return c
}

func (s namespace) isDir(name string) bool {
	n := s[name]
	return n != nil && n.dir
}

func (s namespace) sorted() []string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// children returns base names, sorted.
func (s namespace) children(dir string) []string {
	children := []string{}
	for _, name := range s.sorted() {
		if filepath.Dir(name) == dir && name != dir {
			children = append(children, filepath.Base(name))
		}
	}
	slices.Sort(children)
	return children
}

// dropOrphans drops what lies in directories that are not there.
func (s namespace) dropOrphans() {
	for _, name := range s.sorted() { // parents first
		if !s.isDir(filepath.Dir(name)) {
			delete(s, name)
		}
	}
}

// The kinds of changes of names.
const (
	nameLink = iota
	nameUnlink
	nameRename
)

// nameOp is a change of names that can be made again on another namespace.
type nameOp struct {
	kind     int
	name, to string
	node     *inode
}

// dir is the directory whose sync makes the change durable.
func (op nameOp) dir() string {
	if op.kind == nameRename {
		return filepath.Dir(op.to)
	}
	return filepath.Dir(op.name)
}

// apply makes the change where it still makes sense: after a crash an earlier one may be missing.
func (op nameOp) apply(s namespace) {
	switch op.kind {
	case nameLink:
		s[op.name] = op.node
	case nameUnlink:
		delete(s, op.name)
	case nameRename:
		if s[op.name] != op.node {
			return
		}
		if op.node.dir {
			renameUnder(s, op.name, op.to)
			return
		}
		delete(s, op.name)
		s[op.to] = op.node
	}
}
