package codex

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tower/core"
)

// fakeDaemon speaks the server's half of the protocol on a socket where the agent has it.
type fakeDaemon struct {
	t      *testing.T
	mu     sync.Mutex
	calls  []string
	status map[string]string // thread id -> the rest of its description
	accept string            // what to answer in the handshake, "" = the right thing
	silent bool              // shake hands, then say nothing
	noise  []string          // sent before the answers
	split  int               // bytes a frame, 0 = one frame
	conns  sync.WaitGroup
}

func (h *home) daemon(d *fakeDaemon) *fakeDaemon {
	h.t.Helper()
	d.t = h.t
	dir, err := os.MkdirTemp("", "cx") // a socket's path has to be short
	if err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		h.t.Fatal(err)
	}
	link := h.a.socket()
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		h.t.Fatal(err)
	}
	d.conns.Add(1)
	go func() {
		defer d.conns.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.conns.Add(1)
			go func() { defer d.conns.Done(); defer c.Close(); d.serve(c) }()
		}
	}()
	h.t.Cleanup(func() { l.Close(); d.conns.Wait(); os.RemoveAll(dir) })
	return d
}

func (d *fakeDaemon) serve(c net.Conn) {
	in := bufio.NewReader(c)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + acceptGUID))
	accept := base64.StdEncoding.EncodeToString(sum[:])
	if d.accept != "" {
		accept = d.accept
	}
	fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", accept)
	for {
		op, data, err := unmask(in)
		if err != nil || op == opClose {
			return
		}
		if op == opPong {
			d.note("pong " + string(data))
			continue
		}
		var call struct {
			ID     int
			Method string
			Params struct{ ThreadID string }
		}
		if err := json.Unmarshal(data, &call); err != nil {
			d.t.Errorf("daemon was sent %q: %v", data, err)
			return
		}
		d.note(call.Method)
		if d.silent {
			continue
		}
		switch call.Method {
		case "initialize":
			d.send(c, `{"id":1,"result":{"userAgent":"x"}}`)
			for _, n := range d.noise {
				d.send(c, n)
			}
		case "thread/read":
			if more, ok := d.status[call.Params.ThreadID]; ok {
				d.send(c, fmt.Sprintf(`{"id":%d,"result":{"thread":{"id":%q,%s}}}`, call.ID, call.Params.ThreadID, more))
			} else {
				d.send(c, fmt.Sprintf(`{"error":{"code":-32600,"message":"thread not loaded"},"id":%d}`, call.ID))
			}
		}
	}
}

func (d *fakeDaemon) note(s string) { d.mu.Lock(); d.calls = append(d.calls, s); d.mu.Unlock() }

func (d *fakeDaemon) heard() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.calls...)
}

func (d *fakeDaemon) send(c net.Conn, text string) {
	if d.split > 0 && len(text) < 10000 {
		for i := 0; i < len(text); i += d.split {
			end := min(i+d.split, len(text))
			op := byte(0)
			if i == 0 {
				op = opText
			}
			if end == len(text) {
				op |= 0x80
			}
			c.Write(plainFrame(op, []byte(text[i:end])))
			c.Write(plainFrame(0x80|opPing, []byte("p")))
		}
		return
	}
	c.Write(plainFrame(0x80|opText, []byte(text)))
}

func plainFrame(first byte, data []byte) []byte {
	b := []byte{first}
	switch n := len(data); {
	case n < 126:
		b = append(b, byte(n))
	case n <= 0xffff:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, data...)
}

// unmask reads a client's frame.
func unmask(in *bufio.Reader) (op byte, data []byte, err error) {
	var h [2]byte
	if _, err = io.ReadFull(in, h[:]); err != nil {
		return 0, nil, err
	}
	if h[0]&0x80 == 0 || h[1]&0x80 == 0 {
		return 0, nil, errors.New("a client's frame has to be whole and masked")
	}
	n := uint64(h[1] & 0x7f)
	switch n {
	case 126:
		var w [2]byte
		_, err = io.ReadFull(in, w[:])
		n = uint64(binary.BigEndian.Uint16(w[:]))
	case 127:
		var w [8]byte
		_, err = io.ReadFull(in, w[:])
		n = binary.BigEndian.Uint64(w[:])
	}
	if err != nil {
		return 0, nil, err
	}
	var mask [4]byte
	if _, err = io.ReadFull(in, mask[:]); err != nil {
		return 0, nil, err
	}
	data = make([]byte, n)
	if _, err = io.ReadFull(in, data); err != nil {
		return 0, nil, err
	}
	for i := range data {
		data[i] ^= mask[i%4]
	}
	return h[0] & 0x0f, data, nil
}

// shared makes a home in which a daemon holds three threads, one of them at work as its rollout shows.
func shared(t *testing.T) *home {
	h := newHome(t)
	h.tab.add(20, 1, server, server, "app-server", "--listen", "unix://", "--managed-daemon")
	for _, id := range []string{t1, t2, t3} {
		h.lock(id, 20, early)
	}
	h.rollout(t1, begun(t1, task("20:03", "task_started")))
	return h
}

func (h *home) pills() map[string]string {
	all := map[string]string{}
	for _, s := range h.evidence() {
		all[s.Native] = strings.TrimSpace(string(s.Pill) + " " + string(s.Wait))
		if s.Final {
			all[s.Native] += " final"
		}
	}
	return all
}

