package kafkatools

import (
	"encoding/base64"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kohort/kohort/integration/clients/harness"
	"github.com/kohort/kohort/integration/clients/kafkatools/jvm"
)

// topics: a topic's life with kafka-topics, and kafka-broker-api-versions.
func topics(t *harness.T, folder *jvm.Folder) {
	b := harness.Serve(t)
	k, admin := open(t, folder, b), b.Admin(t)

	k.run(topicsTool, "--create", "--topic", "orders", "--partitions", "3", "--config", "retention.ms=1234567")
	detail := topic(t, b, "orders")
	if len(detail.Partitions) != 3 {
		t.Errorf("kafka-topics made 3 partitions, the broker has %d", len(detail.Partitions))
	}
	if v := config(t, admin, "orders", "retention.ms"); v != "1234567" {
		t.Errorf("created with retention.ms=1234567, the broker says %q", v)
	}
	k.try("Topic 'orders' already exists", topicsTool, "--create", "--topic", "orders", "--partitions", "3")
	k.run(topicsTool, "--create", "--topic", "orders", "--if-not-exists")
	k.try("Unable to replicate the partition 2 time(s)", topicsTool, "--create", "--topic", "wide", "--replication-factor", "2")
	if out := k.run(topicsTool, "--list"); out != "orders\n" {
		t.Errorf("kafka-topics --list prints %q", out)
	}

	described := k.run(topicsTool, "--describe", "--topic", "orders")
	for _, want := range []string{
		"TopicId: " + base64.RawURLEncoding.EncodeToString(detail.ID[:]) + "\t", "PartitionCount: 3\t", "ReplicationFactor: 1\t", "Configs: retention.ms=1234567\n",
		"Topic: orders\tPartition: 2\tLeader: 1\tReplicas: 1\tIsr: 1",
	} {
		if !strings.Contains(described, want) {
			t.Errorf("kafka-topics --describe: want %q in\n%s", want, described)
		}
	}
	if out := k.run(topicsTool, "--describe", "--under-replicated-partitions"); out != "" {
		t.Errorf("under-replicated: %s", out)
	}

	k.run(topicsTool, "--alter", "--topic", "orders", "--partitions", "5")
	if n := len(topic(t, b, "orders").Partitions); n != 5 {
		t.Errorf("altered to 5 partitions, the broker has %d", n)
	}
	k.try("2 would not be an increase", topicsTool, "--alter", "--topic", "orders", "--partitions", "2")

	versions(t, k, admin)

	k.run(topicsTool, "--delete", "--topic", "orders")
	if listed, err := admin.ListTopics(harness.Limited(t)); err != nil || len(listed) != 0 {
		t.Errorf("after --delete the broker has topics %v (%v)", listed.Names(), err)
	}
	k.try("Topic 'orders' does not exist as expected", topicsTool, "--delete", "--topic", "orders")
}

// versions holds what kafka-broker-api-versions prints against what the broker tells franz-go.
func versions(t *harness.T, k *tools, admin *kadm.Client) {
	t.Helper()
	told, err := admin.ApiVersions(harness.Limited(t))
	if err != nil {
		t.Fatal(err)
	}
	broker, out := told[1], k.run(versionsTool)
	for name, key := range map[string]int16{"Produce": 0, "Fetch": 1, "JoinGroup": 11, "OffsetFetch": 9, "DescribeTopicPartitions": 75} {
		low, high, known := broker.KeyVersions(key)
		want := name + "(" + itoa(key) + "): " + itoa(low) + " to " + itoa(high) + " [usable: "
		if low == high {
			want = name + "(" + itoa(key) + "): " + itoa(low) + " [usable: "
		}
		if !known || !strings.Contains(out, want) {
			t.Errorf("kafka-broker-api-versions: want %q in\n%s", want, out)
		}
	}
}

// topic is what the broker tells of a topic, asked by a client that remembers nothing.
func topic(t *harness.T, b *harness.Broker, name string) kadm.TopicDetail {
	t.Helper()
	listed, err := b.Admin(t).ListTopics(harness.Limited(t), name)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		t.Fatalf("topic %s: %v", name, err)
	}
	return listed[name]
}

// config is what the broker tells of a topic's setting.
func config(t *harness.T, admin *kadm.Client, topic, name string) string {
	t.Helper()
	all, err := admin.DescribeTopicConfigs(harness.Limited(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all[0].Configs {
		if c.Key == name {
			return c.MaybeValue()
		}
	}
	return "(absent)"
}
