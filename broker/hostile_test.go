package broker_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kohort/kohort/broker"
	"github.com/kohort/kohort/broker/brokertest"
	"github.com/kohort/kohort/partitionlog"
)

// logBuffer keeps a broker's log for a test that reads it.
type logBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	lines chan struct{}
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines != nil {
		select {
		case l.lines <- struct{}{}:
		default:
		}
	}
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// waitFor waits until the log holds the text.
func (l *logBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	over := time.After(answerTime)
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.lines:
		case <-over:
			t.Fatalf("the log has no %q:\n%s", text, l.String())
		}
	}
}

func withLog(l *logBuffer) func(*broker.Config) {
	l.lines = make(chan struct{}, 1)
	return func(c *broker.Config) { c.Logger = zerolog.New(l) }
}

func serves(t *testing.T, b *brokertest.Broker) {
	t.Helper()
	w := dial(t, b)
	defer w.net.Close()
	if resp := ask[*kmsg.ApiVersionsResponse](w, 0, kmsg.NewPtrApiVersionsRequest()); resp.ErrorCode != 0 || len(resp.ApiKeys) == 0 {
		t.Fatalf("the broker does not serve: error %d", resp.ErrorCode)
	}
}

// Every kind of bad beginning closes its own connection at once, says why, and leaves the others alone.
func TestHostileBytes(t *testing.T) {
	head := func(length int32, key, version int16) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(length))
		b = binary.BigEndian.AppendUint16(b, uint16(key))
		b = binary.BigEndian.AppendUint16(b, uint16(version))
		return append(b, 0, 0, 0, 1)
	}
	for _, c := range []struct {
		name string
		send []byte
		log  string
	}{
		{"tls hello", []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello there"), "TLS"},
		{"http", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP"},
		{"negative length", head(-5, 3, 1), "frame length -5"},
		{"length of 2 GiB", head(1<<31-1, 3, 1), "above the limit"},
		{"metadata of 9 MiB", head(9<<20, 3, 1), "above the limit of 8388608"},
		{"unknown key", append(head(8, 999, 0), 0), "api key 999"},
		{"unknown version", append(head(10, 12, 77), 0xff, 0xff), "version 77"},
		{"produce v2", append(head(10, 0, 2), 0xff, 0xff), "version 2"},
		{"negative version", append(head(10, 12, -1), 0xff, 0xff), "version -1"},
		{"body cut short", append(head(14, 11, 5), 0xff, 0xff, 0, 9, 'g', 'r'), "malformed request"},
		{"array longer than the frame", append(head(18, 3, 1), 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0), "malformed request"},
		{"client id longer than the frame", append(head(12, 3, 1), 0x7f, 0xff, 0, 0), "malformed request"},
		{"group id longer than a string may be", longGroup(), "longer than 32767"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log logBuffer
			b := start(t, withLog(&log))
			other := dial(t, b)
			w := dial(t, b)
			if _, err := w.net.Write(c.send); err != nil {
				t.Fatal(err)
			}
			w.closed()
			log.waitFor(t, c.log)
			if resp := ask[*kmsg.ApiVersionsResponse](other, 0, kmsg.NewPtrApiVersionsRequest()); resp.ErrorCode != 0 {
				t.Errorf("another connection is affected: error %d", resp.ErrorCode)
			}
		})
	}
}

func longGroup() []byte {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version, req.Group = 4, strings.Repeat("g", 40000)
	return kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
}

