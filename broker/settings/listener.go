package settings

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Listener is one address with its listener name, as in PLAINTEXT://127.0.0.1:9092.
type Listener struct {
	Name string
	Host string // "" for all interfaces
	Port int32
}

// Addr returns HOST:PORT, as net.Listen takes it.
func (l Listener) Addr() string { return net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port))) }

// Advertised returns the address that clients of a listener are told, and false when nothing was advertised: then they
// are told the address that they connected to. A single advertised address serves every listener.
func (s *Settings) Advertised(listener string) (host string, port int32, ok bool) {
	for _, l := range s.AdvertisedListeners {
		if l.Name == listener || len(s.AdvertisedListeners) == 1 {
			return l.Host, l.Port, true
		}
	}
	return "", 0, false
}

// settle checks what concerns more than one property and derives what needs more than a number.
func (s *Settings) settle() error {
	if err := s.settleListeners(); err != nil {
		return err
	}
	dirs := s.list("log.dirs")
	if len(dirs) > 1 {
		return s.bad("log.dirs", "must be one directory, for one journal protects all partitions", "name one directory")
	}
	if len(dirs) == 1 {
		s.LogDir = dirs[0]
	}
	if s.QueuedMaxRequestBytes <= 0 {
		s.QueuedMaxRequestBytes = 1<<63 - 1
	}
	for _, pair := range [][2]string{
		{"group.min.session.timeout.ms", "group.max.session.timeout.ms"},
		{"group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms"},
		{"group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
		{"group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"},
		{"group.consumer.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"},
		{"group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"},
	} {
		if s.number(pair[0]) > s.number(pair[1]) {
			return s.bad(pair[1], fmt.Sprintf("must be at least %s, which is %s", pair[0], s.values[pair[0]].text),
				"raise the one or lower the other")
		}
	}
	return s.settleTopics()
}

// settleListeners parses the addresses and leaves those of controllers out.
func (s *Settings) settleListeners() error {
	protocols := map[string]string{}
	for _, entry := range s.list("listener.security.protocol.map") {
		name, protocol, _ := strings.Cut(entry, ":")
		protocols[strings.TrimSpace(name)] = strings.TrimSpace(protocol)
	}
	controllers := s.list("controller.listener.names")
	parse := func(property string, advertised bool) ([]Listener, error) {
		if !s.IsExplicit(property) {
			return nil, nil
		}
		var listeners []Listener
		for _, text := range s.list(property) {
			l, reason := parseListener(text, protocols, advertised)
			if slices.Contains(controllers, l.Name) {
				continue
			}
			if reason != "" {
				return nil, s.bad(property, reason, "write it as PLAINTEXT://HOST:PORT")
			}
			listeners = append(listeners, l)
		}
		return listeners, nil
	}
	var err error
	if s.Listeners, err = parse("listeners", false); err != nil {
		return err
	}
	s.AdvertisedListeners, err = parse("advertised.listeners", true)
	return err
}

// parseListener reads NAME://HOST:PORT. The name is set even when there is a reason to refuse the rest.
func parseListener(text string, protocols map[string]string, advertised bool) (l Listener, reason string) {
	name, addr, found := strings.Cut(text, "://")
	if !found {
		return l, fmt.Sprintf("%q has no NAME://", text)
	}
	l.Name = strings.ToUpper(name)
	protocol := protocols[l.Name]
	if protocol == "" {
		protocol = l.Name
	}
	switch protocol {
	case "SSL", "SASL_SSL", "SASL_PLAINTEXT":
		return l, fmt.Sprintf("listener %s is %s and this broker speaks PLAINTEXT only", l.Name, protocol)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return l, fmt.Sprintf("%q has no HOST:PORT", text)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return l, fmt.Sprintf("port %q is not from 0 to 65535", port)
	}
	if advertised && (host == "" || net.ParseIP(host).IsUnspecified() || n == 0) {
		return l, fmt.Sprintf("%q is no address that a client can connect to", text)
	}
	l.Host, l.Port = host, int32(n)
	return l, ""
}

// bad returns the error for a value that is wrong together with others.
func (s *Settings) bad(name, reason, remedy string) error {
	v := s.values[name]
	return &ValueError{Name: name, Value: v.text, Source: v.source, Reason: reason, Remedy: remedy}
}

// list returns the elements of a list property.
func (s *Settings) list(name string) []string {
	if v := s.values[name]; v.whole {
		return []string{v.text}
	}
	return splitList(s.values[name].text)
}

// number returns the value of a whole-number property.
func (s *Settings) number(name string) int64 {
	n, err := strconv.ParseInt(s.values[name].text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("settings: %s is not a number: %v", name, err))
	}
	return n
}
