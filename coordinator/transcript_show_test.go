package coordinator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// show prints effects, and lets the clients learn from their answers.
func (r *runner) show(e Effects, prefix string) string {
	r.log = append(r.log, e.Records...)
	for _, reply := range e.Replies {
		r.learn(reply)
	}
	var lines []string
	for _, rec := range e.Records {
		lines = append(lines, "record "+r.recordText(rec))
	}
	for _, reply := range e.Replies {
		if r.answered[reply.Token] {
			r.t.Errorf("token %d is answered twice", reply.Token)
		}
		r.answered[reply.Token] = true
		lines = append(lines, "reply  "+r.senders[reply.Token]+": "+r.replyText(reply.Response))
	}
	for _, n := range e.Notes {
		lines = append(lines, "note   "+n.String())
	}
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(prefix + r.rename(line) + "\n")
	}
	return out.String()
}

// learn does what a client does with an answer to its JoinGroup.
func (r *runner) learn(reply Reply) {
	resp, ok := reply.Response.(*kmsg.JoinGroupResponse)
	if !ok {
		return
	}
	c := r.clients[r.senders[reply.Token]]
	if resp.ErrorCode != 0 && resp.ErrorCode != kerr.MemberIDRequired.Code {
		return
	}
	uuid := uuidPattern.FindString(resp.MemberID)
	if uuid == "" {
		return
	}
	c.memberID = resp.MemberID
	if resp.ErrorCode == 0 {
		c.generation = resp.Generation
		c.leads = resp.LeaderID == resp.MemberID
	}
	r.nameID(c, uuid)
}

func (r *runner) nameID(c *client, uuid string) {
	if c == nil || r.names[c.memberID] != "" {
		return
	}
	c.ids++
	name := c.name
	if c.ids > 1 {
		name += strconv.Itoa(c.ids)
	}
	r.names[c.memberID] = name
}

// rename replaces the random part of member ids by the clients' names.
func (r *runner) rename(line string) string {
	ids := make([]string, 0, len(r.names))
	for id := range r.names {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		uuid := uuidPattern.FindString(id)
		line = strings.ReplaceAll(line, uuid, "<"+r.names[id]+">")
	}
	return uuidPattern.ReplaceAllString(line, "<?>")
}

func (r *runner) since(ms int64) string {
	if ms < 0 {
		return "none"
	}
	return time.UnixMilli(ms).Sub(r.start).String()
}

func (r *runner) recordText(rec Record) string {
	switch rec := rec.(type) {
	case *OffsetRecord:
		if rec.Tombstone {
			return fmt.Sprintf("offset %s %s-%d tombstone", rec.Group, rec.Topic, rec.Partition)
		}
		s := fmt.Sprintf("offset %s %s-%d = %d epoch %d at %s", rec.Group, rec.Topic, rec.Partition, rec.Offset, rec.LeaderEpoch, r.since(rec.CommitTimestamp))
		if rec.Metadata != "" {
			s += " metadata " + short(rec.Metadata)
		}
		if rec.ExpireTimestamp >= 0 {
			s += " expires " + r.since(rec.ExpireTimestamp)
		}
		return s
	case *GroupRecord:
		if rec.Tombstone {
			return "group " + rec.Group + " tombstone"
		}
		s := fmt.Sprintf("group %s type %q generation %d protocol %s leader %s since %s", rec.Group, rec.ProtocolType, rec.Generation,
			null(rec.Protocol), null(rec.Leader), r.since(rec.StateTimestamp))
		for _, m := range rec.Members {
			s += fmt.Sprintf("\n         member %s instance %s client %q %s rebalance %d session %d subscription %s assignment %s",
				m.MemberID, null(m.InstanceID), m.ClientID, m.ClientHost, m.RebalanceTimeout, m.SessionTimeout, text(m.Subscription), text(m.Assignment))
		}
		return s
	}
	panic("unknown record")
}

func null(s *string) string {
	if s == nil {
		return "null"
	}
	return strconv.Quote(*s)
}

func short(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q... (%d bytes)", s[:8], len(s))
	}
	return strconv.Quote(s)
}

func text(b []byte) string { return short(string(b)) }

func errorText(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.TypedErrorForCode(code).Message
}

