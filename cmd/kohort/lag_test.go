package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Lag is told in records and in seconds, with the generation that only the offsets topic knows.
func TestLag(t *testing.T) {
	addr := start(t)
	old := `{"value":"a","timestamp":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`
	said(t, addr, old+"\n"+old+"\n"+old, "produce", "orders", "-p", "0", "-f", "json")
	said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1")
	said(t, addr, "", "consume", "orders", "-g", "other", "-n", "2")
	if _, errOut, code := said(t, addr, "", "wait", "--group", "team", "--members", "0"); code != 0 {
		t.Fatal(errOut)
	}
	out, errOut, code := said(t, addr, "", "lag", "-o", "json")
	var views []lagView
	if err := json.Unmarshal([]byte(out), &views); err != nil || code != 0 || len(views) != 2 {
		t.Fatalf("exit code %d, %v, %s%s", code, err, out, errOut)
	}
	for i, want := range []struct {
		group string
		lag   int64
	}{{"other", 1}, {"team", 2}} {
		v := views[i]
		if v.Name != want.group || v.Lag == nil || *v.Lag != want.lag || v.Generation == nil || *v.Generation < 1 {
			t.Errorf("got %s, lag %v, generation %v", v.Name, number(v.Lag), number(v.Generation))
		}
		if s := v.LagSeconds; s == nil || *s < 3600 || *s > 3700 {
			t.Errorf("%s: lag in seconds is %s", v.Name, number(s))
		}
	}
	out, _, _ = said(t, addr, "", "lag", "team")
	if lines := strings.Split(out, "\n"); len(lines) < 6 || !strings.HasPrefix(lines[0], "GROUP  STATE  GENERATION  MEMBERS  PARTITIONS  COMMITTED  END  LAG  SECONDS") ||
		lines[3] != "team" || !strings.HasPrefix(lines[5], "orders ") {
		t.Errorf("got:\n%s", out)
	}
}

// screens hands over each screen of `kohort lag --watch`.
type screens chan string

func (s screens) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

// A watch shows what changes, and ends with a signal.
func TestLagWatch(t *testing.T) {
	addr := start(t)
	said(t, addr, "", "produce", "orders", "-p", "0", "a", "b", "c")
	said(t, addr, "", "consume", "orders", "-g", "team", "-n", "1")
	shown, signals, exit := make(screens), make(chan os.Signal, 1), make(chan int, 1)
	go func() {
		exit <- run(&world{
			args: []string{"lag", "team", "--watch", "--interval", "10ms", "--broker", addr}, stdout: shown, stderr: newTerminal(), signals: signals,
		})
	}()
	await := func(lag string) {
		for screen := range shown {
			if fields := strings.Fields(strings.Split(screen, "\n")[1]); len(fields) == 9 && fields[7] == lag {
				return
			}
		}
	}
	await("2")
	said(t, addr, "", "produce", "orders", "-p", "0", "d")
	await("3")
	signals <- syscall.SIGINT
	for {
		select {
		case <-shown:
			continue
		case code := <-exit:
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			return
		}
	}
}
