package main

// scenario is one row of the table.
type scenario struct {
	name    string
	flags   []string // of loadgen
	unit    string
	value   func(result) float64
	less    bool     // less is better
	servers []string // nil: all but the floors
	bars    []bar
	process bool // loadgen starts the server itself, with the command of each server
}

// bar is what a figure is held against: at least (or, where less is better, at most) factor times another server's; or
// a figure of its own, where other is empty.
type bar struct {
	server, other string
	factor        float64
}

// The servers, as rows call them.
const (
	serve     = "kohort serve"
	serveOne  = "kohort serve, 1 offsets partition"
	dev       = "kohort dev"
	kfakeMem  = "kfake memory"
	kfakeDir  = "kfake directory"
	kfakeSync = "kfake sync"
	floorDisk = "floor, durable"
	floorMem  = "floor, no disk"
	kafka     = "Apache Kafka"
)

var serverNames = []string{serve, serveOne, dev, kfakeMem, kfakeDir, kfakeSync, floorDisk, floorMem, kafka}

var (
	withFloors = []string{serve, serveOne, dev, kfakeMem, kfakeDir, kfakeSync, floorDisk, floorMem, kafka}
	brokers    = []string{serve, dev, kfakeMem, kfakeDir, kfakeSync, kafka}
	ours       = []string{serve, dev}
)

func perSecond(r result) float64 { return r.OpsPerSec }

func extra(name string) func(result) float64 {
	return func(r result) float64 { return r.Extra[name] }
}

var scenarios = []scenario{
	{
		name: "commit, 1 connection", flags: []string{"-scenario", "commit", "-conns", "1"}, unit: "1/s", value: perSecond,
		servers: withFloors, bars: []bar{{serve, floorDisk, 0.8}},
	},
	{
		name: "commit, 16 connections", flags: []string{"-scenario", "commit", "-conns", "16"}, unit: "1/s", value: perSecond,
		servers: withFloors, bars: []bar{{serve, floorDisk, 0.8}},
	},
	{
		name: "commit, 16 connections x 10 partitions", flags: []string{"-scenario", "commit", "-conns", "16", "-partitions", "10"},
		unit: "1/s", value: perSecond, servers: withFloors, bars: []bar{{serve, floorDisk, 0.8}, {serve, kfakeSync, 30}},
	},
	{
		name: "commit, 256 connections", flags: []string{"-scenario", "commit", "-conns", "256"}, unit: "1/s", value: perSecond,
		servers: withFloors, bars: []bar{{serve, floorDisk, 0.8}},
	},
	{
		name: "fenced commits, 64 members", flags: []string{"-scenario", "commit-members", "-groups", "64"}, unit: "1/s",
		value: perSecond, servers: brokers,
	},
	{
		name: "OffsetFetch, 16 x 10", flags: []string{"-scenario", "fetch-offsets", "-conns", "16", "-partitions", "10"},
		unit: "1/s", value: perSecond, servers: brokers,
	},
	{
		name: "heartbeat, 64 groups", flags: []string{"-scenario", "heartbeat", "-groups", "64"}, unit: "1/s", value: perSecond,
		servers: withFloors, bars: []bar{{dev, floorMem, 0.8}, {serve, floorMem, 0.8}},
	},
	{
		name: "500 groups of 4, all stable", flags: []string{"-scenario", "many-groups", "-groups", "500", "-members", "4"},
		unit: "ms", value: extra("all_stable_ms"), less: true, servers: brokers, bars: []bar{{serve, "", 200}, {dev, "", 200}},
	},
	{
		name: "produce, 100 x 100 B", flags: []string{"-scenario", "produce", "-conns", "8"}, unit: "MB/s", value: extra("mb_per_s"),
		servers: brokers, bars: []bar{{serve, kfakeSync, 4}, {serve, kafka, 0.7}},
	},
	{
		name: "produce, 1 x 1 KiB", flags: []string{"-scenario", "produce", "-conns", "8", "-batch-records", "1", "-record-size", "1024"},
		unit: "1/s", value: perSecond, servers: brokers, bars: []bar{{serve, kfakeSync, 4}},
	},
	{
		name: "fetch, 1 MiB", flags: []string{"-scenario", "fetch", "-conns", "8"}, unit: "MB/s", value: extra("mb_per_s"),
		servers: brokers, bars: []bar{{serve, kafka, 1}, {serve, kfakeMem, 1}},
	},
	{
		name: "start-up", flags: []string{"-scenario", "startup", "-rounds", "3"}, unit: "ms", less: true,
		value: func(r result) float64 { return r.Latency.P50 }, servers: ours, process: true,
	},
	{
		name: "kill -9 and back, 10k keys of 300k commits",
		flags: []string{
			"-scenario", "replay", "-groups", "1000", "-partitions", "10", "-conns", "16", "-commits", "300000", "-kill",
		},
		unit: "ms", less: true, value: extra("restart_to_all_right_ms"), servers: []string{serve}, process: true,
	},
}
