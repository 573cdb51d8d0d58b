package api

import (
	"slices"

	"github.com/kohort/kohort/protocol"
)

// Row is one api: its key, the versions that are served, and who answers it.
type Row struct {
	Key      int16
	Name     string
	Min, Max int16
	// Advertised is the lowest version that ApiVersions tells of.
	//
	// For Produce it is 0 while 3 is served: librdkafka takes a higher minimum for a broker that knows no compression,
	// and sends its batches uncompressed (KAFKA-18659, librdkafka 4956). Kafka 4 does the same.
	Advertised int16
	Handle     Handler
}

// Table is the one list of apis: it drives dispatch, the answer to ApiVersions, and the README's matrix. It is sorted
// by key.
//
// Not in it, and so not advertised: transactions (24 to 28), descriptions of KIP-848's groups (69), share groups,
// authentication and changes of ACLs, quotas and users. Clients that need one of them fail with a sentence that names it, or fall back.
func Table() []Row {
	return []Row{
		{0, "Produce", 3, 11, 0, (*Server).produce},
		{1, "Fetch", 4, 18, 4, (*Server).fetch},
		{2, "ListOffsets", 1, 11, 1, (*Server).listOffsets},
		{3, "Metadata", 0, 13, 0, (*Server).metadata},
		{8, "OffsetCommit", 1, 10, 1, (*Server).offsetCommit},
		{9, "OffsetFetch", 1, 10, 1, (*Server).offsetFetch},
		{10, "FindCoordinator", 0, 6, 0, (*Server).findCoordinator},
		{11, "JoinGroup", 0, 9, 0, (*Server).joinGroup},
		{12, "Heartbeat", 0, 4, 0, (*Server).heartbeat},
		{13, "LeaveGroup", 0, 5, 0, (*Server).leaveGroup},
		{14, "SyncGroup", 0, 5, 0, (*Server).syncGroup},
		{15, "DescribeGroups", 0, 6, 0, (*Server).describeGroups},
		{16, "ListGroups", 0, 5, 0, (*Server).listGroups},
		{18, "ApiVersions", 0, 5, 0, (*Server).apiVersions},
		{19, "CreateTopics", 0, 7, 0, (*Server).createTopics},
		{20, "DeleteTopics", 0, 6, 0, (*Server).deleteTopics},
		{21, "DeleteRecords", 0, 2, 0, (*Server).deleteRecords},
		{22, "InitProducerId", 0, 5, 0, (*Server).initProducerID},
		{23, "OffsetForLeaderEpoch", 0, 4, 0, (*Server).offsetForLeaderEpoch},
		{29, "DescribeAcls", 0, 3, 0, (*Server).describeACLs},
		{32, "DescribeConfigs", 0, 4, 0, (*Server).describeConfigs},
		{33, "AlterConfigs", 0, 2, 0, (*Server).alterConfigs},
		{35, "DescribeLogDirs", 0, 5, 0, (*Server).describeLogDirs},
		{37, "CreatePartitions", 0, 3, 0, (*Server).createPartitions},
		{42, "DeleteGroups", 0, 3, 0, (*Server).deleteGroups},
		{43, "ElectLeaders", 0, 2, 0, (*Server).electLeaders},
		{44, "IncrementalAlterConfigs", 0, 1, 0, (*Server).incrementalAlterConfigs},
		{46, "ListPartitionReassignments", 0, 0, 0, (*Server).listPartitionReassignments},
		{47, "OffsetDelete", 0, 0, 0, (*Server).offsetDelete},
		{48, "DescribeClientQuotas", 0, 1, 0, (*Server).describeClientQuotas},
		{50, "DescribeUserScramCredentials", 0, 0, 0, (*Server).describeUserSCRAMCredentials},
		{60, "DescribeCluster", 0, 2, 0, (*Server).describeCluster},
		{61, "DescribeProducers", 0, 0, 0, (*Server).describeProducers},
		{68, "ConsumerGroupHeartbeat", 0, 1, 0, (*Server).consumerGroupHeartbeat},
		{74, "ListConfigResources", 0, 1, 0, (*Server).listConfigResources},
		{75, "DescribeTopicPartitions", 0, 0, 0, (*Server).describeTopicPartitions},
	}
}

// Find returns the row that serves a version of an api, or nil.
func (s *Server) Find(key, version int16) *Row {
	i, ok := slices.BinarySearchFunc(s.rows, key, func(r Row, key int16) int { return int(r.Key) - int(key) })
	if !ok || version < s.rows[i].Min || version > s.rows[i].Max {
		return nil
	}
	return &s.rows[i]
}

// advertised is the table as ApiVersions tells it.
func advertised(rows []Row) []protocol.API {
	list := make([]protocol.API, 0, len(rows))
	for _, r := range rows {
		list = append(list, protocol.API{Key: r.Key, Min: r.Advertised, Max: r.Max})
	}
	return list
}
