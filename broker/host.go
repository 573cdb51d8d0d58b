package broker

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// javaHost is how Kafka stores and prints a peer: Java's InetAddress.toString, with a leading slash and IPv6 written out
// without any shortening.
func javaHost(addr net.Addr) string {
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		host, _ := splitAddr(addr)
		return "/" + host
	}
	ip := ap.Addr().Unmap()
	if ip.Is4() {
		return "/" + ip.String()
	}
	var b strings.Builder
	for i, sixteen := 0, ip.As16(); i < 16; i += 2 {
		sep := ":"
		if i == 0 {
			sep = "/"
		}
		fmt.Fprintf(&b, "%s%x", sep, uint16(sixteen[i])<<8|uint16(sixteen[i+1]))
	}
	return b.String()
}

// splitAddr is host and port of an address; port 0 where there is none.
func splitAddr(addr net.Addr) (host string, port int32) {
	host, text, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String(), 0
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return host, 0
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	return host, int32(n)
}
