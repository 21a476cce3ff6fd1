package web

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestListenIsLoopbackOnly(t *testing.T) {
	tcp, url, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	port := tcp[0].Addr().(*net.TCPAddr).Port
	for _, l := range tcp {
		defer l.Close()
		a := l.Addr().(*net.TCPAddr)
		if !a.IP.IsLoopback() || a.Port != port {
			t.Errorf("Listen() bound %s, want loopback on port %d", a, port)
		}
	}
	if want := 1; hasLoopback6() && len(tcp) != want+1 || !hasLoopback6() && len(tcp) != want {
		t.Errorf("Listen() bound %d addresses; ::1 here: %v", len(tcp), hasLoopback6())
	}
	if url != fmt.Sprintf("http://127.0.0.1:%d", port) {
		t.Errorf("url = %q", url)
	}
}

func TestListenTakesTheNextFreePort(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	tcp, url, err := Listen(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tcp {
		defer l.Close()
	}
	got := tcp[0].Addr().(*net.TCPAddr).Port
	if got <= port || got >= port+portsTried || !strings.HasSuffix(url, fmt.Sprint(":", got)) {
		t.Errorf("Listen(%d) = port %d, url %s", port, got, url)
	}
	// Where only ::1 is taken the port is not used either: somebody else would stand there.
	if !hasLoopback6() {
		return
	}
	six, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer six.Close()
	p := six.Addr().(*net.TCPAddr).Port
	tcp, _, err = Listen(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range tcp {
		defer l.Close()
	}
	if got := tcp[0].Addr().(*net.TCPAddr).Port; got == p {
		t.Errorf("Listen(%d) took the port of another program on ::1", p)
	}
}

func TestListenSaysWhy(t *testing.T) {
	// There is no port behind the last one.
	if l, err := net.Listen("tcp4", "127.0.0.1:65535"); err == nil {
		defer l.Close()
	}
	if _, _, err := Listen(t.Context(), 65535); err == nil || !strings.HasPrefix(err.Error(), "bind loopback port 65535: ") || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Listen() = %v, want the reason", err)
	}
	if _, _, err := Listen(t.Context(), 70000); err == nil {
		t.Error("Listen(70000) = nil")
	}
}
