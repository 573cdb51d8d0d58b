package kafkatools

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// groups: kafka-consumer-groups and kafka-groups while a VerifiableConsumer is in the group, and after it.
func groups(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	k, admin := open(t, folder, b), b.Admin(t)
	harness.CreateTopic(t, admin, "orders", 2)
	stamp := time.Now().Add(-time.Hour).Truncate(time.Second)
	harness.Produce(t, b.Client(t), "orders", 2, 0, 20, stamp)

	member := folder.Start(t, verifiableC, "--bootstrap-server", b.Addr, "--topic", "orders", "--group-id", "shop",
		"--reset-policy", "earliest", "--group-protocol", "classic")
	harness.AwaitGroup(t, admin, "shop", "Stable", 1)
	awaitCommitted(t, admin, map[int32]int64{0: 10, 1: 10})

	live(t, k, admin)

	member.Signal(t, syscall.SIGTERM)
	if code := member.Code(t, harness.Patience); code != 0 && code != 143 { // 128 + SIGTERM
		t.Errorf("VerifiableConsumer ended with exit code %d\n%s", code, member.Stderr.Text())
	}
	harness.AwaitGroup(t, admin, "shop", "Empty", 0)

	resets(t, k, admin, stamp)
	deletes(t, k, admin)
}

// live: what the tools say of, and refuse to do to, a group with a member.
func live(t *harness.T, k *tools, admin *kadm.Client) {
	t.Helper()
	m := harness.Describe(t, admin, "shop").Members[0]

	equal(t, "--list", k.run(groupTool, "--list"), "shop\n")
	equal(t, "--list --state", fmt.Sprint(rows(k.run(groupTool, "--list", "--state"))), "[[shop Stable]]")
	equal(t, "--list --state empty", len(rows(k.run(groupTool, "--list", "--state", "empty"))), 0)
	equal(t, "--list --type", fmt.Sprint(rows(k.run(groupTool, "--list", "--type"))), "[[shop Classic]]")
	equal(t, "kafka-groups", fmt.Sprint(rows(k.run(groupsTool, "--list"))), "[[shop Classic consumer]]")

	described := rows(k.run(groupTool, "--describe", "--group", "shop"))
	slices.SortFunc(described, func(a, b []string) int { return strings.Compare(a[2], b[2]) })
	equal(t, "--describe", fmt.Sprint(described), fmt.Sprintf("[[shop orders 0 10 10 0 %s %s %s] [shop orders 1 10 10 0 %[1]s %s %s]]",
		m.MemberID, m.ClientHost, m.ClientID))
	verbose := rows(k.run(groupTool, "--describe", "--group", "shop", "--members", "--verbose"))
	if len(verbose) != 1 || fmt.Sprint(verbose[0][:5]) != fmt.Sprint([]string{"shop", m.MemberID, m.ClientHost, m.ClientID, "2"}) ||
		!strings.Contains(fmt.Sprint(verbose[0][5:]), "orders:0,1") {
		t.Errorf("--members --verbose: %v", verbose)
	}
	equal(t, "--state", fmt.Sprint(rows(k.run(groupTool, "--describe", "--group", "shop", "--state"))),
		fmt.Sprintf("[[shop %s (1) range Stable 1]]", k.broker))

	k.try("only be reset if the group 'shop' is inactive, but the current state is Stable", groupTool, "--group", "shop", "--topic", "orders",
		"--reset-offsets", "--to-earliest", "--execute")
	k.try("while the consumer group is actively subscribed to it", groupTool, "--group", "shop", "--topic", "orders", "--delete-offsets")
	k.try("The group is not empty", groupTool, "--group", "shop", "--delete")
	committed(t, admin, "after what was refused", map[int32]int64{0: 10, 1: 10})
	equal(t, "members after what was refused", len(harness.Describe(t, admin, "shop").Members), 1)
}

