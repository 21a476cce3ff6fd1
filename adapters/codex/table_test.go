package codex

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tower/adapters/jsonl"
	"tower/core"
)

// table is a process table made by hand.
type table struct {
	procs map[int]fakeProc
	locks []core.Lock
}

type fakeProc struct {
	core.Proc
	exe, cwd string
	args     []string
}

func (t *table) Boot() string { return "boot" }

func (t *table) All(f func(core.Proc) bool) {
	for _, p := range t.procs {
		if !f(p.Proc) {
			return
		}
	}
}

func (t *table) Proc(pid int) (core.Proc, bool) { p, ok := t.procs[pid]; return p.Proc, ok }

func (t *table) Children(pid int) (all []int) {
	for _, p := range t.procs {
		if p.PPID == pid {
			all = append(all, p.PID)
		}
	}
	slices.Sort(all)
	return all
}

func (t *table) Exe(pid int) (string, bool)                { p, ok := t.procs[pid]; return p.exe, ok && p.exe != "" }
func (t *table) Args(pid int) ([]string, bool)             { p, ok := t.procs[pid]; return p.args, ok }
func (t *table) Cwd(pid int) (string, bool)                { p, ok := t.procs[pid]; return p.cwd, ok && p.cwd != "" }
func (t *table) Environ(pid int) (map[string]string, bool) { return nil, false }
func (t *table) Locks() []core.Lock                        { return t.locks }
func (t *table) OpenFiles(pid int) ([]string, bool)        { return nil, false }

// add puts a process into the table.
func (t *table) add(pid, ppid int, exe string, args ...string) {
	if t.procs == nil {
		t.procs = map[int]fakeProc{}
	}
	t.procs[pid] = fakeProc{
		Proc: core.Proc{PID: pid, PPID: ppid, Start: uint64(1000 + pid), State: 'S', TTY: 34816},
		exe:  exe, cwd: "/cwd/of/" + filepath.Base(exe), args: args,
	}
}

func proc(pid int) core.Process {
	return core.Process{Boot: "boot", PID: pid, Start: uint64(1000 + pid)}
}

// home is an agent's folder with locks and rollouts.
type home struct {
	t    *testing.T
	root string
	a    *Adapter
	tab  *table
}

func newHome(t *testing.T) *home {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "thread-writer-locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, root: root, a: New(info(root)), tab: &table{}}
	h.a.names.rest = 0
	h.file("thread-writer-locks/.coordination.lock", "")
	return h
}

func (h *home) file(name, content string) string {
	h.t.Helper()
	path := filepath.Join(h.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// lock makes a thread's lock file, held by pid; 0 leaves it as a crash does.
func (h *home) lock(id string, pid int, at time.Time) {
	h.t.Helper()
	path := h.file("thread-writer-locks/"+id+".lock", "")
	if err := os.Chtimes(path, at, at); err != nil {
		h.t.Fatal(err)
	}
	if pid == 0 {
		return
	}
	print, ok := jsonl.Fingerprint(path)
	if !ok {
		h.t.Fatal("no fingerprint of " + path)
	}
	h.tab.locks = append(h.tab.locks, core.Lock{PID: pid, Device: print.Device, Inode: print.Inode})
}

// rollout writes a thread's rollout where the agent would, on the day in its id.
func (h *home) rollout(id, content string) string {
	h.t.Helper()
	day, ok := dayOf(id)
	if !ok {
		h.t.Fatalf("%s has no time", id)
	}
	return h.file("sessions/"+day.Format("2006/01/02")+"/rollout-"+day.Format("2006-01-02T15-04-05")+"-"+id+".jsonl", content)
}

func (h *home) evidence() []core.Sighting {
	h.t.Helper()
	all, err := h.a.Evidence(h.t.Context(), h.tab)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}