func same(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestDaemonFlags(t *testing.T) {
	const idle = `"parentThreadId":null,"cwd":"/of/the/daemon","status":{"type":"idle"}`
	for name, c := range map[string]struct {
		status map[string]string
		want   map[string]string
	}{
		"waiting for an approval, idle, unknown": {
			map[string]string{t1: `"status":{"type":"active","activeFlags":["waitingOnApproval"]}`, t2: idle},
			map[string]string{t1: "waiting permission final", t2: "idle final", t3: "idle"},
		},
		"waiting for an answer, working, broken": {
			map[string]string{t1: `"status":{"type":"active","activeFlags":["waitingOnUserInput"]}`, t2: `"status":{"type":"active","activeFlags":[]}`, t3: `"status":{"type":"systemError"}`},
			map[string]string{t1: "waiting question final", t2: "working final", t3: "other final"},
		},
		"not loaded says nothing": {
			map[string]string{t1: `"status":{"type":"notLoaded"}`},
			map[string]string{t1: "working", t2: "idle", t3: "idle"},
		},
		"a sub-agent without a rollout": {
			map[string]string{t2: `"parentThreadId":"` + t1 + `","status":{"type":"idle"}`},
			map[string]string{t1: "working", t3: "idle"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := shared(t)
			d := h.daemon(&fakeDaemon{status: c.status})
			if got := h.pills(); !same(got, c.want) {
				t.Errorf("pills = %v, want %v", got, c.want)
			}
			for _, call := range d.heard() {
				if call != "initialize" && call != "initialized" && call != "thread/read" {
					t.Errorf("the daemon was asked to %q: only questions are allowed", call)
				}
			}
		})
	}
	h := shared(t)
	h.daemon(&fakeDaemon{status: map[string]string{t2: idle}})
	for _, s := range h.evidence() {
		if s.Native == t2 && s.CWD != "/of/the/daemon" {
			t.Errorf("cwd of an empty composer = %q", s.CWD)
		}
	}
}

func TestDaemonFrames(t *testing.T) {
	h := shared(t)
	d := h.daemon(&fakeDaemon{
		split: 7,
		noise: []string{`{"method":"configWarning","params":{"id":2}}`, `not json`, `{"id":"2","result":{}}`, `{"id":99}`, `{"method":"x","params":"` + strings.Repeat("y", 70000) + `"}`},
		status: map[string]string{
			t1: `"status":{"type":"idle"},"preview":"` + strings.Repeat("long ", 100) + `"`, t2: `"status":{"type":"active"}`, t3: `"status":{"type":"idle"}`,
		},
	})
	if got, want := h.pills(), map[string]string{t1: "idle final", t2: "working final", t3: "idle final"}; !same(got, want) {
		t.Errorf("pills = %v, want %v", got, want)
	}
	found := false
	for _, call := range d.heard() {
		found = found || call == "pong p"
	}
	if !found {
		t.Errorf("a ping was not answered: %v", d.heard())
	}
}

func TestDaemonThatDoesNotAnswer(t *testing.T) {
	want := map[string]string{t1: "working", t2: "idle", t3: "idle"}
	for name, d := range map[string]*fakeDaemon{
		"silent":        {silent: true},
		"not WebSocket": {accept: "no"},
		"no socket":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			h := shared(t)
			if d != nil {
				h.daemon(d)
			}
			begin := time.Now()
			if got := h.pills(); !same(got, want) {
				t.Errorf("pills = %v, want what the rollouts show: %v", got, want)
			}
			if took := time.Since(begin); took > 3*askTime {
				t.Errorf("a poll waited %v", took)
			}
			before := 0
			if d != nil {
				before = len(d.heard())
			}
			if got := h.pills(); !same(got, want) {
				t.Errorf("pills of the second poll = %v", got)
			}
			if d != nil && len(d.heard()) != before {
				t.Error("a daemon that did not answer is asked again at once")
			}
		})
	}
}

func TestDaemonIsNotAskedForOthers(t *testing.T) {
	h := newHome(t)
	h.tab.add(11, 1, native, native, "--no-daemon")
	h.lock(t1, 11, early)
	d := h.daemon(&fakeDaemon{})
	h.evidence()
	if calls := d.heard(); len(calls) != 0 {
		t.Errorf("no thread is the daemon's, yet it heard %v", calls)
	}
}

func TestSocketRefuses(t *testing.T) {
	for name, frame := range map[string][]byte{
		"a masked frame":   {0x81, 0x80, 0, 0, 0, 0},
		"a giant":          {0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0},
		"a close":          {0x88, 0},
		"half a header":    {0x81},
		"half a length":    {0x81, 126, 0},
		"half a payload":   {0x81, 5, 'a'},
		"giants in pieces": append(plainFrame(opText, bytes.Repeat([]byte("x"), 3<<20)), plainFrame(0x80, bytes.Repeat([]byte("x"), 3<<20))...),
	} {
		t.Run(name, func(t *testing.T) {
			s := &socket{in: bufio.NewReader(bytes.NewReader(frame))}
			if b, err := s.read(); err == nil {
				t.Errorf("read = %q", b)
			}
		})
	}
	if _, err := ask(context.Background(), filepath.Join(t.TempDir(), "none"), []string{t1}); err == nil {
		t.Error("a socket that is not there is no error")
	}
}

func FuzzSocket(f *testing.F) {
	f.Add(plainFrame(0x81, []byte("hello")))
	f.Add(append(plainFrame(0x01, []byte("he")), plainFrame(0x80, []byte("llo"))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() { io.Copy(io.Discard, theirs); theirs.Close() }()
		s := &socket{conn: ours, in: bufio.NewReader(bytes.NewReader(b))}
		for {
			if _, err := s.read(); err != nil {
				return
			}
		}
	})
}

var _ core.Table = (*table)(nil)
