package tmux

import (
	"fmt"

	"tower/core"
)

// Prove is the whole proof that what is typed into pane p reaches the process agent and nothing else.
// It returns nil, or a *core.Refusal with the verdict what and the first thing that does not hold. The
// table must have been read after the pane; rdev is [Rdev] of the pane's terminal. A zero Pane stands
// for one that was not found. family tells which processes besides the agent and those below it are of
// the same session, such as a wrapper above it; nil means none.
//
// In this order: the process is the recorded one, of this boot, and lives; the pane is there, alive,
// takes input, alone, and in no mode of tmux; the agent runs below the pane's first process, on the
// pane's own terminal and not on one inside it; it is not suspended, and it, or what it has started, is
// what the terminal's input goes to. A shell in front would run the text as a command.
func Prove(what string, t core.Table, agent core.Process, p Pane, rdev uint64, family func(pid int) bool) error {
	o := known(t, agent)
	if o == nil && !isID(p.ID, '%') {
		o = gonePane
	}
	if o == nil {
		o = p.closed()
	}
	if o == nil {
		o = placed(t, agent.PID, p, rdev)
	}
	if o == nil {
		o = inFront(t, agent.PID, family)
	}
	if o != nil {
		return o.refuse(what)
	}
	return nil
}

// InFront is the part of [Prove] that holds for any terminal: the process lives, is not suspended, and it, or
// what it has started, is what its terminal's input goes to.
func InFront(what string, t core.Table, agent core.Process, family func(pid int) bool) error {
	o := known(t, agent)
	if o == nil {
		o = inFront(t, agent.PID, family)
	}
	if o != nil {
		return o.refuse(what)
	}
	return nil
}

// known tells whether the recorded process is there and alive.
func known(t core.Table, agent core.Process) *obstacle {
	if !agent.Known() {
		return &obstacle{"Its start time cannot be read, so it cannot be proven to be this session.", "Use its own window."}
	}
	if agent.Boot != t.Boot() {
		return &obstacle{"It ran before the machine was last started.", "Resume it."}
	}
	row, ok := t.Proc(agent.PID)
	switch {
	case !ok:
		return &obstacle{fmt.Sprintf("Its process %d is gone.", agent.PID), "Resume it."}
	case row.Dead():
		return &obstacle{fmt.Sprintf("Its process %d has ended.", agent.PID), "Resume it."}
	case row.Start != agent.Start:
		return &obstacle{fmt.Sprintf("Process %d is not the one that was recorded.", agent.PID), "Resume it."}
	}
	return nil
}

// placed tells whether the agent runs below the pane and on its terminal.
func placed(t core.Table, pid int, p Pane, rdev uint64) *obstacle {
	row, _ := t.Proc(pid)
	if !Below(t, pid, p.PID) {
		return &obstacle{fmt.Sprintf("Its process %d does not run in tmux pane %s.", pid, p.ID), "Use its own window."}
	}
	if row.TTY == 0 || row.TTY != rdev {
		return &obstacle{fmt.Sprintf("Its process %d has another terminal than tmux pane %s.", pid, p.ID), "Use its own window."}
	}
	return nil
}

// Below tells whether a process is, or descends from, another. A parent younger than its child is
// another process under a recycled pid.
func Below(t core.Table, pid, top int) bool {
	child, ok := t.Proc(pid)
	for range 256 { // a chain is shorter; a table that loops is none
		if !ok || child.PID <= 1 {
			return false
		}
		if child.PID == top {
			return true
		}
		var parent core.Proc
		if parent, ok = t.Proc(child.PPID); ok && parent.Start > child.Start {
			return false
		}
		child = parent
	}
	return false
}

// inFront tells whether the terminal's input goes to the agent.
func inFront(t core.Table, pid int, family func(int) bool) *obstacle {
	row, _ := t.Proc(pid)
	if row.State == 'T' || row.State == 't' {
		return &obstacle{fmt.Sprintf("It is suspended (process %d).", pid), "Bring it back with fg in its window."}
	}
	if row.TPGID <= 0 {
		return &obstacle{"Nothing is in front in its terminal.", "Use its own window."}
	}
	found := false
	var other *core.Proc
	t.All(func(q core.Proc) bool {
		if q.Group != row.TPGID || q.TTY != row.TTY || q.Dead() {
			return true
		}
		found = true
		if !ours(t, q, row, family) {
			other = &q
			return false
		}
		return true
	})
	if other != nil {
		return &obstacle{fmt.Sprintf("Another program is in front in its terminal: %s (process %d).", other.Comm, other.PID),
			"Jump to it and bring it back to the front."}
	}
	if !found {
		return &obstacle{"What is in front in its terminal cannot be read.", "Use its own window."}
	}
	return nil
}

// ours tells whether a process q of the group in front may get what is meant for the agent. In the
// agent's own group that is the agent, what it started, and a wrapper that waits for it. In another
// group it must be of the family or started by the agent, and never a shell, whoever started it.
func ours(t core.Table, q, agent core.Proc, family func(int) bool) bool {
	if q.PID == agent.PID {
		return true
	}
	if q.Group == agent.Group {
		return Below(t, q.PID, agent.PID) || Below(t, agent.PID, q.PID) || family != nil && family(q.PID)
	}
	if core.IsShell(q.Comm) {
		return false
	}
	return Below(t, q.PID, agent.PID) || Below(t, agent.PID, q.PID) && family != nil && family(q.PID)
}
