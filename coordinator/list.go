package coordinator

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupTypeClassic is the type of every group of this core, as ListGroups names it.
const groupTypeClassic = "classic"

// listGroups answers with the groups that pass the filters, by name. An empty filter passes all, an unknown word none.
//
// Source: KIP-518, KIP-848; spec 3.6; Kafka GroupMetadataManager.listGroups.
func (c *Core) listGroups(r *Request, req *kmsg.ListGroupsRequest) {
	resp := &kmsg.ListGroupsResponse{Version: req.Version, Groups: []kmsg.ListGroupsResponseGroup{}}
	typePasses := len(req.TypesFilter) == 0 || slices.ContainsFunc(req.TypesFilter, func(s string) bool {
		return strings.EqualFold(s, groupTypeClassic)
	})
	for _, g := range c.order {
		if typePasses && statePasses(req.StatesFilter, g.state) {
			resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{
				Group:        g.id,
				ProtocolType: g.protocolType,
				GroupState:   g.state.String(),
				GroupType:    groupTypeClassic,
			})
		}
	}
	slices.SortFunc(resp.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	c.reply(r.Token, resp)
}

// statePasses compares without case and surrounding blanks, as Kafka does for states (but not for types).
func statePasses(filter []string, s State) bool {
	return len(filter) == 0 || slices.ContainsFunc(filter, func(f string) bool {
		return strings.EqualFold(strings.TrimSpace(f), s.String())
	})
}
