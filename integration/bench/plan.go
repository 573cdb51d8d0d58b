package main

import "fmt"

// measure is one run of a load on every server of a list; it fills one row of the table or several.
type measure struct {
	name    string // of the first row, unless rows are given
	flags   []string
	servers []string
	rows    []row
	times   int    // rounds that it takes part in; 0: all
	program string // that puts the load; "": loadgen
	process bool   // loadgen starts the server itself, with the command of each server
}

// row is a row of the table.
type row struct {
	name  string
	unit  string
	value func(result) float64
	less  bool // less is better
	bars  []bar
}

// bar is what a figure is held against: at least factor times another server's; or at most a figure of its own, where other is
// empty and less is better.
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

// pairs are the columns of the table of ratios: alike in what they promise, or what a user would choose between.
var pairs = [][2]string{{serve, floorDisk}, {serveOne, floorDisk}, {serve, kfakeSync}, {serve, kafka}, {dev, floorMem}, {dev, kfakeMem}}

var (
	brokers = []string{serve, dev, kfakeMem, kfakeDir, kfakeSync, kafka}
	readers = []string{serve, dev, kfakeMem, kfakeDir, kafka} // reading is the same with sync
	// kfake with sync needs minutes for a million commits; with a directory it does from 100,000 keys on, when each commit
	// makes it write all keys anew.
	replayFew, replayMany = []string{serve, kfakeDir, kafka}, []string{serve, kafka}
)

func perSecond(r result) float64 { return r.OpsPerSec }

func megabytes(r result) float64 { return r.BrokerRSS / 1000 * 1.024 }

func extra(name string) func(result) float64 {
	return func(r result) float64 { return r.Extra[name] }
}

func extraMB(name string) func(result) float64 {
	return func(r result) float64 { return r.Extra[name] / 1000 * 1.024 }
}

// plan lists what is measured, in order. idlePlan is apart: each takes a minute for all servers together.
func plan() []measure {
	var list []measure
	for _, conns := range []int{1, 16, 256} {
		for _, partitions := range []int{1, 10} {
			list = append(list, commits(conns, partitions))
		}
	}
	list = append(list, groupPlan()...)
	list = append(list, recordPlan()...)
	return append(list, processPlan()...)
}

func commits(conns, partitions int) measure {
	name := fmt.Sprintf("commit, %d connections", conns)
	if conns == 1 {
		name = "commit, 1 connection"
	}
	bars := []bar{{serve, floorDisk, 0.8}}
	if partitions > 1 {
		name += fmt.Sprintf(" x %d partitions", partitions)
	}
	if partitions > 1 && conns == 16 {
		bars = append(bars, bar{serve, kfakeSync, 30})
	}
	return measure{
		flags:   []string{"-scenario", "commit", "-conns", fmt.Sprint(conns), "-partitions", fmt.Sprint(partitions)},
		servers: serverNames,
		rows:    []row{{name: name, unit: "1/s", value: perSecond, bars: bars}},
	}
}

func groupPlan() []measure {
	return []measure{
		{
			flags: []string{"-scenario", "commit-members", "-groups", "64"}, servers: brokers,
			rows: []row{{name: "fenced commits, 64 members", unit: "1/s", value: perSecond}},
		},
		{
			flags: []string{"-scenario", "fetch-offsets", "-conns", "16", "-partitions", "10"}, servers: brokers,
			rows: []row{{name: "OffsetFetch, 16 connections x 10 partitions", unit: "1/s", value: perSecond}},
		},
		{
			flags: []string{"-scenario", "heartbeat", "-groups", "64"}, servers: serverNames,
			rows: []row{{
				name: "heartbeat, 64 groups", unit: "1/s", value: perSecond,
				bars: []bar{{dev, floorMem, 0.8}, {serve, floorMem, 0.8}},
			}},
		},
		{ // a member whose group moved on learns of it from its next heartbeat, so these are frequent
			flags: []string{"-scenario", "many-groups", "-groups", "500", "-members", "4", "-heartbeat", "100ms"}, servers: brokers,
			rows: []row{{
				name: "500 groups of 4, all stable", unit: "ms", value: extra("all_stable_ms"), less: true,
				bars: []bar{{serve, "", 200}, {dev, "", 200}},
			}},
		},
		{
			program: "firstrecord", servers: brokers,
			rows: []row{{name: "first record of a new group", unit: "ms", value: extra("first_ms"), less: true}},
		},
	}
}

