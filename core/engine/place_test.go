package engine

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/term"
	"tower/core/tmux"
)

// TestAbandoned: a shell is hung up only when it leads the terminal of its window, waits, and is alone there.
func TestAbandoned(t *testing.T) {
	dev := uint64(0x8803) // pts/3
	const pid = 400
	for _, c := range []struct {
		name   string
		change func(shell *adaptertest.RecordedProc) []adaptertest.RecordedProc
		want   bool
		says   string
	}{
		{"on its prompt", nil, true, ""},
		{"below a terminal", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			s.PPID = 300
			return []adaptertest.RecordedProc{{Proc: core.Proc{PID: 300, Start: 1, Comm: "xterm", State: 'S'}}}
		}, true, ""},
		{"below sshd", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			s.PPID = 300
			return []adaptertest.RecordedProc{{Proc: core.Proc{PID: 300, Start: 1, Comm: "sshd-session", State: 'S'}}}
		}, false, "log-in from afar"},
		{"runs something", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc { s.TPGID = 999; return nil }, false, ""},
		{"a job in the background", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			return []adaptertest.RecordedProc{{Proc: core.Proc{PID: 410, PPID: pid, Start: 4100, State: 'S', Comm: "make", TTY: dev, Group: 410, SID: pid, TPGID: pid}}}
		}, false, "make (pid 410) runs in it as well"},
		{"a stopped job", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			return []adaptertest.RecordedProc{{Proc: core.Proc{PID: 410, PPID: pid, Start: 4100, State: 'T', Comm: "vim", TTY: dev, Group: 410, SID: pid, TPGID: pid}}}
		}, false, "vim (pid 410)"},
		{"what is left of a job", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			return []adaptertest.RecordedProc{{Proc: core.Proc{PID: 410, PPID: pid, Start: 4100, State: 'Z', Comm: "vim", TTY: dev, Group: 410, SID: pid}}}
		}, true, ""},
		{"no shell", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc {
			s.Exe = "/usr/bin/python3"
			return nil
		}, false, "which is no shell"},
		{"another under its number", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc { s.Start++; return nil }, false, ""},
		{"not the leader", func(s *adaptertest.RecordedProc) []adaptertest.RecordedProc { s.SID = 1; return nil }, false, "leads it no more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			leader := core.Proc{PID: pid, PPID: 1, Start: 4000, State: 'S', Comm: "bash", TTY: dev, Group: pid, SID: pid, TPGID: pid}
			shell := adaptertest.RecordedProc{Proc: leader, Exe: "/bin/bash", Args: []string{"-bash"}}
			var more []adaptertest.RecordedProc
			if c.change != nil {
				more = c.change(&shell)
			}
			table := adaptertest.NewTable(boot, append(more, shell)...)
			e := &Engine{o: Options{Table: func() (core.Table, error) { return table, nil }}}
			got, why := e.abandoned(place{device: dev, leader: leader, table: table})
			if got != c.want || !strings.Contains(why, c.says) || c.says == "" && why != "" {
				t.Errorf("abandoned = %v, %q, want %v, %q", got, why, c.want, c.says)
			}
		})
	}
}