func (r *runner) replyText(resp kmsg.Response) string {
	switch resp := resp.(type) {
	case nil:
		return "done"
	case *kmsg.JoinGroupResponse:
		s := fmt.Sprintf("JoinGroup %s generation %d type %s protocol %s leader %q member %q", errorText(resp.ErrorCode), resp.Generation,
			null(resp.ProtocolType), null(resp.Protocol), resp.LeaderID, resp.MemberID)
		if resp.SkipAssignment {
			s += " skip-assignment"
		}
		for _, m := range resp.Members {
			s += fmt.Sprintf("\n         member %s instance %s metadata %s", m.MemberID, null(m.InstanceID), text(m.ProtocolMetadata))
		}
		return s
	case *kmsg.SyncGroupResponse:
		return fmt.Sprintf("SyncGroup %s type %s protocol %s assignment %s", errorText(resp.ErrorCode), null(resp.ProtocolType), null(resp.Protocol), text(resp.MemberAssignment))
	case *kmsg.HeartbeatResponse:
		return "Heartbeat " + errorText(resp.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		s := "LeaveGroup " + errorText(resp.ErrorCode)
		for _, m := range resp.Members {
			s += fmt.Sprintf("\n         member %q instance %s %s", m.MemberID, null(m.InstanceID), errorText(m.ErrorCode))
		}
		return s
	case *kmsg.OffsetCommitResponse:
		s := "OffsetCommit"
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s += fmt.Sprintf(" %s-%d %s", t.Topic, p.Partition, errorText(p.ErrorCode))
			}
		}
		return s
	case *kmsg.OffsetFetchResponse:
		s := "OffsetFetch " + errorText(resp.Groups[0].ErrorCode) + " group " + strconv.Quote(resp.Groups[0].Group)
		for _, t := range resp.Groups[0].Topics {
			for _, p := range t.Partitions {
				s += fmt.Sprintf("\n         %s-%d %d epoch %d metadata %s %s", t.Topic, p.Partition, p.Offset, p.LeaderEpoch, short(*p.Metadata), errorText(p.ErrorCode))
			}
		}
		return s
	case *kmsg.OffsetDeleteResponse:
		s := "OffsetDelete " + errorText(resp.ErrorCode)
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s += fmt.Sprintf(" %s-%d %s", t.Topic, p.Partition, errorText(p.ErrorCode))
			}
		}
		return s
	case *kmsg.DeleteGroupsResponse:
		s := "DeleteGroups"
		for _, g := range resp.Groups {
			s += fmt.Sprintf(" %q %s", g.Group, errorText(g.ErrorCode))
		}
		return s
	}
	return r.adminText(resp)
}

func (r *runner) adminText(resp kmsg.Response) string {
	s := ""
	switch resp := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		s = "DescribeGroups"
		for _, g := range resp.Groups {
			s += fmt.Sprintf("\n         %s %s message %s state %q type %q protocol %q operations %d", g.Group, errorText(g.ErrorCode), null(g.ErrorMessage),
				g.State, g.ProtocolType, g.Protocol, g.AuthorizedOperations)
			for _, m := range g.Members {
				s += fmt.Sprintf("\n         member %s instance %s client %q host %q metadata %s assignment %s", m.MemberID, null(m.InstanceID),
					m.ClientID, m.ClientHost, text(m.ProtocolMetadata), text(m.MemberAssignment))
			}
		}
	case *kmsg.ListGroupsResponse:
		s = "ListGroups " + errorText(resp.ErrorCode)
		for _, g := range resp.Groups {
			s += fmt.Sprintf("\n         %s type %q state %s kind %s", g.Group, g.ProtocolType, g.GroupState, g.GroupType)
		}
	default:
		s = fmt.Sprintf("%T", resp)
	}
	return s
}

// state prints what the core holds of a group.
func (r *runner) state(id string) string {
	g := r.core.groups[id]
	if g == nil {
		return id + ": no such group\n"
	}
	s := fmt.Sprintf("%s: %s generation %d type %q protocol %q leader %q", g.id, g.state, g.generation, g.protocolType, g.protocol, g.leaderID())
	if len(g.pending) > 0 {
		s += fmt.Sprintf(" pending %d", len(g.pending))
	}
	s += "\n"
	for _, m := range g.members {
		s += "  member " + m.id
		if m.instanceID != nil {
			s += " instance " + *m.instanceID
		}
		if m.join.waits {
			s += " joins"
		}
		if m.sync.waits {
			s += " syncs"
		}
		if m.isNew {
			s += " new"
		}
		if m.awaitsSync {
			s += " not-synced"
		}
		if m.timer.index != unqueued {
			s += " until " + time.Unix(0, m.timer.at).Sub(r.start).String()
		}
		s += " assignment " + text(m.assignment) + "\n"
	}
	for _, t := range g.offsets {
		for _, o := range t.partitions {
			s += fmt.Sprintf("  offset %s-%d = %d\n", t.topic, o.partition, o.offset)
		}
	}
	return r.rename(s)
}
