package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// Evidence names the threads whose writer lock is held by a living process of this agent. A lock file
// alone proves nothing, it survives a crash; the lock is looked up among the machine's and never tried.
//
// A terminal's process is the session of its newest thread: after /new or /clear the old one stays
// locked for a minute and is not what the window shows. A server's threads are all sessions, none of
// which has a process of its own. Threads of sub-agents are sessions of nobody.
//
// Mark counts steps, not bytes: see [thread].
//
// Waiting shows here only where the daemon tells it; without it a rollout looks the same whether a
// command runs or is waiting to be allowed, and the hook is what knows.
func (a *Adapter) Evidence(ctx context.Context, t core.Table) ([]core.Sighting, error) {
	a.tails.mu.Lock()
	defer a.tails.mu.Unlock()
	held, err := a.held(t)
	if err != nil {
		return nil, err
	}
	defer a.tails.forget()
	var all []core.Sighting
	var daemon []int // of all, those the daemon may tell more of
	kinds := map[core.Process]string{}
	for _, pid := range owners(held) {
		p, ok := a.owner(t, pid)
		if !ok {
			continue
		}
		kinds[p.Process] = p.kind()
		var newest core.Sighting
		var when int64
		for _, l := range held[pid] {
			s, ok := a.sight(ctx, p, l)
			switch {
			case !ok:
			case p.shared:
				if p.daemon {
					daemon = append(daemon, len(all))
				}
				all = append(all, s)
			case newest.Native == "" || l.when(s) > when:
				newest, when = s, l.when(s)
			}
		}
		if newest.Native != "" {
			all = append(all, newest)
		}
	}
	if len(daemon) > 0 {
		all = a.ask(ctx, all, daemon)
	}
	refuse(all, kinds)
	return all, nil
}

// refuse says of the threads of a shared server why no signal may end one.
func refuse(all []core.Sighting, kinds map[core.Process]string) {
	served := map[core.Process]int{}
	for i := range all {
		served[all[i].Proc]++
	}
	for i := range all {
		s := &all[i]
		if !s.Shared {
			continue
		}
		would := "Ending it would end more than this thread."
		switch others := served[s.Proc] - 1; {
		case others == 1:
			would = "Ending it would end 1 other thread."
		case others > 1:
			would = fmt.Sprintf("Ending it would end %d other threads.", others)
		}
		s.NoEnd = fmt.Sprintf("Codex serves this thread from a shared %s (pid %d). %s", kinds[s.Proc], s.Proc.PID, would)
		s.Caution = s.NoEnd
	}
}

// lock is a thread's lock file that is held.
type lock struct {
	id    string
	print core.Fingerprint
}

// when orders the threads of one process: by the last sign of either its lock or its rollout.
func (l lock) when(s core.Sighting) int64 { return max(l.print.MTime, int64(s.At)*1e6) }

// held returns the thread locks that are held, by process.
func (a *Adapter) held(t core.Table) (map[int][]lock, error) {
	entries, err := os.ReadDir(a.locks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read writer locks: %w", err)
	}
	type file struct{ device, inode uint64 }
	files := map[file]lock{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".lock")
		if !ok || !core.IsUUID(id) {
			continue // .coordination.lock, and whatever else may come
		}
		print, ok := jsonl.Fingerprint(filepath.Join(a.locks(), e.Name()))
		if !ok || print.Inode == 0 {
			continue // gone, or a system that does not number files
		}
		files[file{print.Device, print.Inode}] = lock{id, print}
	}
	if len(files) == 0 {
		return nil, nil
	}
	held := map[int][]lock{}
	for _, l := range t.Locks() {
		if f, ok := files[file{l.Device, l.Inode}]; ok && !slices.Contains(held[l.PID], f) {
			held[l.PID] = append(held[l.PID], f)
		}
	}
	return held, nil
}

