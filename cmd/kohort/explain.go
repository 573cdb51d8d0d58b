package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// explain turns what can go wrong at the start into a sentence with a remedy.
func explain(err error, addr string) error {
	host, port, splitErr := net.SplitHostPort(addr)
	if splitErr != nil {
		return err
	}
	free := net.JoinHostPort(host, "0")
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %s of %s is taken by another program; stop it or take a free port with --addr %s", port, shown(host), free)
	case errors.Is(err, syscall.EACCES) && errors.As(err, new(*net.OpError)):
		return fmt.Errorf("port %s is not open to this user; take another one, for example with --addr %s", port, free)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine; give --addr one that is, for example 127.0.0.1:%s", host, port)
	}
	return err
}

// shown returns a host for a sentence.
func shown(host string) string {
	if host == "" {
		return "this machine"
	}
	return host
}

// sentence puts an error on one line.
func sentence(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
