package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// descriptors counts what this process has open; one that is just being closed is waited for.
func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// children counts the processes this one has started and not cleared away.
func children(t *testing.T) int {
	t.Helper()
	n := 0
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		b, _ := os.ReadFile(task) // a thread may have ended
		n += len(strings.Fields(string(b)))
	}
	return n
}

// TestClose counts what is left when a server is used and closed again and again.
func TestClose(t *testing.T) {
	owner := newServer(t)
	p := owner.start("x", "environ", filepath.Join(owner.dir, "e"))
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	plain := Foreign("", owner.o.Socket)
	open := func() int {
		lines, err := plain.run(t.Context(), "display-message", "-p", "#{pid}")
		if err != nil || len(lines) != 1 {
			t.Fatalf("%q, %v", lines, err)
		}
		names, err := os.ReadDir("/proc/" + lines[0] + "/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	open() // the first one has its own costs: polling, the path of the program
	fds, kids, server := descriptors(t), children(t), open()
	for range 10 {
		s := New(owner.o)
		deadline := time.Now().Add(10 * time.Second)
		for s.current() == nil && time.Now().Before(deadline) {
			if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 {
				t.Fatalf("Panes = %+v, %v", panes, err)
			}
		}
		l := s.current()
		if l == nil {
			t.Fatal("no control client")
		}
		if err := s.Paste(t.Context(), p.ID, "x"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
		if s.current() != nil || running(l.cmd.Process.Pid) {
			t.Error("Close left its control client")
		}
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 || panes[0].PID != p.PID {
			t.Errorf("Panes after Close = %+v, %v, want the session as it was", panes, err)
		}
		if s.current() != nil {
			t.Error("a call after Close brought the control client back")
		}
	}
	eventually(t, "no client is left", func() bool { clients, err := plain.Clients(t.Context()); return err == nil && len(clients) == 0 })
	if n := children(t); n != kids {
		t.Errorf("%d processes left", n-kids)
	}
	if n := descriptors(t); n != fds {
		t.Errorf("%d descriptors left", n-fds)
	}
	eventually(t, "the server has no descriptor more than before", func() bool { return open() == server })
	if err := owner.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what ran in it ends", func() bool { return !running(p.PID) && !running(p.ServerPID) })
	if _, err := owner.Panes(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("Panes after End = %v", err)
	}
}

// TestCloseAtOnce closes a server while its control client introduces itself. The server must live.
func TestCloseAtOnce(t *testing.T) {
	owner := newServer(t)
	p := owner.start("x", "environ", filepath.Join(owner.dir, "e"))
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		s := New(owner.o)
		if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 1 || panes[0].ServerPID != p.ServerPID {
			t.Fatalf("%d: Panes = %+v, %v, want the one as before", i, panes, err)
		}
		for range i % 10 {
			runtime.Gosched()
			time.Sleep(500 * time.Microsecond)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !running(p.PID) || !running(p.ServerPID) {
		t.Error("the server was lost")
	}
}