func owners(held map[int][]lock) []int {
	var pids []int
	for pid := range held {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// process is a living process of this agent that holds locks.
type process struct {
	core.Process
	row    core.Proc
	shared bool // it serves many threads
	daemon bool // it is the one with the socket
	class  core.Class
	cwd    string
	must   []core.Process
}

// kind is what a person is told that a process which serves many threads is.
func (p *process) kind() string {
	if p.daemon {
		return "daemon"
	}
	return "server"
}

// owner checks a lock's holder against the table: it lives and is this agent.
func (a *Adapter) owner(t core.Table, pid int) (process, bool) {
	row, ok := t.Proc(pid)
	if !ok || row.Dead() {
		return process{}, false
	}
	exe, _ := t.Exe(pid)
	args, _ := t.Args(pid)
	if !a.info.MatchExe(exe, args) {
		return process{}, false
	}
	p := process{Process: core.Process{Boot: t.Boot(), PID: pid, Start: row.Start}, row: row}
	command := subcommand(args)
	if a.info.IsHelper(args) || command == "app-server" {
		p.shared = true
		p.daemon = slices.Contains(args, "unix://") || slices.Contains(args, "--managed-daemon")
		return p, true
	}
	if headless(command) {
		p.class = core.ClassHeadless
	}
	p.cwd, _ = t.Cwd(pid)
	p.must = []core.Process{p.Process}
	// The package's node script waits for the native program and passes signals on. It shares the native
	// program's group; an agent that has this one as a tool does not.
	if up, ok := t.Proc(row.PPID); ok && !up.Dead() && up.Group == row.Group {
		exe, _ := t.Exe(up.PID)
		args, _ := t.Args(up.PID)
		if a.info.MatchExe(exe, args) && !a.info.IsHelper(args) {
			p.must = append(p.must, core.Process{Boot: t.Boot(), PID: up.PID, Start: up.Start})
		}
	}
	return p, true
}

// sight makes the claim of one thread, or none for a sub-agent's.
func (a *Adapter) sight(ctx context.Context, p process, l lock) (core.Sighting, bool) {
	s := core.Sighting{
		Agent: a.info.Agent, Native: l.id, Proc: p.Process, Grade: core.GradeLock,
		Signal: []core.Process{p.Process}, MustGo: p.must,
		Class: p.class, CWD: p.cwd, TTY: p.row.TTY,
		Pill: core.PillIdle,
	}
	if p.shared {
		s.Shared, s.Grade, s.TTY = true, core.GradeShared, 0
		s.Signal, s.MustGo = nil, nil
	}
	t, ok := a.look(ctx, l.id)
	if !ok {
		return s, true // a composer nothing has been typed into
	}
	if t.thread.Class == core.ClassSubagent {
		return s, false
	}
	s.Transcript, s.Mark = t.path, 1+t.thread.Steps
	s.Entrypoint, s.Model, s.Version = t.thread.Origin, t.thread.Model, t.thread.Version
	if t.thread.CWD != "" {
		s.CWD = t.thread.CWD
	}
	if s.Class == "" {
		s.Class = t.thread.Class
	}
	s.At = t.thread.Turned
	if t.thread.Busy {
		s.Pill = core.PillWorking
	}
	s.Name, s.Title = a.called(ctx, &t.thread)
	return s, true
}

// valued are the options before a subcommand that take a value of their own.
var valued = set("-c --config -m --model -p --profile -s --sandbox -a --ask-for-approval -C --cd -i --image " +
	"--add-dir --enable --disable --local-provider --remote --remote-auth-token-env")

// subcommand returns the first argument that is neither an option nor an option's value. For a script
// run by node the script's path comes first and is not it.
func subcommand(args []string) string {
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case valued[arg]:
			i++
		case strings.HasPrefix(arg, "-"):
			if arg == "--" {
				return ""
			}
		case i == 1 && (strings.ContainsRune(arg, '/') || strings.HasSuffix(arg, ".js")):
		default:
			return arg
		}
	}
	return ""
}

// headless tells whether a subcommand runs once without a terminal.
func headless(command string) bool { return command == "exec" || command == "e" || command == "review" }
