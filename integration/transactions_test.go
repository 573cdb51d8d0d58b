package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestTransactionalClientFailsAtOnce uses a client with a transactional id. It must not wait for what will never come,
// and both the user and the operator must be able to read why.
func TestTransactionalClientFailsAtOnce(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "txn", 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.TransactionalID("payments"), kgo.DefaultProduceTopic("txn"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	began := time.Now()
	if err := client.BeginTransaction(); err == nil {
		err = client.ProduceSync(limited(t), kgo.StringRecord("never")).FirstErr()
		if err == nil {
			t.Fatal("a transactional record was acknowledged")
		}
		if !strings.Contains(err.Error(), "TRANSACTIONAL_ID_AUTHORIZATION_FAILED") {
			t.Errorf("the client reports: %v", err)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the client failed after %v, want at most 2 s", took)
	}
	line := b.message(t, 0, "transactional client refused")
	if line.Level != "warn" || !strings.Contains(line.Message, "does not serve transactions") || !strings.Contains(line.Message, "transactional.id") {
		t.Errorf("the broker logs: %+v", line)
	}
	if ends, err := newAdmin(t, b.addr).ListEndOffsets(limited(t), "txn"); err != nil || ends["txn"][0].Offset != 0 {
		t.Errorf("the topic ends at %d (%v): something was written", ends["txn"][0].Offset, err)
	}
}

// TestKcatTransactionFailsAtOnce is the same with librdkafka.
func TestKcatTransactionFailsAtOnce(t *testing.T) {
	t.Parallel()
	b := dev(t)
	createTopic(t, newAdmin(t, b.addr), "txn", 1)
	began := time.Now()
	p := launch(t, kcatCommand(t, "never\n", "-P", "-b", b.addr, "-t", "txn", "-X", "transactional.id=payments"))
	code := p.code(t, patience)
	if took := time.Since(began); code == 0 || took > 2*time.Second {
		t.Errorf("kcat ended with code %d after %v, want an error within 2 s", code, took)
	}
	if text := p.stderr.text(); !strings.Contains(strings.ToLower(text), "transactional") {
		t.Errorf("kcat says:\n%s", text)
	}
	b.message(t, 0, "transactional client refused")
}
