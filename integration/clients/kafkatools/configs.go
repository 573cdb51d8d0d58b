package kafkatools

import (
	"strconv"
	"strings"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

func itoa[N int16 | int32 | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// configs: settings of topics, groups and brokers with kafka-configs.
func configs(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	k, admin := open(t, folder, b), b.Admin(t)
	harness.CreateTopic(t, admin, "orders", 1)

	k.run(configsTool, "--alter", "--topic", "orders", "--add-config", "retention.ms=77777,cleanup.policy=[compact,delete]")
	if v := config(t, admin, "orders", "retention.ms"); v != "77777" {
		t.Errorf("retention.ms=77777 was set, the broker says %q", v)
	}
	if v := config(t, admin, "orders", "cleanup.policy"); v != "compact,delete" {
		t.Errorf("cleanup.policy=[compact,delete] was set, the broker says %q", v)
	}
	contains(t, k.run(configsTool, "--describe", "--topic", "orders"),
		"  retention.ms=77777 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=77777")

	k.run(configsTool, "--alter", "--topic", "orders", "--delete-config", "cleanup.policy")
	if v := config(t, admin, "orders", "cleanup.policy"); v != "delete" {
		t.Errorf("cleanup.policy was reset to its default, the broker says %q", v)
	}
	contains(t, k.run(configsTool, "--describe", "--topic", "orders", "--all"),
		"  cleanup.policy=delete sensitive=false synonyms={DEFAULT_CONFIG:log.cleanup.policy=delete}", "  retention.ms=77777 ")

	k.try("Invalid value x for configuration retention.ms", configsTool, "--alter", "--topic", "orders", "--add-config", "retention.ms=x")
	if v := config(t, admin, "orders", "retention.ms"); v != "77777" {
		t.Errorf("after a refused change the broker says retention.ms=%q", v)
	}

	contains(t, k.run(configsTool, "--describe", "--broker", "1", "--all"),
		"  group.initial.rebalance.delay.ms=0 sensitive=false synonyms={STATIC_BROKER_CONFIG:group.initial.rebalance.delay.ms=0, "+
			"DEFAULT_CONFIG:group.initial.rebalance.delay.ms=3000}",
		"  offsets.topic.num.partitions=50 ")
	k.try("cannot be changed on a running broker", configsTool, "--alter", "--broker", "1", "--add-config", "log.retention.ms=1000")
}

func contains(t *harness.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}
