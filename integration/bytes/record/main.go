// Command record runs the whole history against a live Apache Kafka and keeps its log directory and what it said about
// its groups as test data.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	offsetbytes "github.com/kohort/kohort/integration/bytes"
	"github.com/kohort/kohort/integration/conformance"
)

func main() {
	pom := flag.String("pom", "conformance", "directory of the pom.xml that names Kafka's jars")
	to := flag.String("to", "bytes/testdata", "directory for the test data")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := record(ctx, *pom, *to); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// settings make the log starts known at once, and internal topics small.
func settings() map[string]string {
	return map[string]string{
		"log.cleaner.backoff.ms":                        "200",
		"log.flush.start.offset.checkpoint.interval.ms": "500",
		"share.coordinator.state.topic.num.partitions":  "1",
		"transaction.state.log.num.partitions":          "1",
	}
}

func record(ctx context.Context, pom, to string) (err error) {
	// Kafka's directory is a new one below TMPDIR.
	dir, err := os.MkdirTemp("", "kohort-bytes-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return err
	}
	classPath, err := conformance.ClassPath(ctx, pom)
	if err != nil {
		return err
	}
	kafka, err := conformance.StartKafka(ctx, classPath, settings())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kafka.Close()) }()
	h, err := offsetbytes.NewHistory(ctx, kafka.Addr())
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Common(); err != nil {
		return err
	}
	if err := h.Kafka(); err != nil {
		return err
	}
	if err := others(ctx, classPath, kafka.Addr()); err != nil {
		return err
	}
	truth, err := h.Truth(ctx)
	if err != nil {
		return err
	}
	if err := kafka.Restart(); err != nil { // stopping writes the checkpoint of log starts
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "kohort-kafka-*", "data"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("Kafka's directory: %q, %w", found, err)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := keep(found[0], filepath.Join(to, "kafka")); err != nil {
		return err
	}
	text, err := json.MarshalIndent(truth, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "truth.json"), append(text, '\n'), 0o644)
}

// others are groups of other clients.
func others(ctx context.Context, classPath, addr string) error {
	for _, args := range [][]string{
		{"kcat", "-b", addr, "-G", "librdkafka", "-c", "6", "-q", "-o", "beginning", "-X", "auto.offset.reset=earliest", "orders"},
		{
			"java", "-Xmx512m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classPath,
			"org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", addr, "--topic", "orders",
			"--group", "java", "--from-beginning", "--max-messages", "4", "--timeout-ms", "20000",
		},
	} {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// keep copies the log segments that are not empty, or tell where a log begins, and the checkpoint of log starts.
func keep(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		partition := filepath.Base(filepath.Dir(path))
		if strings.HasPrefix(partition, "__cluster_metadata") || strings.HasPrefix(partition, "__transaction") ||
			strings.HasPrefix(partition, "__share") || strings.HasSuffix(partition, "-delete") {
			return nil
		}
		if filepath.Ext(name) != ".log" && name != "log-start-offset-checkpoint" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 && strings.HasPrefix(partition, "__") {
			return err
		}
		target := filepath.Join(to, partition, name)
		if name == "log-start-offset-checkpoint" {
			target = filepath.Join(to, name)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o644)
	})
}
