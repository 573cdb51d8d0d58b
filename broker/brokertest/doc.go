// Package brokertest embeds a broker in a Go test, in one line:
//
//	b := brokertest.Start(t)
//	client := b.Client(t, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"))
//
// The broker lives in memory on a free port, with the settings of `kohort dev`: no initial rebalance delay, sessions
// from 100 ms. It writes its log to the test, ends with the test, and fails it if the coordinator breaks one of its own
// rules. Further arguments edit its configuration: a data directory, properties by Kafka's names.
//
// StartPipes is the same without sockets: inside testing/synctest, where a goroutine that waits for a socket would stop
// the clock, broker and client share fake time, and ten minutes of a group's life pass in milliseconds. Build such tests
// with `-tags synctests`: it gives kgo mutexes whose waiters count as blocked. Without it the bubble may stand still.
//
// It may not know the inside of the broker: it uses what any program may use.
package brokertest
