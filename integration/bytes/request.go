package offsetbytes

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request sends a request in one version, on a connection of its own. There is one broker, so it is the right one.
func request[R kmsg.Response](ctx context.Context, addr string, req kmsg.Request, version int16) (response R, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return response, err
	}
	defer func() { _ = conn.Close() }() // one request was all
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return response, err
		}
	}
	req.SetVersion(version)
	if _, err := conn.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID("by-hand")).AppendRequest(nil, req, 7)); err != nil {
		return response, err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(conn, head); err != nil {
		return response, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(req.Key()), version, err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return response, err
	}
	if req.IsFlexible() {
		body = body[1:] // no tags
	}
	kind := req.ResponseKind()
	if err := kind.ReadFrom(body); err != nil {
		return response, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(req.Key()), version, err)
	}
	return kind.(R), nil
}
