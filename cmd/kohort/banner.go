package main

import (
	"fmt"
	"net"
	"strings"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/settings"
)

// banner says what was started, where it is, how it differs from production, and how to try it.
func banner(s *settings.Settings, config *broker.Config, addr string) string {
	var b strings.Builder
	to := clientAddr(addr)
	if s.Profile == settings.Serve {
		fmt.Fprintf(&b, "kohort serve %s   data in %s\n", version(), config.DataDir)
	} else {
		fmt.Fprintf(&b, "kohort dev %s   in memory: everything is lost on exit   (kohort serve --data DIR keeps it)\n", version())
	}
	fmt.Fprintf(&b, "  Kafka   %s\n", addr)
	if config.NoSync {
		b.WriteString("  --fsync=off: a power cut loses what was acknowledged last, as in Kafka\n")
	}
	if s.Profile == settings.Serve {
		b.WriteString("Stop it with Ctrl-C.\n")
		return b.String()
	}
	b.WriteString("  Not as in production:\n")
	for _, difference := range differences(s) {
		b.WriteString("    " + difference + "\n")
	}
	fmt.Fprintf(&b, `Try it:
  kohort  seq 10 | kohort produce -b %[1]s demo;  kohort consume -b %[1]s --group group0 demo
  kcat    seq 10 | kcat -P -b %[1]s -t demo;  kcat -b %[1]s -G group1 -X auto.offset.reset=earliest demo
  Python  from confluent_kafka import Consumer   # pip install confluent-kafka
          c = Consumer({"bootstrap.servers": "%[1]s", "group.id": "group1", "auto.offset.reset": "earliest"})
          c.subscribe(["demo"]); print(c.poll(10).value())
  Go      client, err := kgo.NewClient(kgo.SeedBrokers("%[1]s"), kgo.ConsumerGroup("group1"), kgo.ConsumeTopics("demo"))
Stop it with Ctrl-C.
`, to)
	return b.String()
}

// differences returns what is not as in Kafka: the memory, and what the profile changed and nobody set.
func differences(s *settings.Settings) []string {
	list := []string{"all topics, groups and offsets are in memory"}
	for _, e := range s.Effective() {
		if e.Source == settings.DevSource {
			list = append(list, fmt.Sprintf("%s is %s (Kafka: %s)", e.Name, e.Value, e.Default))
		}
	}
	return list
}

// clientAddr returns an address that a client on this machine can use, also if the broker listens on all interfaces.
func clientAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
