package adaptertest

import (
	"slices"
	"sync"

	"tower/core"
)

// RecordedProc is one process of a [RecordedTable]: its row and what can be read of it. A field in
// Hidden cannot be read: exe, args, cwd, env, files.
type RecordedProc struct {
	core.Proc
	Exe    string            `json:"exe"`
	Args   []string          `json:"args"`
	Cwd    string            `json:"cwd"`
	Env    map[string]string `json:"env"`
	Files  []string          `json:"files"`
	Hidden []string          `json:"hidden"`
}

func (p RecordedProc) hides(what string) bool { return slices.Contains(p.Hidden, what) }

// RecordedTable is a process table made of values, so that an adapter can be asked about processes
// that never existed on this machine. It is safe for concurrent
// use; what a poll reads while a test changes it is one or the other.
type RecordedTable struct {
	mu    sync.RWMutex
	boot  string
	procs map[int]RecordedProc
	locks []core.Lock
}

var _ core.Table = (*RecordedTable)(nil)

// NewTable returns a table of one boot.
func NewTable(boot string, procs ...RecordedProc) *RecordedTable {
	t := &RecordedTable{boot: boot, procs: map[int]RecordedProc{}}
	t.Put(procs...)
	return t
}

// Put adds processes or replaces those of the same pid. A process without a state sleeps.
func (t *RecordedTable) Put(procs ...RecordedProc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range procs {
		if p.State == 0 {
			p.State = 'S'
		}
		t.procs[p.PID] = p
	}
}

// Drop takes processes away: they have ended and been reaped.
func (t *RecordedTable) Drop(pids ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, pid := range pids {
		delete(t.procs, pid)
		t.locks = slices.DeleteFunc(t.locks, func(l core.Lock) bool { return l.PID == pid })
	}
}

// Lock adds whole-file locks.
func (t *RecordedTable) Lock(locks ...core.Lock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.locks = append(t.locks, locks...)
}

// Each returns a copy in which change was applied to every process; one for which it returns false
// is left out, its locks with it.
func (t *RecordedTable) Each(change func(*RecordedProc) bool) *RecordedTable {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := NewTable(t.boot)
	for pid, p := range t.procs {
		if change(&p) {
			out.procs[pid] = p
		}
	}
	for _, l := range t.locks {
		if _, ok := out.procs[l.PID]; ok {
			out.locks = append(out.locks, l)
		}
	}
	return out
}

// Boot returns the boot the table was made with.
func (t *RecordedTable) Boot() string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.boot
}

// All calls f in the order of the pids.
func (t *RecordedTable) All(f func(core.Proc) bool) {
	t.mu.RLock()
	var rows []core.Proc
	for _, p := range t.procs {
		rows = append(rows, p.Proc)
	}
	t.mu.RUnlock()
	slices.SortFunc(rows, func(a, b core.Proc) int { return a.PID - b.PID })
	for _, p := range rows {
		if !f(p) {
			return
		}
	}
}

// Proc returns one row.
func (t *RecordedTable) Proc(pid int) (core.Proc, bool) {
	p, ok := t.get(pid)
	return p.Proc, ok
}

// Children returns the pids below pid.
func (t *RecordedTable) Children(pid int) []int {
	var below []int
	t.All(func(p core.Proc) bool {
		if p.PPID == pid {
			below = append(below, p.PID)
		}
		return true
	})
	return below
}

// Exe returns the recorded executable.
func (t *RecordedTable) Exe(pid int) (string, bool) {
	p, ok := t.get(pid)
	if !ok || p.Exe == "" || p.hides("exe") {
		return "", false
	}
	return p.Exe, true
}

// Args returns the recorded argument list.
func (t *RecordedTable) Args(pid int) ([]string, bool) {
	p, ok := t.get(pid)
	if !ok || p.hides("args") {
		return nil, false
	}
	return slices.Clone(p.Args), true
}

// Cwd returns the recorded working directory.
func (t *RecordedTable) Cwd(pid int) (string, bool) {
	p, ok := t.get(pid)
	if !ok || p.Cwd == "" || p.hides("cwd") {
		return "", false
	}
	return p.Cwd, true
}

// Environ returns the recorded environment.
func (t *RecordedTable) Environ(pid int) (map[string]string, bool) {
	p, ok := t.get(pid)
	if !ok || p.hides("env") {
		return nil, false
	}
	return p.Env, true
}

// Locks returns the recorded locks.
func (t *RecordedTable) Locks() []core.Lock {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.locks)
}

// OpenFiles returns the recorded descriptors.
func (t *RecordedTable) OpenFiles(pid int) ([]string, bool) {
	p, ok := t.get(pid)
	if !ok || p.hides("files") {
		return nil, false
	}
	return slices.Clone(p.Files), true
}

func (t *RecordedTable) get(pid int) (RecordedProc, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	p, ok := t.procs[pid]
	return p, ok
}
