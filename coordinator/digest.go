package coordinator

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"slices"
	"strings"
)

// Digest is a hash of the hard state: two cores that were given the same records have the same one, whatever else
// happened to them. Groups that no record speaks of do not count.
func (c *Core) Digest() uint64 {
	groups := slices.Clone(c.order)
	slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.id, b.id) })
	d := digest{fnv.New64a()}
	for _, g := range groups {
		if g.record == nil && len(g.offsets) == 0 {
			continue
		}
		d.str(g.id)
		d.group(g.record)
		for _, t := range g.offsets {
			d.str(t.topic)
			for i := range t.partitions {
				d.offset(&t.partitions[i])
			}
		}
	}
	return d.Sum64()
}

type digest struct{ hash.Hash64 }

func (d digest) num(n int64) { d.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func (d digest) str(s string) {
	d.num(int64(len(s)))
	d.Write([]byte(s))
}

func (d digest) optional(s *string) {
	if s == nil {
		d.num(-1)
		return
	}
	d.str(*s)
}

func (d digest) group(r *GroupRecord) {
	if r == nil {
		d.num(-1)
		return
	}
	d.str(r.ProtocolType)
	d.num(int64(r.Generation))
	d.optional(r.Protocol)
	d.optional(r.Leader)
	d.num(r.StateTimestamp)
	for i := range r.Members {
		m := &r.Members[i]
		d.str(m.MemberID)
		d.optional(m.InstanceID)
		d.str(m.ClientID)
		d.str(m.ClientHost)
		d.num(int64(m.RebalanceTimeout))
		d.num(int64(m.SessionTimeout))
		d.str(string(m.Subscription))
		d.str(string(m.Assignment))
	}
}

func (d digest) offset(o *committed) {
	d.num(int64(o.partition))
	d.num(o.offset)
	d.num(int64(o.leaderEpoch))
	d.str(o.metadata)
	d.num(o.commitTimestamp)
	d.num(o.expireTimestamp)
}