// resets: every way to move a group's offsets; the broker has to hold what was asked for.
func resets(t *harness.T, k *tools, admin *kadm.Client, stamp time.Time) {
	t.Helper()
	reset := func(args ...string) []string {
		return append([]string{"--group", "shop", "--reset-offsets"}, args...)
	}
	equal(t, "the plan", len(rows(k.run(groupTool, reset("--topic", "orders", "--to-earliest", "--dry-run")...))), 2)
	committed(t, admin, "after a dry run", map[int32]int64{0: 10, 1: 10})

	file := filepath.Join(t.TempDir(), "offsets.csv")
	if err := os.WriteFile(file, []byte("orders,0,2\norders,1,9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(n int) string {
		return stamp.Add(time.Duration(n) * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, step := range []struct {
		args []string
		want map[int32]int64
	}{
		{[]string{"--topic", "orders", "--to-earliest"}, map[int32]int64{0: 0, 1: 0}},
		{[]string{"--topic", "orders:1", "--to-offset", "6"}, map[int32]int64{0: 0, 1: 6}},
		{[]string{"--all-topics", "--shift-by", "3"}, map[int32]int64{0: 3, 1: 9}},
		{[]string{"--all-topics", "--shift-by", "-5"}, map[int32]int64{0: 0, 1: 4}}, // 0 is as far back as it goes
		{[]string{"--topic", "orders", "--to-datetime", at(7)}, map[int32]int64{0: 4, 1: 3}},
		{[]string{"--topic", "orders", "--to-datetime", at(1000)}, map[int32]int64{0: 10, 1: 10}}, // nothing is so new: the end
		{[]string{"--topic", "orders", "--by-duration", "PT2H"}, map[int32]int64{0: 0, 1: 0}},
		{[]string{"--topic", "orders", "--to-latest"}, map[int32]int64{0: 10, 1: 10}},
		{[]string{"--from-file", file}, map[int32]int64{0: 2, 1: 9}},
		{[]string{"--topic", "orders", "--to-current"}, map[int32]int64{0: 2, 1: 9}},
	} {
		k.run(groupTool, append(reset(step.args...), "--execute")...)
		committed(t, admin, strings.Join(step.args, " "), step.want)
	}
	equal(t, "--export", k.run(groupTool, reset("--topic", "orders:0", "--to-offset", "5", "--export", "--dry-run")...), "orders,0,5\n\n")
}

// deletes: offsets, then the group.
func deletes(t *harness.T, k *tools, admin *kadm.Client) {
	t.Helper()
	contains(t, k.run(groupTool, "--group", "shop", "--topic", "orders:0", "--delete-offsets"), "Request succeeded")
	committed(t, admin, "after --delete-offsets of partition 0", map[int32]int64{1: 9})

	contains(t, k.run(groupTool, "--group", "shop", "--delete"), "Deletion of requested consumer groups ('shop') was successful.")
	listed, err := admin.ListGroups(harness.Limited(t))
	if err != nil || len(listed) != 0 {
		t.Errorf("after --delete the broker has groups %v (%v)", listed.Groups(), err)
	}
	k.try("GroupIdNotFoundException", groupTool, "--group", "shop", "--delete")
	k.try("Group shop not found", groupTool, "--group", "shop", "--describe")

	k.run(groupTool, "--group", "fresh", "--topic", "orders", "--reset-offsets", "--to-offset", "4", "--execute")
	if got := harness.Committed(t, admin, "fresh", "orders"); got[0] != 4 || got[1] != 4 {
		t.Errorf("a group that was not there was reset to 4, the broker has %v", got)
	}
}

// committed fails the test if the group has not exactly these offsets.
func committed(t *harness.T, admin *kadm.Client, when string, want map[int32]int64) {
	t.Helper()
	if got := harness.Committed(t, admin, "shop", "orders"); !maps.Equal(got, want) {
		t.Errorf("committed offsets %s: the broker has %v, want %v", when, got, want)
	}
}

func awaitCommitted(t *harness.T, admin *kadm.Client, want map[int32]int64) {
	t.Helper()
	harness.Until(t, fmt.Sprintf("group shop has committed %v", want), func() bool {
		return maps.Equal(harness.Committed(t, admin, "shop", "orders"), want)
	})
}
