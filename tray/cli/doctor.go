package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/engine"
	"tower/core/home"
	"tower/core/ledger"
	"tower/core/load"
	"tower/core/proc"
)

// check is one thing doctor looked at.
type check struct {
	ID    string `json:"id"`
	State string `json:"state"` // ok, note, bad
	Text  string `json:"text"`
	Fix   string `json:"fix"`
}

func (e *Env) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything that can be wrong and say how to mend it",
		Long: `Look at everything that can be wrong and say how to mend it. Exits with 1 when
something is. With --json: {checks: [{id, state, text, fix}]}, state being ok,
note (goes on without it) or bad.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list := e.examine(c.Context())
			bad := false
			for _, x := range list {
				bad = bad || x.State == "bad"
			}
			if e.JSON {
				if err := e.print(map[string][]check{"checks": list}); err != nil {
					return err
				}
			} else {
				for _, x := range list {
					glyph := map[string]string{"ok": "✓", "note": "–", "bad": "✕"}[x.State]
					fmt.Fprintf(e.Out, "%s %-12s %s\n", glyph, x.ID, clean(x.Text, 2000))
					if x.Fix != "" && x.State != "ok" {
						fmt.Fprintf(e.Out, "  %-12s → %s\n", "", clean(x.Fix, 2000))
					}
				}
			}
			if bad {
				return quiet(ExitError)
			}
			return nil
		},
	}
}

// examine makes every check, those of the running tower when there is one.
func (e *Env) examine(ctx context.Context) []check {
	var list []check
	add := func(id, state, text, fix string) { list = append(list, check{id, state, text, fix}) }
	if _, err := home.Resolve(e.Getenv, runtime.GOOS); err != nil {
		add("place", "bad", err.Error(), "Mend that variable where it is set.")
		return list
	}
	if err := e.Open(); err != nil {
		add("settings", "bad", err.Error(), "Mend that line; see installer/README.md for every key.")
		return list
	}
	add("settings", "ok", "config and agents are understood ("+e.Home.ConfigFile()+")", "")
	var refused *core.Refusal
	if err := home.CheckPlace(e.Home); errors.As(err, &refused) {
		add("place", "bad", refused.Why, refused.Hint)
		return list
	} else if err != nil {
		add("place", "bad", err.Error(), "Choose another folder with TOWER_HOME.")
		return list
	}
	add("place", "ok", "data lies in "+e.Home.Data, "")
	e.examineHook(add)
	e.examineWindows(add)
	examineMachine(ctx, add)
	var s *core.Snapshot
	cl, err := e.client()
	if err == nil {
		s, err = cl.snapshot(ctx, false)
	}
	switch {
	case err == nil:
		add("running", "ok", fmt.Sprintf("pid %d since %s, page %s", cl.PID, e.clock(cl.Since), s.URL), "")
	case errors.Is(err, errNotRunning):
		add("running", "note", "no tower is running; hooks are recorded and read at the next start", "tower, or: tower serve")
		s = e.examineLedger(ctx, add)
	default:
		add("running", "bad", "a tower runs but does not answer: "+err.Error(), "tower restart; its log: "+e.Home.Log())
	}
	e.examineAgents(s, add)
	if s != nil {
		e.examineHealth(s, add)
	}
	return list
}

func (e *Env) examineHook(add func(id, state, text, fix string)) {
	info, err := os.Stat(e.Home.HookBinary())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		add("hook program", "note", "not in place yet", "tower hooks install")
	case err != nil:
		add("hook program", "bad", err.Error(), "Check the permissions of "+e.Home.Bin())
	case info.Mode()&0o100 == 0:
		add("hook program", "bad", e.Home.HookBinary()+" may not be executed", "chmod u+x "+e.Home.HookBinary())
	default:
		text := e.Home.HookBinary()
		if log, err := os.Stat(e.Home.HookLog()); err == nil {
			text += ", last run " + e.clock(core.InstantOf(log.ModTime()))
		}
		add("hook program", "ok", text, "")
	}
}

// examineWindows tells where a launch would open: of the running tower, which may have another display than
// whoever asks, else of one that is started from here.
func (e *Env) examineWindows(add func(id, state, text, fix string)) {
	_, noMux := exec.LookPath("tmux")
	name, err := engine.NewDesktop(e.towerEnviron(), slog.New(slog.DiscardHandler)).Choose(e.Config.Terminal)
	var refused *core.Refusal
	switch {
	case err == nil && e.Config.LaunchHome == core.HomeTmux && noMux == nil:
		add("windows", "ok", "launches live in Tower's tmux; "+name+" shows them", "")
	case err == nil && e.Config.LaunchHome == core.HomeTmux:
		add("windows", "bad", "launch.home is tmux, and tmux is not installed", "Install tmux, or set launch.home to window.")
	case err == nil:
		add("windows", "ok", "launches open "+name, "")
	case noMux == nil && e.Config.Terminal == "":
		why := err.Error()
		if errors.As(err, &refused) {
			why = refused.Why
		}
		add("windows", "note", "launches live in Tower's tmux: "+why, "tower attach shows them.")
	default:
		fix := ""
		if errors.As(err, &refused) {
			err, fix = errors.New(refused.Why), refused.Hint
		}
		add("windows", "bad", "nothing can be launched: "+err.Error(), fix)
	}
}

// towerEnviron is the environment the running tower was started with; without one, or where nobody may read
// it, this program's own.
func (e *Env) towerEnviron() []string {
	p, err := e.endpoint()
	if err != nil {
		return os.Environ()
	}
	t, err := proc.NewReader().Read()
	if err != nil {
		return os.Environ()
	}
	m, ok := t.Environ(p.PID)
	if !ok {
		return os.Environ()
	}
	var list []string
	for k, v := range m {
		list = append(list, k+"="+v)
	}
	return list
}

// examineMachine tells how busy the machine is: an answer to "why is it slow" that is not Tower.
func examineMachine(ctx context.Context, add func(id, state, text, fix string)) {
	m := load.New(time.Now).Machine(ctx)
	var parts []string
	if m.Load1 != nil {
		parts = append(parts, fmt.Sprintf("load %.1f on %d cores", *m.Load1, runtime.NumCPU()))
	}
	if m.MemUsed != nil && m.MemTotal != nil {
		parts = append(parts, fmt.Sprintf("%.1f of %.1f GB memory in use", float64(*m.MemUsed)/1e9, float64(*m.MemTotal)/1e9))
	}
	if len(parts) == 0 {
		parts = []string{"its load cannot be read"}
	}
	add("machine", "ok", strings.Join(parts, ", "), "")
}

func (e *Env) examineLedger(ctx context.Context, add func(id, state, text, fix string)) *core.Snapshot {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	db, err := ledger.OpenReadOnly(ctx, e.Home.Ledger())
	if errors.Is(err, ledger.ErrNoLedger) {
		add("ledger", "note", "none yet", "It is made when the tower first runs.")
		return nil
	}
	if err == nil {
		err = db.Check(ctx)
		db.Close()
	}
	if err != nil {
		add("ledger", "bad", err.Error(), "Copies are in "+e.Home.Backup())
		return nil
	}
	add("ledger", "ok", "whole", "")
	s, _, err := engine.Still(ctx, e.EngineOptions(slog.New(slog.DiscardHandler)))
	if err != nil {
		add("ledger", "bad", err.Error(), "")
		return nil
	}
	return s
}

// examineAgents looks itself: the tower's own look may be older than the hooks that were just installed.
func (e *Env) examineAgents(s *core.Snapshot, add func(id, state, text, fix string)) {
	counts := map[core.Agent]core.Counts{}
	if s != nil {
		for _, a := range s.Agents {
			counts[a.Agent] = a.Counts
		}
	}
	installed := 0
	for _, x := range e.Adapters {
		a := engine.AgentState(x, e.Getenv("PATH"), e.Home.HookBinary())
		if !a.Installed {
			add(string(a.Agent), "note", a.Display+" is not installed: "+a.Why, a.Install)
			continue
		}
		installed++
		switch a.Hooks.State {
		case core.HooksInstalled:
			add(string(a.Agent), "ok", fmt.Sprintf("%s: %s; hooks installed", a.Display, some(counts[a.Agent].Visible, "session")), "")
		case core.HooksUnreadable:
			add(string(a.Agent), "bad", a.Display+": hooks unreadable. "+a.Hooks.Reason, "Mend that file; Tower does not touch what it cannot understand.")
		case core.HooksNeedTrust:
			add(string(a.Agent), "note", a.Display+": "+hooksWord(a.Hooks.State), a.Hooks.Reason)
		default:
			text, fix := a.Display+": "+hooksWord(a.Hooks.State), "tower hooks install "+string(a.Agent)
			if a.Hooks.Reason != "" {
				text += ". " + a.Hooks.Reason
			}
			if _, ok := x.(core.HookInstaller); !ok {
				fix = ""
			}
			add(string(a.Agent), "note", text, fix)
		}
	}
	if installed == 0 {
		add("agents", "note", "no agent is installed", "Install one of them; the hints are above.")
	}
}

func (e *Env) examineHealth(s *core.Snapshot, add func(id, state, text, fix string)) {
	for _, l := range s.Health.Loops {
		switch {
		case l.Error != "":
			add("loop "+l.Name, "bad", "sick since "+e.clock(l.Since)+": "+firstLine(l.Error), "It tries again by itself; the log has more.")
		case l.Behind != "":
			add("loop "+l.Name, "note", l.Behind, "")
		}
	}
	for _, p := range s.Health.Problems {
		add(p.ID, "bad", p.Text, p.Fix)
	}
	if n := s.Health.BadFiles; n > 0 {
		add("event files", "note", fmt.Sprintf("%d event files could not be read and were moved to bad/", n), "The reasons are in tower.log; look at them, then remove them.")
	}
	if n := s.Health.BadLines; n > 0 {
		add("transcripts", "note", fmt.Sprintf("%d lines of transcripts are broken; the rest of their files was read", n), "")
	}
	if len(s.Health.UnknownTypes) > 0 {
		add("line types", "note", fmt.Sprintf("%d kinds of lines are not known to this build: %s", len(s.Health.UnknownTypes), most(s.Health.UnknownTypes)), "A newer agent writes them; nothing is lost.")
	}
	if s.Health.DiskBuild != "" {
		add("build", "note", "the program on disk is another build than the one running", "tower restart")
	}
}

// most names the most frequent of what is counted.
func most(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), 5)] {
		parts = append(parts, fmt.Sprintf("%s ×%d", clean(name, 40), counts[name]))
	}
	if len(names) > len(parts) {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
