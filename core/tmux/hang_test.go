//go:build unix

package tmux

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stop makes the server hang, and lets it go on at the latest with the test.
func (s *server) stop(pid int) (wake func()) {
	s.t.Helper()
	signal(s.t, pid, unix.SIGSTOP)
	stopped := true
	wake = func() {
		if stopped {
			stopped = false
			signal(s.t, pid, unix.SIGCONT)
		}
	}
	s.t.Cleanup(wake)
	return wake
}

func TestHang(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out, "bracketed")
	s.shows(p.ID, "READY")
	s.linked()
	wake := s.stop(p.ServerPID)

	type call struct {
		name string
		do   func() error
	}
	calls := []call{
		{"Panes", func() error { return second(s.Panes(t.Context())) }},
		{"Pane", func() error { _, ok, err := s.Pane(t.Context(), p.ID); return found(ok, err) }},
		{"Capture", func() error { return second(s.Capture(t.Context(), p.ID, 5)) }},
		{"Paste", func() error { return s.Paste(t.Context(), p.ID, "pasted while it hung") }},
		{"Enter", func() error { return s.Enter(t.Context(), p.ID) }},
		{"Kill", func() error { return s.Kill(t.Context(), "%9999") }},
		{"Clients", func() error { return second(s.Clients(t.Context())) }},
		{"Show", func() error { return s.Show(t.Context(), "/dev/pts/0", p.ID) }},
		{"Start", func() error {
			return second(s.Start(t.Context(), Start{ID: "y", Dir: s.dir, Argv: []string{"cat", "-u"}}))
		}},
		{"foreign Panes", func() error { return second(Foreign("", s.o.Socket).Panes(t.Context())) }},
		{"short of time", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			return second(s.Panes(ctx))
		}},
	}
	type result struct {
		name string
		err  error
		took time.Duration
	}
	results := make(chan result)
	for _, c := range calls {
		go func() {
			began := time.Now()
			err := c.do()
			results <- result{c.name, err, time.Since(began)}
		}()
	}
	for range calls {
		r := <-results
		if !errors.Is(r.err, ErrHung) || errors.Is(r.err, ErrNoServer) {
			t.Errorf("%s while the server hangs = %v, want ErrHung", r.name, r.err)
		}
		if r.took > 2*patience+time.Second {
			t.Errorf("%s took %v", r.name, r.took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Panes(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrHung) {
		t.Errorf("Panes of a caller that has left = %v", err)
	}

	wake()
	s.linked()
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 || panes[0].ID != p.ID || panes[0].PID != p.PID {
		t.Errorf("Panes after the hang = %+v, %v, want the one as before", panes, err)
	}
	if err := s.Enter(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Enter arrives", func() bool { return readFile(t, out) != "" })
	if got := readFile(t, out); got != "\r" {
		t.Errorf("the program got %q, want only what was sent after the hang", got)
	}
}

func found(ok bool, err error) error {
	if err == nil && !ok {
		return errors.New("told as gone")
	}
	return err
}

// TestTakenBack shows that a key which timed out is not pressed when the server goes on.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out, "bracketed")
	s.shows(p.ID, "READY")
	l := s.linked().current()
	wake := s.stop(p.ServerPID)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := l.do(ctx, []string{"send-keys", "-t", p.ID, "Enter"}); !errors.Is(err, ErrHung) {
		t.Fatalf("a key while the server hangs = %v, want ErrHung", err)
	}
	wake()
	s.linked()
	if err := s.Paste(t.Context(), p.ID, "after"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the text arrives", func() bool { return strings.HasSuffix(readFile(t, out), pasteEnd) })
	if got := readFile(t, out); got != pasteBegin+"after"+pasteEnd {
		t.Errorf("the program got %q: the key was pressed late", got)
	}
}

func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	signal(t, p.ServerPID, unix.SIGKILL)
	eventually(t, "the end of the server is told", func() bool {
		_, err := s.Panes(t.Context())
		if err != nil && !errors.Is(err, ErrNoServer) {
			t.Fatalf("Panes = %v, want ErrNoServer", err)
		}
		return err != nil
	})
	if _, err := os.Stat(s.o.Socket); err != nil {
		t.Errorf("the socket file went with the server, so this test shows nothing: %v", err)
	}
	if _, ok, err := s.Pane(t.Context(), p.ID); ok || err != nil {
		t.Errorf("Pane = %v, %v, want none", ok, err)
	}
	if err := s.Kill(t.Context(), p.ID); err != nil {
		t.Errorf("Kill = %v", err)
	}
	q := s.start("x", "environ", filepath.Join(s.dir, "e")) // the same name is free again
	s.linked()
	if q.ServerPID == p.ServerPID {
		t.Errorf("the new server has the pid of the old one, %d", q.ServerPID)
	}
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 {
		t.Errorf("Panes = %+v, %v", panes, err)
	}
}

func TestStaleSocket(t *testing.T) {
	s := newServer(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.o.Socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, err := s.Panes(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("Panes = %v, want ErrNoServer", err)
	}
	s.start("x", "environ", filepath.Join(s.dir, "e"))
}

// TestReconnect ends the control client from outside.
func TestReconnect(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.start("x", "environ", filepath.Join(s.dir, "e"))
	first := s.linked().current()
	signal(t, first.cmd.Process.Pid, unix.SIGKILL)
	<-first.gone
	for range 20 { // whatever state the new one is in
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 || panes[0].ID != p.ID {
			t.Fatalf("Panes = %+v, %v", panes, err)
		}
	}
	eventually(t, "another control client attaches by itself", func() bool { l := s.current(); return l != nil && l != first })
}

func TestChanged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p := s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	quiet := func() {
		t.Helper()
		for {
			select {
			case <-s.Changed():
			case <-time.After(1500 * time.Millisecond): // the subscription is checked once a second
				return
			}
		}
	}
	quiet()
	wakes := func(what string, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.Changed():
		case <-time.After(10 * time.Second):
			t.Errorf("%s wakes nobody", what)
		}
		for len(s.Changed()) > 0 {
			<-s.Changed()
		}
	}
	wakes("a new pane", func() error {
		_, err := s.Start(t.Context(), Start{ID: "y", Dir: s.dir, Argv: []string{"cat", "-u"}})
		return err
	})
	quiet()
	wakes("a death", func() error { return unix.Kill(p.PID, unix.SIGKILL) })
	quiet()
	wakes("the end of the server", func() error { return unix.Kill(p.ServerPID, unix.SIGKILL) })
}
