package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// tower is a whole server on real listeners, and clients for its two kinds of doors.
type tower struct {
	*Server
	t      testing.TB
	engine *fakeEngine
	kept   *memory
	socket *http.Client
	stop   func()
}

// start serves the engine on loopback and on a socket until the test ends.
func start(t testing.TB, f *fakeEngine, change ...func(*Options)) *tower {
	t.Helper()
	// Not t.TempDir: its path is as long as the test's name, and a socket's path is short.
	dir, err := os.MkdirTemp("", "tw")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	kept := newMemory()
	o := Options{Engine: f, Build: "test", Secrets: kept}
	for _, c := range change {
		c(&o)
	}
	tcp, url, err := Listen(t.Context(), o.Port)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := o.Secrets.(*memory); ok {
		kept = m
	}
	w := &tower{Server: New(o), t: t, engine: f, kept: kept}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx, tcp, unix) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve() = %v", err)
		}
		done <- nil
	}
	w.socket = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	t.Cleanup(func() {
		w.stop()
		w.socket.CloseIdleConnections()
		os.Remove(path)
		os.Remove(dir)
	})
	// Serve takes the port from the listener before it answers; one answer proves that it has.
	if w.over("GET", "/api/live", "").Code != 200 {
		t.Fatal("the socket does not answer")
	}
	if url != w.URL() {
		t.Fatalf("Listen() = %q, URL() = %q", url, w.URL())
	}
	return w
}

// until waits for a condition that another goroutine brings about.
func (w *tower) until(ok func() bool) {
	w.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			w.t.Fatal("it never came to that")
		}
	}
}

// said is an answer read whole.
type said struct {
	Code   int
	Header http.Header
	Body   string
}

func (s said) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.Body), v); err != nil {
		t.Fatalf("answer %d %q: %v", s.Code, s.Body, err)
	}
}

// over asks through the socket.
func (w *tower) over(method, path, body string, headers ...string) said {
	w.t.Helper()
	return w.ask(w.socket, "http://tower", method, path, body, headers...)
}

// tcp asks on the canonical origin, as nobody unless headers say more.
func (w *tower) tcp(method, path, body string, headers ...string) said {
	w.t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w.ask(c, w.URL(), method, path, body, headers...)
}

func (w *tower) ask(c *http.Client, base, method, path, body string, headers ...string) said {
	w.t.Helper()
	var r io.Reader
	if body != "" {
		r = bytes.NewReader([]byte(body))
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base+path, r)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return said{res.StatusCode, res.Header, string(b)}
}

// ticket mints one through the socket.
func (w *tower) ticket(path string) string {
	w.t.Helper()
	b, _ := json.Marshal(map[string]string{"path": path})
	var v struct{ Ticket, URL string }
	a := w.over("POST", "/api/tickets", string(b))
	if a.Code != 200 {
		w.t.Fatalf("POST /api/tickets = %d %s", a.Code, a.Body)
	}
	a.into(w.t, &v)
	if v.URL != w.URL() {
		w.t.Errorf("ticket url = %q, want %q", v.URL, w.URL())
	}
	return v.Ticket
}
