// Command bench measures Kohort against its peers and against the machine, in one run, and says how far from each bar it is.
//
//	go run . [-rounds 5] [-duration 350ms] [-idle 1m] [-only commit] [-doc ../../docs/bench.md]
//
// It builds the programs it needs, starts them on free ports of the loopback interface, and lets loadgen put load on them,
// interleaved: A B C, A B C ... A figure is the median of the rounds, with its spread; what is judged are ratios of figures
// of one run, since machines are shared and absolute figures move by a factor of two from day to day. loadgen reads
// everything back: a run whose results are wrong fails the whole.
//
// The peers: franz-go's kfake in memory, with a directory, and syncing every write; the floor, which does for a commit only
// what no broker can leave out (read the frame, one write and one fdatasync a turn, answer); and with KAFKA=1 an Apache
// Kafka 4.4.0 from Maven jars, which needs java and mvn.
//
// It may not know the inside of any of them: they are processes with a port.
package main
