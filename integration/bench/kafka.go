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

// kafkaFlags are those of the JVM.
var kafkaFlags = []string{"-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}

// startKafka starts an Apache Kafka of the version in the conformance tests' pom.xml: one node, KRaft. It stays for all
// rounds: a JVM is slow at first.
func (b *bench) startKafka(ctx context.Context) (*server, error) {
	classes, err := b.classPath(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{addr: freeAddr(), settle: 500 * time.Millisecond}
	s.commandOn = func(ctx context.Context, addr, data string) (string, error) {
		conf, err := formatKafka(ctx, classes, addr, data)
		return strings.Join(append(append([]string{"java"}, kafkaFlags...), "-cp", classes, "kafka.Kafka", conf), " "), err
	}
	line, err := s.commandOn(ctx, s.addr, filepath.Join(b.dir, "kafka"))
	if err != nil {
		return nil, err
	}
	args := strings.Fields(line)
	log, err := os.Create(filepath.Join(b.dir, "kafka.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.launch(time.Minute); err != nil {
		text, _ := os.ReadFile(log.Name()) // only to say more
		return nil, fmt.Errorf("%w\n%s", err, text[max(0, len(text)-2000):])
	}
	return s, nil
}

// classPath lets Maven fetch Kafka's jars into its ordinary cache.
func (b *bench) classPath(ctx context.Context) (string, error) {
	for _, program := range []string{"mvn", "java"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("KAFKA=1 needs %s: %w", program, err)
		}
	}
	fmt.Fprintln(os.Stderr, "fetching Apache Kafka's jars with Maven")
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	path := filepath.Join(b.dir, "classpath")
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", "../conformance/pom.xml", "dependency:build-classpath",
		"-DincludeScope=runtime", "-Dmdep.outputFile="+path)
	if text, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mvn: %w\n%s", err, text)
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// formatKafka prepares a directory for a Kafka on the address; the path of its properties.
func formatKafka(ctx context.Context, classes, addr, dir string) (conf string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	conf = filepath.Join(dir, "kafka.properties")
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
`, addr, freeAddr(), filepath.Join(dir, "logs"))
	if err := os.WriteFile(conf, []byte(properties), 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	format := exec.CommandContext(ctx, "java", "-Xmx256m", "-cp", classes, "kafka.tools.StorageTool", "format", "--standalone",
		"-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", conf)
	if text, err := format.CombinedOutput(); err != nil {
		return "", fmt.Errorf("formatting Kafka's directory: %w\n%s", err, text)
	}
	return conf, nil
}
