package tmux

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tower/core"
)

// rows is a process table of a test.
type rows []core.Proc

func (r rows) Boot() string { return "boot" }

func (r rows) All(f func(core.Proc) bool) {
	for _, p := range r {
		if !f(p) {
			return
		}
	}
}

func (r rows) Proc(pid int) (core.Proc, bool) {
	i := slices.IndexFunc(r, func(p core.Proc) bool { return p.PID == pid })
	if i < 0 {
		return core.Proc{}, false
	}
	return r[i], true
}

func (r rows) Children(pid int) (pids []int) {
	for _, p := range r {
		if p.PPID == pid {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func (rows) Exe(int) (string, bool)                { return "", false }
func (rows) Args(int) ([]string, bool)             { return nil, false }
func (rows) Cwd(int) (string, bool)                { return "", false }
func (rows) Environ(int) (map[string]string, bool) { return nil, false }
func (rows) Locks() []core.Lock                    { return nil }
func (rows) OpenFiles(int) ([]string, bool)        { return nil, false }

// world is a pane in which a shell runs a wrapper, that an agent, and that a tool.
type world struct {
	rows   rows
	agent  core.Process
	pane   Pane
	rdev   uint64
	family []int
}

const (
	wServer, wShell, wShim, wAgent, wTool, wOther = 100, 200, 300, 400, 500, 600
	wTTY                                          = 0x8803
)

func newWorld() *world {
	row := func(pid, ppid, group int, comm string) core.Proc {
		return core.Proc{PID: pid, PPID: ppid, Start: uint64(pid), State: 'S', Comm: comm, TTY: wTTY, Group: group, SID: wShell, TPGID: wShim}
	}
	server := row(wServer, 1, wServer, "tmux: server")
	server.TTY, server.TPGID = 0, -1
	return &world{
		rows: rows{server, row(wShell, wServer, wShell, "bash"), row(wShim, wShell, wShim, "node"), row(wAgent, wShim, wShim, "agent"),
			row(wTool, wAgent, wShim, "rg"), row(wOther, wShell, wOther, "vim")},
		agent: core.Process{Boot: "boot", PID: wAgent, Start: wAgent},
		pane:  Pane{ID: "%3", Session: "$1", PID: wShell, TTY: "/dev/pts/3"},
		rdev:  wTTY,
	}
}

func (w *world) row(pid int) *core.Proc {
	return &w.rows[slices.IndexFunc(w.rows, func(p core.Proc) bool { return p.PID == pid })]
}

// front puts a group in front of the terminal.
func (w *world) front(group int) {
	for i := range w.rows {
		if w.rows[i].TTY == wTTY {
			w.rows[i].TPGID = group
		}
	}
}

// drop takes a process away.
func (w *world) drop(pid int) {
	w.rows = slices.DeleteFunc(w.rows, func(p core.Proc) bool { return p.PID == pid })
}

func (w *world) prove() error {
	return Prove("Not delivered.", w.rows, w.agent, w.pane, w.rdev, func(pid int) bool { return slices.Contains(w.family, pid) })
}

func TestProve(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*world)
		why  string // "" = proven
	}{
		{"shell, wrapper, agent, tool in one group", func(w *world) {}, ""},
		{"the agent is the pane's first process", func(w *world) { w.pane.PID = wAgent }, ""},
		{"the wrapper is", func(w *world) { w.pane.PID = wShim }, ""},
		{"the agent in a group of its own", func(w *world) { w.row(wAgent).Group = wAgent; w.row(wTool).Group = wAgent; w.front(wAgent) }, ""},
		{"a tool of the agent in front", func(w *world) { w.row(wTool).Group = wTool; w.front(wTool) }, ""},
		{"its wrapper in front, known as its own", func(w *world) { w.row(wAgent).Group = wAgent; w.row(wTool).Group = wAgent; w.family = []int{wShim} }, ""},
		{"a zombie beside it", func(w *world) { w.row(wOther).Group = wShim; w.row(wOther).State = 'Z' }, ""},
		{"a terminal beyond 255", func(w *world) {
			for i := range w.rows {
				if w.rows[i].TTY != 0 {
					w.rows[i].TTY = kernel(136, 300)
				}
			}
			w.rdev = kernel(136, 300)
		}, ""},

		{"no start", func(w *world) { w.agent.Start = 0 }, "cannot be read"},
		{"no process", func(w *world) { w.agent = core.Process{} }, "cannot be read"},
		{"another boot", func(w *world) { w.agent.Boot = "last" }, "before the machine was last started"},
		{"unknown boot", func(w *world) { w.agent.Boot = "" }, "before the machine was last started"},
		{"gone", func(w *world) { w.drop(wAgent) }, "process 400 is gone"},
		{"zombie", func(w *world) { w.row(wAgent).State = 'Z' }, "process 400 has ended"},
		{"dying", func(w *world) { w.row(wAgent).State = 'X' }, "process 400 has ended"},
		{"recycled pid", func(w *world) { w.agent.Start = 399 }, "not the one that was recorded"},
		{"no pane", func(w *world) { w.pane = Pane{} }, "pane is gone"},
		{"dead pane", func(w *world) { w.pane.Dead = true }, "has ended"},
		{"input off", func(w *world) { w.pane.InputOff = true }, "switched off"},
		{"synchronized", func(w *world) { w.pane.Synchronized = true }, "all its panes"},
		{"copy mode", func(w *world) { w.pane.InMode = true }, "copy mode"},
		{"another session's pane", func(w *world) { w.pane.PID = wOther }, "does not run in tmux pane %3"},
		{"a pane below it", func(w *world) { w.pane.PID = wTool }, "does not run in tmux pane %3"},
		{"a pane without a process", func(w *world) { w.pane.PID = 0 }, "does not run in tmux pane %3"},
		{"a parent younger than its child", func(w *world) { w.row(wShim).Start = 401 }, "does not run in tmux pane %3"},
		{"the chain is broken", func(w *world) { w.drop(wShim) }, "does not run in tmux pane %3"},
		{"the chain is a ring", func(w *world) {
			for _, pid := range []int{wShim, wAgent} {
				w.row(pid).Start = 1
			}
			w.agent.Start, w.row(wShim).PPID = 1, wAgent
		}, "does not run in tmux pane %3"},
		{"an inner terminal", func(w *world) { w.row(wAgent).TTY = 0x8809 }, "another terminal"},
		{"no terminal", func(w *world) { w.row(wAgent).TTY = 0 }, "another terminal"},
		{"neither has a terminal", func(w *world) { w.row(wAgent).TTY, w.rdev = 0, 0 }, "another terminal"},
		{"suspended", func(w *world) { w.row(wAgent).State = 'T' }, "suspended (process 400)"},
		{"held by a debugger", func(w *world) { w.row(wAgent).State = 't' }, "suspended"},
		{"suspended, its shell in front", func(w *world) { w.row(wAgent).State = 'T'; w.front(wShell) }, "suspended"},
		{"a shell in front", func(w *world) { w.front(wShell) }, "bash (process 200)"},
		{"a shell in front that is told to be family", func(w *world) { w.front(wShell); w.family = []int{wShell} }, "bash (process 200)"},
		{"a shell of the agent's in front", func(w *world) { w.row(wTool).Group, w.row(wTool).Comm = wTool, "zsh"; w.front(wTool) }, "zsh (process 500)"},
		{"another program in front", func(w *world) { w.front(wOther) }, "vim (process 600)"},
		{"another program in front that is told to be family", func(w *world) { w.front(wOther); w.family = []int{wOther} }, "vim (process 600)"},
		{"another program in its group", func(w *world) { w.row(wOther).Group = wShim }, "vim (process 600)"},
		{"its wrapper in front, unknown", func(w *world) { w.row(wAgent).Group = wAgent; w.row(wTool).Group = wAgent }, "node (process 300)"},
		{"nobody in front", func(w *world) { w.front(-1) }, "Nothing is in front"},
		{"a group in front that cannot be seen", func(w *world) { w.front(777) }, "cannot be read"},
	} {
		w := newWorld()
		c.do(w)
		err := w.prove()
		if c.why == "" {
			if err != nil {
				t.Errorf("%s: Prove = %v, want a proof", c.name, err)
			}
			continue
		}
		var r *core.Refusal
		if !errors.As(err, &r) || r.What != "Not delivered." || !strings.Contains(r.Why, c.why) || r.Hint == "" {
			t.Errorf("%s: Prove = %#v, want a refusal for %q", c.name, err, c.why)
		}
	}
	w := newWorld()
	if err := Prove("Not delivered.", w.rows, w.agent, w.pane, w.rdev, nil); err != nil {
		t.Errorf("Prove without a family = %v", err)
	}
}

// TestProveOrder spoils everything and mends one thing after the other: the first that fails is named.
func TestProveOrder(t *testing.T) {
	w := newWorld()
	w.agent.Boot = "last"
	w.agent.Start = 399
	w.row(wAgent).State = 'Z'
	w.pane = Pane{PID: wOther, Dead: true, InputOff: true, Synchronized: true, InMode: true}
	w.rdev = 1
	w.front(wShell)
	for _, step := range []struct {
		why  string
		mend func()
	}{
		{"last started", func() { w.agent.Boot = "boot" }},
		{"process 400 has ended", func() { w.row(wAgent).State = 'T' }},
		{"recorded", func() { w.agent.Start = wAgent }},
		{"gone", func() { w.pane.ID = "%3" }},
		{"The program in its tmux pane has ended", func() { w.pane.Dead = false }},
		{"switched off", func() { w.pane.InputOff = false }},
		{"all its panes", func() { w.pane.Synchronized = false }},
		{"copy mode", func() { w.pane.InMode = false }},
		{"does not run in", func() { w.pane.PID = wShell }},
		{"another terminal", func() { w.rdev = wTTY }},
		{"suspended", func() { w.row(wAgent).State = 'S' }},
		{"bash", func() { w.front(wShim) }},
	} {
		err := w.prove()
		if err == nil || !strings.Contains(err.Error(), step.why) {
			t.Fatalf("Prove = %v, want %q first", err, step.why)
		}
		step.mend()
	}
	if err := w.prove(); err != nil {
		t.Errorf("Prove with everything mended = %v", err)
	}
}

// kernel is the encoding of a device number in the process table, by its definition: 8 bits of the
// minor, 12 of the major, the rest of the minor.
func kernel(major, minor uint64) uint64 {
	return minor%256 + major*256 + minor/256*256*4096
}
