package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// KafkaVersion is that of the jars in pom.xml, whose answers are in golden/.
const KafkaVersion = "4.4.0"

// ClassPath lets Maven fetch Kafka into its ordinary cache, and returns the class path.
func ClassPath(ctx context.Context, dir string) (string, error) {
	for _, program := range []string{"mvn", "java"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%s is needed for a live Kafka: %w; install maven and a Java 17 runtime", program, err)
		}
	}
	out, err := os.CreateTemp("", "kohort-classpath-")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	_ = out.Close() // empty
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", filepath.Join(dir, "pom.xml"), "dependency:build-classpath",
		"-DincludeScope=runtime", "-Dmdep.outputFile="+out.Name())
	if text, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mvn dependency:build-classpath: %w\n%s", err, text)
	}
	text, err := os.ReadFile(out.Name())
	return strings.TrimSpace(string(text)), err
}

// Kafka is a live Apache Kafka: one node, KRaft, on the loopback interface.
type Kafka struct {
	classPath, dir, addr string
	cmd                  *exec.Cmd
	exited               chan error
}

// javaFlags keep the process small: it shares the machine.
var javaFlags = []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}

// StartKafka formats a directory and starts Kafka with a scenario's settings. It is ready when StartKafka returns.
func StartKafka(ctx context.Context, classPath string, own map[string]string) (*Kafka, error) {
	dir, err := os.MkdirTemp("", "kohort-kafka-")
	if err != nil {
		return nil, err
	}
	k := &Kafka{classPath: classPath, dir: dir}
	if err := k.configure(ctx, own); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := k.start(); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// configure writes the properties file and formats the log directory.
func (k *Kafka) configure(ctx context.Context, own map[string]string) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	k.addr = fmt.Sprintf("127.0.0.1:%d", ports[0])
	controller := fmt.Sprintf("127.0.0.1:%d", ports[1])
	all := merged(own)
	for name, value := range map[string]string{
		"process.roles": "broker,controller", "node.id": "1",
		"controller.quorum.bootstrap.servers":              controller,
		"listeners":                                        "PLAINTEXT://" + k.addr + ",CONTROLLER://" + controller,
		"advertised.listeners":                             "PLAINTEXT://" + k.addr + ",CONTROLLER://" + controller,
		"controller.listener.names":                        "CONTROLLER",
		"listener.security.protocol.map":                   "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"log.dirs":                                         filepath.Join(k.dir, "data"),
		"offsets.topic.replication.factor":                 "1",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
	} {
		all[name] = value
	}
	var lines []string
	for name, value := range all {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	if err := os.WriteFile(k.properties(), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	format := k.java(ctx, "kafka.tools.StorageTool", "format", "--standalone", "-t", "a29ob3J0LWNvbmZvcm1hbg", "-c", k.properties())
	if text, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("formatting Kafka's directory: %w\n%s", err, text)
	}
	return nil
}

func (k *Kafka) properties() string { return filepath.Join(k.dir, "kafka.properties") }

func (k *Kafka) java(ctx context.Context, args ...string) *exec.Cmd {
	all := append(slices.Clone(javaFlags), "-cp", k.classPath)
	cmd := exec.CommandContext(ctx, "java", append(all, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // never outlives us
	return cmd
}

// start starts the process and waits until it answers.
func (k *Kafka) start() error {
	log, err := os.OpenFile(filepath.Join(k.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := k.java(context.Background(), "kafka.Kafka", k.properties())
	cmd.Stdout, cmd.Stderr = log, log
	k.cmd, k.exited = cmd, make(chan error, 1)
	started := make(chan error)
	go func() {
		// The signal at our death is tied to the thread that started the process.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			k.exited <- cmd.Wait()
		}
		_ = log.Close() // the process has its own descriptor
	}()
	if err := <-started; err != nil {
		k.cmd = nil
		return err
	}
	end := time.Now().Add(90 * time.Second)
	for time.Now().Before(end) {
		select {
		case err := <-k.exited:
			k.cmd = nil
			return fmt.Errorf("Kafka ended: %w\n%s", err, k.log())
		case <-time.After(200 * time.Millisecond):
		}
		if c, err := dial(k.addr); err == nil {
			err = k.registered(c)
			_ = c.net.Close() // only asked
			if err == nil {
				return nil
			}
		}
	}
	return fmt.Errorf("Kafka did not start within 90 s\n%s", k.log())
}

func (k *Kafka) log() string {
	text, err := os.ReadFile(filepath.Join(k.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// stop ends the process: in good order if it can.
func (k *Kafka) stop() error {
	if k.cmd == nil {
		return nil
	}
	cmd := k.cmd
	k.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-k.exited: // 143, by SIGTERM
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill() // fails only if it has ended
		<-k.exited
	}
	return nil
}

// Close ends Kafka and removes its directory.
func (k *Kafka) Close() error { return errors.Join(k.stop(), os.RemoveAll(k.dir)) }

// Addr is the address that Kafka listens on.
func (k *Kafka) Addr() string { return k.addr }

// Settle is how long a request takes at most to have its effect: Kafka gathers writes for some milliseconds.
func (k *Kafka) Settle() time.Duration { return 300 * time.Millisecond }

// Pass lets real time pass.
func (k *Kafka) Pass(d time.Duration) { time.Sleep(d) }

// Restart stops and starts the process.
func (k *Kafka) Restart() error { return errors.Join(k.stop(), k.start()) }

// freePorts are ports that nobody listens on.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