// A frame that never becomes whole holds nothing up, and costs what arrived of it.
func TestTruncatedFrames(t *testing.T) {
	b := start(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, n := range []int{1, 3, 4, 11, 13, 5000} {
		w := dial(t, b)
		frame := binary.BigEndian.AppendUint32(nil, 90<<20) // a Produce of 90 MiB, or so it says
		frame = append(frame, make([]byte, 5000)...)
		if _, err := w.net.Write(frame[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.net.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		w.closed()
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 16<<20 {
		t.Errorf("allocated %d MiB for frames that never came", grew>>20)
	}
	serves(t, b)
}

// Random bytes behind a valid header of every api and version: no panic, and an answer or a closed connection.
func TestGarbageBodies(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	b := start(t, func(c *broker.Config) { c.Logger = zerolog.Nop() })
	for range 40 {
		for key := int16(0); key < 93; key++ {
			w := dial(t, b)
			n := rng.IntN(60)
			frame := binary.BigEndian.AppendUint32(nil, uint32(10+n))
			frame = binary.BigEndian.AppendUint16(frame, uint16(key))
			frame = binary.BigEndian.AppendUint16(frame, uint16(rng.IntN(14)))
			frame = append(frame, 0, 0, 0, 1, 0xff, 0xff)
			for range n {
				frame = append(frame, byte(rng.IntN(256)>>rng.IntN(8)))
			}
			if _, err := w.net.Write(frame); err != nil {
				t.Fatal(err)
			}
			if err := w.net.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			// A JoinGroup may be parked by chance; its connection is left behind.
			w.net.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, _ = io.Copy(io.Discard, w.net)
			w.net.Close()
		}
	}
	serves(t, b)
}

// A peer that asks and never reads is cut off after the write timeout; its neighbours do not notice.
func TestPeerThatDoesNotRead(t *testing.T) {
	var log logBuffer
	b := start(t, withLog(&log), func(c *broker.Config) { c.WriteTimeout = 200 * time.Millisecond })
	w := dial(t, b)
	makeTopic(w, "t", 1)
	big := strings.Repeat("x", 400<<10)
	for range 20 {
		if p := produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, big)); p.ErrorCode != 0 {
			t.Fatalf("produce: error %d", p.ErrorCode)
		}
	}
	deaf := dial(t, b)
	if err := deaf.net.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	go func() {
		req := fetchRequest("t", [16]byte{}, 0, 0)
		req.Version, req.MaxBytes, req.Topics[0].Partitions[0].PartitionMaxBytes = 12, 50<<20, 50<<20
		frame := kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)
		for range 50 {
			if _, err := deaf.net.Write(frame); err != nil {
				return // cut off, as it should be
			}
		}
	}()
	log.waitFor(t, "did not read")
	if got := produce(w, 9, "t", 0, batchOf(partitionlog.None, 1, "y")); got.ErrorCode != 0 {
		t.Errorf("a neighbour got error %d", got.ErrorCode)
	}
}

// A peer that reads slowly, but reads, gets a large answer whole, though that takes longer than the write timeout.
func TestPeerThatReadsSlowly(t *testing.T) {
	b := start(t, func(c *broker.Config) { c.WriteTimeout = time.Second })
	w := dial(t, b)
	makeTopic(w, "t", 1)
	big := strings.Repeat("x", 400<<10)
	for range 20 {
		if p := produce(w, 9, "t", 0, batchOf(partitionlog.None, time.Now().UnixMilli(), big)); p.ErrorCode != 0 {
			t.Fatalf("produce: error %d", p.ErrorCode)
		}
	}
	slow := dial(t, b)
	if err := slow.net.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	req := fetchRequest("t", [16]byte{}, 0, 0)
	req.Version, req.MaxBytes, req.Topics[0].Partitions[0].PartitionMaxBytes = 12, 50<<20, 50<<20
	slow.send(req)
	began := time.Now()
	got, piece := 0, make([]byte, 256<<10)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for got < 15<<20 { // 20 values of 400 KiB, each with a key as large
		<-tick.C
		n, err := slow.net.Read(piece)
		if err != nil {
			t.Fatalf("cut off after %v with %d bytes: %v", time.Since(began), got, err)
		}
		got += n
	}
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("the answer took %v only: this shows nothing", took)
	}
}

// Thousands of idle connections: little memory for each, and the broker answers as before.
func TestIdleConnections(t *testing.T) {
	const n = 3000
	b := start(t, func(c *broker.Config) { c.Logger = zerolog.Nop() })
	serves(t, b)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // the second one empties the pools
	runtime.ReadMemStats(&before)
	conns := make([]*wire, n)
	for i := range conns {
		conns[i] = dial(t, b)
		ask[*kmsg.ApiVersionsResponse](conns[i], 0, kmsg.NewPtrApiVersionsRequest())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	// What other tests left behind may go meanwhile: the difference is signed.
	each := (int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse)) / n
	t.Logf("%d connections, both ends in this process: %d bytes each", n, each)
	if each > 40<<10 {
		t.Errorf("an idle connection costs %d bytes", each)
	}
	if got := b.Connections(); got < n {
		t.Errorf("%d connections, want %d", got, n)
	}
	serves(t, b)
}

