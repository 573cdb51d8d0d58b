package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// startKafka starts an Apache Kafka of the version in the conformance tests' pom.xml: one node, KRaft.
func (b *build) startKafka(ctx context.Context, data string) (*server, error) {
	path := filepath.Join(b.dir, "classpath")
	if _, err := os.Stat(path); err != nil {
		fmt.Fprintln(os.Stderr, "fetching Apache Kafka's jars with Maven")
		mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", "../conformance/pom.xml", "dependency:build-classpath",
			"-DincludeScope=runtime", "-Dmdep.outputFile="+path)
		if text, err := mvn.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("mvn: %w\n%s", err, text)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	classes := strings.TrimSpace(string(text))
	s := &server{addr: freeAddr(), settle: time.Second}
	controller, logs, conf := freeAddr(), filepath.Join(data, "kafka"), filepath.Join(data, "kafka.properties")
	properties := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=%[2]s
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
advertised.listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=%[3]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`, s.addr, controller, logs)
	if err := os.WriteFile(conf, []byte(properties), 0o600); err != nil {
		return nil, err
	}
	format := exec.CommandContext(ctx, "java", "-cp", classes, "kafka.tools.StorageTool", "format", "--standalone",
		"-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", conf)
	if text, err := format.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("formatting Kafka's directory: %w\n%s", err, text)
	}
	s.cmd = exec.CommandContext(ctx, "java", "-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classes, "kafka.Kafka", conf)
	return s, s.launch(time.Minute)
}
