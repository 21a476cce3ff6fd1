package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// DefaultPort is where a browser finds the tower unless config.toml or another program says otherwise.
const DefaultPort = 7433

const portsTried = 20

// Listen binds loopback on port, or on the next free one above it, or on any for port 0; the url tells
// which. ::1 is bound on the same port when the machine has it, so that nobody else can stand there and
// pose as the tower for a browser that tries IPv6 first. When nothing can be bound the error names the
// first reason.
func Listen(ctx context.Context, port int) (tcp []net.Listener, url string, err error) {
	var first error
	six := hasLoopback6()
	for try := range portsTried {
		p := port
		if port != 0 {
			if p += try; p > 65535 {
				break
			}
		}
		tcp, err := bind(ctx, p, six)
		if err == nil {
			return tcp, fmt.Sprintf("http://127.0.0.1:%d", tcp[0].Addr().(*net.TCPAddr).Port), nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if first == nil {
		first = errors.New("no port left")
	}
	return nil, "", fmt.Errorf("bind loopback port %d: %w", port, first)
}

func bind(ctx context.Context, port int, six bool) ([]net.Listener, error) {
	var c net.ListenConfig
	four, err := c.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil || !six {
		return []net.Listener{four}, err
	}
	port = four.Addr().(*net.TCPAddr).Port
	other, err := c.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	if err != nil {
		four.Close()
		return nil, err
	}
	return []net.Listener{four, other}, nil
}

// hasLoopback6 tells whether ::1 exists here; containers and hardened machines often lack it.
func hasLoopback6() bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(net.IPv6loopback) {
			return true
		}
	}
	return false
}
