package integration

import (
	"context"
	"testing"

	"github.com/kohort/kohort/broker/brokertest"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestEmbedded uses the broker as another module does: in one line.
func TestEmbedded(t *testing.T) {
	client := brokertest.Start(t).Client(t, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"), kgo.AllowAutoTopicCreation())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("hello")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	records := consume(t, client, 1)
	if string(records[0].Value) != "hello" {
		t.Fatalf("consumed %q", records[0].Value)
	}
	if err := client.CommitRecords(ctx, records...); err != nil {
		t.Fatal(err)
	}
	if at := client.CommittedOffsets()["orders"][records[0].Partition].Offset; at != 1 {
		t.Fatalf("committed offset %d, want 1", at)
	}
}