// TestShellThatGoesOn: a script whose agent was ended gets the time to begin its next command, and is not hung
// up while that runs; one that has no next command is.
func TestShellThatGoesOn(t *testing.T) {
	for _, goesOn := range []bool{true, false} {
		acting(t, func(t *testing.T, w *actWorld) {
			id := w.lives("s", "idle", func(p *adaptertest.RecordedProc, _ *adaptertest.FakeRecord) {
				p.Env = nil // no tmux
				p.Group, p.TPGID = shellPID, shellPID
			})
			dev, _ := tmux.Rdev(device)
			script := adaptertest.RecordedProc{
				Proc: core.Proc{PID: shellPID, PPID: 1, Start: 4000, State: 'S', Comm: "sh", TTY: dev, Group: shellPID, SID: shellPID, TPGID: shellPID},
				Exe:  "/bin/sh", Args: []string{"sh", "-c", "fake-agent; make deploy"},
			}
			w.table.Put(script)
			if goesOn {
				signal := w.e.o.Signal
				w.e.o.Signal = func(p core.Process, s syscall.Signal) error {
					if p.PID == agentPID {
						go func() {
							time.Sleep(50 * time.Millisecond)
							w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: 999, PPID: shellPID, Start: 9990, State: 'S', Comm: "make", TTY: dev, Group: shellPID, SID: shellPID, TPGID: shellPID}})
						}()
					}
					return signal(p, s)
				}
			}
			r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
			if err != nil || !r.End.Ended {
				t.Fatalf("%+v, %v", r, err)
			}
			hungUp := len(w.sent()) == 2 && w.sent()[1] == syscall.SIGHUP
			if hungUp == goesOn {
				t.Errorf("goes on: %v; signals %v", goesOn, w.sent())
			}
			if goesOn && (*r.End.WindowClosed || !strings.Contains(r.Said, "make (pid 999) runs in it as well")) {
				t.Errorf("%s %+v", r.Said, r.End)
			}
		})
	}
}

// TestWindowThatIsClosed: closed is what is proven to be, whatever holds on to a window and whoever got the
// terminal's number next.
func TestWindowThatIsClosed(t *testing.T) {
	dev, err := tmux.Rdev(device)
	if err != nil {
		t.Skip(err)
	}
	agent := adaptertest.RecordedProc{Proc: core.Proc{PID: 500, PPID: 300, Start: 5000, State: 'S', TTY: dev, SID: 500}}
	terminal := adaptertest.RecordedProc{Proc: core.Proc{PID: 300, PPID: 1, Start: 3000, State: 'S', Comm: "xterm"}}
	tab := adaptertest.RecordedProc{Proc: core.Proc{PID: 600, PPID: 300, Start: 6000, State: 'S', TTY: dev + 1, SID: 600}}
	heir := adaptertest.RecordedProc{Proc: core.Proc{PID: 900, PPID: 1, Start: 9000, State: 'S', TTY: dev, SID: 900}}
	xterm := &term.Window{Kind: term.KindX11, ID: "7", PID: 300}
	for _, c := range []struct {
		name   string
		before []adaptertest.RecordedProc
		after  []adaptertest.RecordedProc
		tty    string
		window *term.Window
		gone   bool
		want   bool
	}{
		{name: "its device is gone", tty: "/dev/pts/none", want: true},
		{name: "its device is there", tty: device},
		{name: "its device is another's by now", tty: device, after: []adaptertest.RecordedProc{heir}, want: true},
		{name: "it lives", tty: device, after: []adaptertest.RecordedProc{agent, heir}},
		{name: "its window is gone with its device", tty: "/dev/pts/none", window: xterm, gone: true, want: true},
		{name: "its window is held", tty: "/dev/pts/none", window: xterm},
		{name: "its window is kitty's", tty: "/dev/pts/none", window: &term.Window{Kind: term.KindX11, PID: 300, Terminal: "kitty"}, want: true},
		{name: "its window has another tab", tty: "/dev/pts/none", window: xterm, before: []adaptertest.RecordedProc{tab}, want: true},
		{name: "its window is one of several", tty: "/dev/pts/none", window: &term.Window{Kind: term.KindX11, PID: 300, Shared: true}, want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := adaptertest.NewTable(boot, append(c.after, terminal)...)
			e := &Engine{o: Options{
				Table:   func() (core.Table, error) { return now, nil },
				Alive:   func(p core.Process) bool { return core.Alive(now, p) },
				Desktop: &windows{gone: c.gone},
			}}
			at := place{device: dev, tty: c.tty, leader: agent.Proc, table: adaptertest.NewTable(boot, append(c.before, terminal, agent)...), window: c.window}
			if got, err := e.isClosed(context.Background(), at); got != c.want || err != nil {
				t.Errorf("isClosed = %v, %v, want %v", got, err, c.want)
			}
		})
	}
}
