package main

import (
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// poor is a broker that has nothing but ApiVersions and Metadata.
func poor(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	return listener.Addr().String()
}

// answer tells a client of its few apis, and that it is the only broker.
func answer(conn net.Conn) {
	defer conn.Close()
	for {
		head := make([]byte, 12)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		size := int(head[0])<<24 | int(head[1])<<16 | int(head[2])<<8 | int(head[3])
		if _, err := io.CopyN(io.Discard, conn, int64(size-8)); err != nil {
			return
		}
		body := append([]byte(nil), head[8:12]...)
		switch key := int16(head[5]); key {
		case kmsg.ApiVersions.Int16():
			resp := kmsg.NewPtrApiVersionsResponse()
			if head[7] > 0 {
				resp.ErrorCode = 35
			}
			resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: 18, MaxVersion: 0}, {ApiKey: 3, MinVersion: 1, MaxVersion: 1}}
			body = resp.AppendTo(body)
		case kmsg.Metadata.Int16():
			resp := kmsg.NewPtrMetadataResponse()
			resp.Version = 1
			host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
			resp.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: host, Port: int32(conn.LocalAddr().(*net.TCPAddr).Port)}}
			resp.ControllerID = 1
			body = resp.AppendTo(body)
		default:
			return
		}
		n := len(body)
		if _, err := conn.Write(append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)); err != nil {
			return
		}
	}
}