func TestMaxConnections(t *testing.T) {
	var log logBuffer
	b := start(t, withLog(&log), property("max.connections", "2"))
	first, second := dial(t, b), dial(t, b)
	for _, w := range []*wire{first, second} {
		ask[*kmsg.ApiVersionsResponse](w, 0, kmsg.NewPtrApiVersionsRequest())
	}
	third := dial(t, b)
	third.closed()
	log.waitFor(t, "as many as the broker may have")
	ask[*kmsg.ApiVersionsResponse](first, 0, kmsg.NewPtrApiVersionsRequest())
}

// A connection that says nothing for connections.max.idle.ms is closed.
func TestIdleConnectionIsClosed(t *testing.T) {
	b := start(t, property("connections.max.idle.ms", "200"))
	w := dial(t, b)
	ask[*kmsg.ApiVersionsResponse](w, 0, kmsg.NewPtrApiVersionsRequest())
	w.closed()
}

// ApiVersions of a version from the future: v0 form, error 35, one row, and the connection goes on (KIP-511).
func TestUnknownApiVersionsVersion(t *testing.T) {
	b := start(t)
	w := dial(t, b)
	frame := binary.BigEndian.AppendUint32(nil, 8+40)
	frame = append(frame, 0, 18, 0, 127, 0, 0, 0, 9)
	frame = append(frame, bytes.Repeat([]byte{0xee}, 40)...)
	if _, err := w.net.Write(frame); err != nil {
		t.Fatal(err)
	}
	got, err := w.readFrame()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{0, 0, 0, 9, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 5}
	if !bytes.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
	if resp := ask[*kmsg.ApiVersionsResponse](w, 3, named(kmsg.NewPtrApiVersionsRequest())); resp.ErrorCode != 0 {
		t.Errorf("the connection does not go on: error %d", resp.ErrorCode)
	}
}

func named(r *kmsg.ApiVersionsRequest) *kmsg.ApiVersionsRequest {
	r.ClientSoftwareName, r.ClientSoftwareVersion = "kohort-test", "1.0"
	return r
}

// Graceful stop: parked JoinGroups and long polls are answered, and it takes less than two seconds.
func TestCloseWithParkedRequests(t *testing.T) {
	b := start(t, property("group.initial.rebalance.delay.ms", "60000"))
	w := dial(t, b)
	makeTopic(w, "t", 1)
	findCoordinator(w)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 3, "g", 10000, 60000
	join.ProtocolType = "consumer"
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{1}}}
	parked := dial(t, b)
	joinID := parked.send(join)
	poll := fetchRequest("t", [16]byte{}, 0, 0)
	poll.Version, poll.MaxWaitMillis = 12, 60000
	polling := dial(t, b)
	pollID := polling.send(poll)
	waitParked(t, w, "g", 1)

	began := time.Now()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("closing took %v", took)
	}
	if resp, err := parked.receive(join, joinID); err != nil || resp.(*kmsg.JoinGroupResponse).ErrorCode != 15 {
		t.Errorf("parked JoinGroup: %v, %v", resp, err)
	}
	if resp, err := polling.receive(poll, pollID); err != nil || resp.(*kmsg.FetchResponse).ErrorCode != 0 {
		t.Errorf("long poll: %v, %v", resp, err)
	}
	w.closed()
	if _, err := net.DialTimeout("tcp", b.Addr(), time.Second); err == nil {
		t.Error("the port is still open")
	}
}

// waitParked asks until a group has n members that have joined.
func waitParked(t *testing.T, w *wire, group string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), answerTime)
	defer cancel()
	for ctx.Err() == nil {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{group}
		if g := ask[*kmsg.DescribeGroupsResponse](w, 5, req).Groups[0]; len(g.Members) == n {
			return
		}
	}
	t.Fatalf("group %s never had %d members", group, n)
}
