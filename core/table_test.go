package core_test

import (
	"testing"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

var agents = []core.AgentInfo{
	{Agent: "a", Exe: []string{"*/a"}, Argv: []string{"*/a.js"}, Helpers: []string{"* daemon", "a --pty-host*"}},
	{Agent: "b", Exe: []string{"*/b"}},
}

func step(pid int, exe string, args ...string) core.Ancestor {
	return core.Ancestor{PID: pid, PPID: pid - 1, Created: uint64(pid) * 10, Exe: exe, Args: args}
}

func TestReadAncestry(t *testing.T) {
	sh := func(pid int) core.Ancestor { return step(pid, "/bin/sh", "sh", "-c", "x") }
	yes, no := true, false
	for _, c := range []struct {
		name     string
		agent    core.Agent
		chain    []core.Ancestor
		launched int // pid of a process the tower launched
		pid      int
		nested   *bool
		shared   bool
	}{
		{name: "nobody", agent: "a"},
		{name: "no agent above", agent: "a", chain: []core.Ancestor{sh(9), sh(8)}},
		{name: "another agent above", agent: "a", chain: []core.Ancestor{sh(9), step(8, "/x/b", "b")}},
		{name: "in a shell", agent: "a", chain: []core.Ancestor{sh(9), step(8, "/x/a", "a"), sh(7), sh(1)}, pid: 8, nested: &no},
		{name: "directly", agent: "a", chain: []core.Ancestor{step(8, "/x/a", "a")}, pid: 8, nested: &no},
		{name: "by script", agent: "a", chain: []core.Ancestor{step(8, "/bin/node", "node", "/l/a.js")}, pid: 8, nested: &no},
		{name: "wrapper and worker", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), step(8, "/bin/node", "node", "/l/a.js"), sh(7)}, pid: 9, nested: &no},
		{name: "inside another agent", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), sh(8), step(7, "/x/b", "b")}, pid: 9, nested: &yes},
		{name: "inside its own kind", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), sh(8), step(7, "/x/a", "a")}, pid: 9, nested: &yes},
		{name: "another agent directly above", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), step(8, "/x/b", "b")}, pid: 9, nested: &yes},
		{name: "below its pty host", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), step(8, "/x/a", "a", "--pty-host"), sh(7)}, pid: 9, nested: &no},
		{name: "below its daemon", agent: "a", chain: []core.Ancestor{sh(9), step(8, "/x/a", "a", "daemon"), sh(7)}, pid: 8, nested: nil, shared: true},
		{name: "launched by the tower inside an agent", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), sh(8), step(7, "/x/b", "b")}, launched: 9, pid: 9, nested: &no},
		{name: "nested in a launched one", agent: "a", chain: []core.Ancestor{step(9, "/x/a", "a"), sh(8), step(7, "/x/b", "b"), step(6, "/x/b", "b")}, launched: 7, pid: 9, nested: &yes},
		{name: "replaced program", agent: "a", chain: []core.Ancestor{step(9, "/x/a (deleted)", "a")}, pid: 9, nested: &no},
		{name: "unreadable steps", agent: "a", chain: []core.Ancestor{step(9, ""), step(8, "/x/a", "a"), step(7, "")}, pid: 8, nested: &no},
	} {
		t.Run(c.name, func(t *testing.T) {
			var launched func(core.Process) bool
			if c.launched != 0 {
				launched = func(p core.Process) bool {
					return p == core.Process{Boot: "boot", PID: c.launched, Start: uint64(c.launched) * 10}
				}
			}
			got := core.ReadAncestry("boot", agents, c.agent, c.chain, launched)
			var proc core.Process
			if c.pid != 0 {
				proc = core.Process{Boot: "boot", PID: c.pid, Start: uint64(c.pid) * 10}
			}
			got.Args = nil
			if diff := cmp.Diff(core.Lineage{Proc: proc, Nested: c.nested, Shared: c.shared}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// table is a process table of one row.
type table struct {
	core.Table
	row core.Proc
}

func (t table) Boot() string { return "boot" }

func (t table) Proc(pid int) (core.Proc, bool) { return t.row, pid == t.row.PID }

func TestAlive(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     core.Process
		state byte
		want  bool
	}{
		{"alive", core.Process{Boot: "boot", PID: 5, Start: 7}, 'S', true},
		{"uninterruptible", core.Process{Boot: "boot", PID: 5, Start: 7}, 'D', true},
		{"stopped", core.Process{Boot: "boot", PID: 5, Start: 7}, 'T', true},
		{"zombie", core.Process{Boot: "boot", PID: 5, Start: 7}, 'Z', false},
		{"dead", core.Process{Boot: "boot", PID: 5, Start: 7}, 'X', false},
		{"recycled", core.Process{Boot: "boot", PID: 5, Start: 6}, 'S', false},
		{"another pid", core.Process{Boot: "boot", PID: 6, Start: 7}, 'S', false},
		{"another boot", core.Process{Boot: "before", PID: 5, Start: 7}, 'S', false},
		{"unknown start", core.Process{Boot: "boot", PID: 5}, 'S', false},
		{"nothing", core.Process{}, 'S', false},
	} {
		if got := core.Alive(table{row: core.Proc{PID: 5, Start: 7, State: c.state}}, c.p); got != c.want {
			t.Errorf("%s: Alive = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestIsShell(t *testing.T) {
	for name, want := range map[string]bool{"bash": true, "yash": true, "ksh93": true, "busybox": true, "": false, "claude": false, "bash-completion": false, "/bin/sh": false} {
		if got := core.IsShell(name); got != want {
			t.Errorf("IsShell(%q) = %v, want %v", name, got, want)
		}
	}
}
