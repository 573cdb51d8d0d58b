package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupsCommand is `kohort groups`.
type groupsCommand struct {
	List          groupsListCommand          `cmd:"" help:"List the groups."`
	Describe      groupsDescribeCommand      `cmd:"" help:"Show a group's offsets and lag, partition by partition."`
	Members       groupsMembersCommand       `cmd:"" help:"Show a group's members and what each owns."`
	ResetOffsets  groupsResetCommand         `cmd:"" help:"Move a group's committed offsets. Shows the plan; --execute does it."`
	Delete        groupsDeleteCommand        `cmd:"" help:"Delete groups that have no members."`
	DeleteOffsets groupsDeleteOffsetsCommand `cmd:"" help:"Delete a group's committed offsets of some topics."`
}

// groupsListCommand is `kohort groups list`.
type groupsListCommand struct {
	clientFlags
	State []string `placeholder:"STATE" help:"Only groups in this state (Stable, Empty ...). May be repeated."`
}

// listedGroup is a line of `kohort groups list`.
type listedGroup struct {
	Group        string `json:"group"`
	State        string `json:"state"`
	Type         string `json:"type"`
	ProtocolType string `json:"protocolType"`
	Coordinator  int32  `json:"coordinator"`
}

// Run lists the groups.
func (c *groupsListCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	list := []listedGroup{}
	s.during("listing groups", func() {
		ctx, cancel := s.request()
		defer cancel()
		groups, listErr := s.admin.ListGroups(ctx, c.State...)
		if err = listErr; err != nil {
			err = s.asked("list groups", kmsg.ListGroups, err)
		}
		for _, g := range groups.Sorted() {
			list = append(list, listedGroup{g.Group, g.State, g.GroupType, g.ProtocolType, g.Coordinator})
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b listedGroup) int { return cmp.Compare(a.Group, b.Group) })
	if len(list) == 0 && !s.json {
		which := "groups"
		if len(c.State) > 0 {
			which = "groups that are " + strings.Join(c.State, " or ")
		}
		fmt.Fprintf(w.stderr, "kohort: there are no %s at %s\n", which, s.addr)
		return nil
	}
	t := newTable("GROUP", "STATE", "TYPE", "PROTOCOL", "COORDINATOR")
	for _, g := range list {
		t.add(g.Group, or(g.State), or(g.Type), or(g.ProtocolType), strconv.Itoa(int(g.Coordinator)))
	}
	return s.show(list, t)
}

// groupsDescribeCommand is `kohort groups describe`.
type groupsDescribeCommand struct {
	clientFlags
	Groups []string `arg:"" name:"group" help:"Groups to describe."`
}

// Run shows where a group is.
func (c *groupsDescribeCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	views := make([]*lagView, len(c.Groups))
	for i, name := range c.Groups {
		s.during("describing group "+name, func() {
			var g *group
			if g, err = s.existing(name); err == nil {
				views[i], err = s.lagOf(g)
			}
		})
		if err != nil {
			return err
		}
	}
	if s.json {
		return w.printJSON(views)
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(w.stdout)
		}
		fmt.Fprintf(w.stdout, "group %s   %s   %s   %s   %s   lag %s\n", v.Name, v.State, or(v.Type), or(v.Protocol),
			count(len(v.Members), "member"), number(v.total()))
		if len(v.Partitions) == 0 {
			fmt.Fprintln(w.stdout, "no offset is committed, and no partition assigned")
			continue
		}
		if err := v.table(false).write(w.stdout, w.width()); err != nil {
			return err
		}
	}
	return nil
}

// count returns a number with its noun.
func count[N int | int32 | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "ry"); ok {
		return strconv.FormatInt(int64(n), 10) + " " + stem + "ries"
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun + "s"
}

// groupsMembersCommand is `kohort groups members`.
type groupsMembersCommand struct {
	clientFlags
	Group string `arg:"" help:"Group to look into."`
}

// Run shows who is in a group.
func (c *groupsMembersCommand) Run(w *world) error {
	s, err := c.open(w)
	if err != nil {
		return err
	}
	defer s.close()
	var g *group
	s.during("describing group "+c.Group, func() { g, err = s.existing(c.Group) })
	if err != nil {
		return err
	}
	if len(g.Members) == 0 && !s.json {
		fmt.Fprintf(w.stderr, "kohort: group %q has no members; it is %s\n", g.Name, g.State)
		return nil
	}
	t := newTable("MEMBER", "INSTANCE", "CLIENT", "HOST", "PARTITIONS")
	for i := range g.Members {
		m := &g.Members[i]
		instance := absent
		if m.InstanceID != nil {
			instance = *m.InstanceID
		}
		owns := make([]string, len(m.Assigned))
		for j, a := range m.Assigned {
			owns[j] = a.String()
		}
		t.add(m.ID, instance, or(m.ClientID), or(m.Host), or(strings.Join(owns, " ")))
	}
	return s.show(g, t)
}
