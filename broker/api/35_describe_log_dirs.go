package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// memoryDir is the name of the only log directory of a broker that has none.
const memoryDir = "(memory)"

// DescribeLogDirs (key 35), versions 0 to 5.
//
//	v0  the first (KIP-113)
//	v1  throttling after the answer
//	v2  flexible
//	v3  an error for the whole answer (KIP-784)
//	v4  bytes of the volume (KIP-827), which are not known here: -1, as Kafka says then
//	v5  whether the directory is cordoned (KIP-1066), which it never is
//
// There is one directory, and a partition's size is that of its segments: the journal that protects all partitions
// belongs to none of them. Partitions that do not exist are left out, as in Kafka.
// Source: ReplicaManager.describeLogDirs
func (s *Server) describeLogDirs(_ context.Context, c *Call) (kmsg.Response, error) {
	req := c.Request.(*kmsg.DescribeLogDirsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	resp.Default()
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir = cmp.Or(s.Settings.LogDir, memoryDir)
	wanted := map[string]map[int32]bool{}
	for _, t := range req.Topics {
		if wanted[t.Topic] == nil {
			wanted[t.Topic] = map[int32]bool{}
		}
		for _, index := range t.Partitions {
			wanted[t.Topic][index] = true
		}
	}
	for _, t := range s.Store.Topics() {
		answer := kmsg.NewDescribeLogDirsResponseDirTopic()
		answer.Topic = t.Name
		for _, p := range t.Partitions {
			if t.Deleting || (req.Topics != nil && !wanted[t.Name][p.Index()]) {
				continue
			}
			partition := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			partition.Partition, partition.Size = p.Index(), p.Size()
			answer.Partitions = append(answer.Partitions, partition)
		}
		if len(answer.Partitions) > 0 {
			dir.Topics = append(dir.Topics, answer)
		}
	}
	slices.SortFunc(dir.Topics, func(a, b kmsg.DescribeLogDirsResponseDirTopic) int { return cmp.Compare(a.Topic, b.Topic) })
	resp.Dirs = append(resp.Dirs, dir)
	return resp, nil
}