func recordPlan() []measure {
	one := []string{"-conns", "8", "-batch-records", "1", "-record-size", "1024"}
	return []measure{
		{
			flags: []string{"-scenario", "produce", "-conns", "8"}, servers: brokers,
			rows: []row{{
				name: "produce, 100 x 100 B", unit: "MB/s", value: extra("mb_per_s"),
				bars: []bar{{serve, kfakeSync, 4}, {serve, kafka, 0.7}},
			}},
		},
		{
			flags: append([]string{"-scenario", "produce"}, one...), servers: brokers,
			rows: []row{{
				name: "produce, 1 x 1 KiB", unit: "1/s", value: perSecond,
				bars: []bar{{serve, kfakeSync, 4}, {serve, kafka, 0.7}},
			}},
		},
		{
			flags: []string{"-scenario", "fetch", "-conns", "8", "-batches", "500"}, servers: readers,
			rows: []row{{
				name: "fetch, 1 MiB of 100 x 100 B", unit: "MB/s", value: extra("mb_per_s"),
				bars: []bar{{serve, kafka, 1}, {dev, kfakeMem, 1}},
			}},
		},
		{
			flags: append([]string{"-scenario", "fetch", "-batches", "500", "-fetch-bytes", "1024"}, one...), servers: readers,
			rows: []row{{name: "fetch, 1 x 1 KiB", unit: "1/s", value: perSecond}},
		},
	}
}

func processPlan() []measure {
	list := []measure{{
		flags: []string{"-scenario", "startup", "-rounds", "1"}, servers: readers, process: true,
		rows: []row{
			{name: "start-up", unit: "ms", less: true, value: func(r result) float64 { return r.Latency.P50 }},
			{name: "memory after start-up", unit: "MB", less: true, value: extraMB("idle_rss_kib")},
		},
	}}
	for _, r := range []struct {
		keys, groups, partitions string
		servers                  []string
		ms, mb                   []bar
	}{
		{keys: "10k keys", groups: "1000", partitions: "10", servers: replayFew},
		{keys: "1M keys", groups: "10000", partitions: "100", servers: replayMany, ms: []bar{{serve, "", 2000}}, mb: []bar{{serve, "", 300}}},
	} {
		m := measure{
			flags: []string{
				"-scenario", "replay", "-groups", r.groups, "-partitions", r.partitions, "-conns", "16", "-commits", "1000000",
			},
			servers: r.servers, process: true, times: 3,
			rows: []row{
				{name: "1M commits on " + r.keys + ", back after kill -9", unit: "ms", less: true, value: extra("ready_after_kill_ms"), bars: r.ms},
				{name: "1M commits on " + r.keys + ", back after a clean stop", unit: "ms", less: true, value: extra("ready_after_stop_ms"), bars: r.ms},
				{name: "memory with " + r.keys, unit: "MB", less: true, value: extraMB("rss_after_stop_kib"), bars: r.mb},
			},
		}
		if r.mb != nil { // ten thousand keys vanish in what else is there
			m.rows = append(m.rows, row{name: "memory per key", unit: "B", less: true, value: extra("bytes_per_key_after_stop")})
		}
		list = append(list, m)
	}
	return list
}

// idlePlan is 1,000 members that heartbeat every 3 s, first without commits and then with one each every 5 s, as clients
// with automatic commits send them; each on all servers at the same time.
func idlePlan() []measure {
	flags := func(commitEvery string) []string {
		return []string{"-scenario", "idle-members", "-groups", "250", "-members", "4", "-heartbeat", "3s", "-commit-every", commitEvery}
	}
	cpu := func(name string) row {
		return row{
			name: name, unit: "% of a core", less: true, value: extra("broker_cpu_percent_of_one_core"),
			bars: []bar{{serve, "", 4}, {dev, "", 4}},
		}
	}
	return []measure{
		{flags: flags("1000h"), servers: brokers, rows: []row{cpu("1,000 members that heartbeat, CPU")}},
		{flags: flags("5s"), servers: brokers, rows: []row{
			cpu("1,000 members that heartbeat and commit, CPU"),
			{name: "1,000 members that heartbeat and commit, memory", unit: "MB", less: true, value: megabytes},
		}},
	}
}
