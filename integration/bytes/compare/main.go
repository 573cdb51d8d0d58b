// Command compare runs one history against a live Apache Kafka and against Kohort, compares what both wrote into
// __consumer_offsets field by field, and lets Kafka's own formatters print Kohort's topic.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	offsetbytes "github.com/kohort/kohort/integration/bytes"
	"github.com/kohort/kohort/integration/conformance"
)

func main() {
	pom := flag.String("pom", "conformance", "directory of the pom.xml that names Kafka's jars")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := compare(ctx, *pom); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, pom string) (err error) {
	classPath, err := conformance.ClassPath(ctx, pom)
	if err != nil {
		return err
	}
	kohort, err := conformance.StartKohort(ctx, nil, false, func(trace string) { fmt.Println(trace) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kohort.Close()) }()
	ours, err := written(ctx, kohort.Addr())
	if err != nil {
		return fmt.Errorf("Kohort: %w", err)
	}
	wrong, err := formatters(ctx, classPath, kohort.Addr(), ours.raw)
	if err != nil {
		return err
	}
	kafka, err := conformance.StartKafka(ctx, classPath, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kafka.Close()) }()
	theirs, err := written(ctx, kafka.Addr())
	if err != nil {
		return fmt.Errorf("Kafka: %w", err)
	}
	differences, fields := offsetbytes.Compare(theirs.normal, ours.normal)
	deliberate := 0
	for _, d := range differences {
		if d.Deliberate() {
			deliberate++
			continue
		}
		wrong++
		fmt.Println("  " + d.String())
	}
	fmt.Printf("written: Kafka %s %d records, Kohort %d; %d fields compared, %d differ, %d more are the version of offset values (v4 and v3)\n",
		conformance.KafkaVersion, len(theirs.normal), len(ours.normal), fields, len(differences)-deliberate, deliberate)
	if wrong > 0 {
		return fmt.Errorf("%d differences", wrong)
	}
	return nil
}

// dump is what a broker wrote, as it is and without what must differ.
type dump struct{ raw, normal []offsetbytes.Record }

// written runs the history.
func written(ctx context.Context, addr string) (*dump, error) {
	h, err := offsetbytes.NewHistory(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	began := time.Now()
	if err := h.Common(); err != nil {
		return nil, err
	}
	ended := time.Now()
	d := &dump{}
	if d.raw, err = h.Dump(ctx, false); err != nil {
		return nil, err
	}
	if d.normal, err = h.Dump(ctx, true); err != nil {
		return nil, err
	}
	offsetbytes.Normalize(d.normal, began, ended)
	return d, nil
}

// formatters lets Kafka's classes print Kohort's topic, and compares that with what was decoded.
func formatters(ctx context.Context, classPath, addr string, decoded []offsetbytes.Record) (wrong int, err error) {
	for _, f := range offsetbytes.Formatters() {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		out, err := exec.CommandContext(
			ctx, "java", "-Xmx512m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classPath,
			"org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", addr, "--topic", "__consumer_offsets",
			"--from-beginning", "--timeout-ms", "4000", "--formatter", f.Class,
		).Output()
		cancel()
		if err != nil && len(out) == 0 {
			return 0, fmt.Errorf("%s: %w", f.Class, err)
		}
		printed, err := offsetbytes.Printed(out)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f.Class, err)
		}
		lines, fields := f.Unlike(printed, decoded)
		for _, line := range lines {
			fmt.Println("  " + line)
		}
		wrong += len(lines)
		fmt.Printf("%s: %d records printed, %d fields compared, %d not as they were written\n", f.Class, len(printed), fields, len(lines))
	}
	return wrong, nil
}
