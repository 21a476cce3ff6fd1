//go:build unix

package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tower/core"

	"golang.org/x/sys/unix"
)

// window shows a pane of s in a pane of another server, which is as good a terminal as any.
func (s *server) window(desk *server, name string, p Pane) (Pane, Client) {
	s.t.Helper()
	argv := append([]string{"/usr/bin/env", "-u", "TMUX", "-u", "TMUX_PANE"}, s.AttachArgv(p)...)
	w := desk.run1(Start{ID: name, Dir: desk.dir, Argv: argv})
	var found Client
	eventually(s.t, name+" is attached", func() bool {
		clients, err := s.Clients(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range clients {
			if c.PID == w.PID {
				found = c
			}
		}
		return found.PID != 0
	})
	return w, found
}

func TestClients(t *testing.T) {
	s, desk := newServer(t), newServer(t)
	one := s.start("one", "environ", filepath.Join(s.dir, "e"))
	two := s.start("two", "environ", filepath.Join(s.dir, "e"))
	w, c := s.window(desk, "first", one)
	if c.TTY != w.TTY || c.Name != w.TTY || c.Session != one.Session || c.Control || c.Activity == 0 {
		t.Errorf("client = %+v, want one on %s that shows %s", c, w.TTY, one.Session)
	}
	both(t, s, func(t *testing.T) {
		for _, p := range []Pane{two, one, one, two} {
			if err := s.Show(t.Context(), c.Name, p.ID); err != nil {
				t.Fatalf("Show(%s) = %v", p.ID, err)
			}
			clients, err := s.Clients(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(clients, func(d Client) bool { return d.Name == c.Name })
			if i < 0 || clients[i].Session != p.Session {
				t.Errorf("Clients after Show(%s) = %+v", p.ID, clients)
			}
		}
		if p := s.pane(two.ID); p.Attached != 1 {
			t.Errorf("attached = %d, want 1", p.Attached)
		}
		if err := s.Show(t.Context(), "/dev/pts/none", one.ID); err == nil {
			t.Error("a client that is not there was said to show a pane")
		}
		if err := s.Show(t.Context(), c.Name, "one"); err == nil {
			t.Error("Show took a name")
		}
		var r *core.Refusal
		if err := s.Show(t.Context(), c.Name, "%9999"); !errors.As(err, &r) {
			t.Errorf("Show of a pane that is gone = %v", err)
		}
	})
	clients, err := s.Clients(t.Context())
	if err != nil || len(clients) != 2 {
		t.Fatalf("Clients = %+v, %v, want a window and the control client", clients, err)
	}
	for _, d := range clients {
		if d.Control != (d.PID == s.current().cmd.Process.Pid) {
			t.Errorf("client %+v is marked wrongly", d)
		}
	}
	// The window of a session that is not bound to it may go; the session stays.
	if err := desk.Kill(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client is gone", func() bool { clients, err := s.Clients(t.Context()); return err == nil && len(clients) == 1 })
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 2 {
		t.Errorf("Panes without a window = %+v, %v", panes, err)
	}
	if argv := s.AttachArgv(Pane{Session: "one"}); argv != nil {
		t.Errorf("AttachArgv took a name: %q", argv)
	}
}

func TestEphemeral(t *testing.T) {
	s, desk := newServer(t), newServer(t)
	p := s.run1(Start{ID: "bound", Dir: s.dir, Argv: []string{"cat", "-u"}, Ephemeral: true})
	other := s.run1(Start{ID: "other", Dir: s.dir, Argv: []string{"cat", "-u"}})
	s.linked()
	if q := s.pane(p.ID); q.Dead {
		t.Fatal("it ended before it had a window")
	}
	w, c := s.window(desk, "first", p)
	var r *core.Refusal
	if err := s.Show(t.Context(), c.Name, other.ID); !errors.As(err, &r) || r.What != "Not shown." {
		t.Errorf("Show that would end a session = %v, want a refusal", err)
	}
	if err := s.Show(t.Context(), c.Name, p.ID); err != nil {
		t.Errorf("Show of what it shows = %v", err)
	}
	w2, _ := s.window(desk, "second", p)
	if err := desk.Kill(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first window is gone", func() bool { return s.pane(p.ID).Attached == 1 })
	if q := s.pane(p.ID); q.Dead || unix.Kill(q.PID, 0) != nil {
		t.Error("it ended though it still had a window")
	}
	if err := desk.Kill(t.Context(), w2.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session ends with its last window", func() bool { _, ok, err := s.Pane(t.Context(), p.ID); return err == nil && !ok })
	eventually(t, "its program ends", func() bool { return !running(p.PID) })
	if _, ok, _ := s.Pane(t.Context(), other.ID); !ok {
		t.Error("the other session ended as well")
	}
}

// running tells whether a process of a test still runs; one that waits to be cleared away does not.
func running(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return unix.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
