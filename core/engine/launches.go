package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tower/core"
	"tower/core/claim"
	"tower/core/launch"
)

// How long is waited for a launch, and how long one that failed is shown.
const (
	toOpen     = 15 * time.Second  // for a terminal's window
	toBegin    = 120 * time.Second // for the session; the waiting ends, a later token still binds
	toPonder   = 2 * time.Second   // for a session before its absence is a dialog's doing
	failedStay = 10 * time.Minute
)

// underway is a launch from the moment it was asked for until its session is known. The owner's.
type underway struct {
	core.LaunchRecord
	native   string // the id the agent was told to use, or ""
	release  func() // ends the claims; nil once done
	moved    chan struct{}
	started  time.Time // when the launcher reported
	state    core.LaunchState
	text     string
	lines    []string
	failedAt time.Time
}

// news wakes who waits for the launch.
func (u *underway) news() {
	close(u.moved)
	u.moved = make(chan struct{})
}

func (u *underway) letGo() {
	if u.release != nil {
		u.release()
		u.release = nil
	}
}

// restoreLaunches takes over the launches that waited when the tower ended. Whether their processes
// live, the first poll tells; until then nobody takes up the same session a second time.
func (e *Engine) restoreLaunches(list []core.LaunchRecord) {
	for _, l := range list {
		if l.Proc.Known() {
			e.launched.Store(l.Proc, l.Token)
		}
		if !l.Waits() {
			continue
		}
		u := &underway{LaunchRecord: l, moved: make(chan struct{}), state: core.LaunchOpening}
		doing, of := "launching", core.SessionID("")
		switch {
		case l.Resumes:
			doing, of = "resuming", l.Expect
		case l.Continues != "":
			doing, of = "continuing", l.Continues
		}
		if release, held := e.claims.Take(claim.Claim{What: doing, By: l.AskedBy, Since: l.RequestedAt}, claim.Launch(l.Token), claim.Session(of)); held == nil {
			u.release = release
		}
		if l.Proc.Known() {
			u.state, u.started = core.LaunchStarted, l.RequestedAt.Time()
		}
		e.launches[l.Token] = u
	}
}

// note keeps a launch and whatever changed of it.
func (e *Engine) note(u *underway) {
	e.picture.Note(u.LaunchRecord)
	e.pending.Launches = append(e.pending.Launches, u.LaunchRecord)
	e.dirty = true
}

// reported takes over what the launcher told before it became the agent. The first report counts: a
// launcher that was run once more fails, and its failure is none of the process that runs.
func (e *Engine) reported(r launch.Report) {
	u := e.launches[r.Token]
	if u == nil || u.Proc.Known() && (r.Error == "" || r.Proc != u.Proc) {
		return
	}
	if r.Error != "" { // also after it had told its process: the last step can fail
		if u.state != core.LaunchFailed || u.text != r.Error { // a ledger that refuses writes has it told again
			e.launchFailed(u, r.Error, nil)
		}
		return
	}
	if !e.o.Alive(r.Proc) {
		e.launchFailed(u, "Its process ended at once.", nil)
		e.lastLines(u)
		return
	}
	u.Proc, u.TTY, u.Window = r.Proc, r.TTY, r.Window
	if u.Pane == "" && u.Home == core.HomeTmux {
		u.Pane = r.Env["TMUX_PANE"]
	}
	u.EndedAt, u.Failed = 0, ""
	u.state, u.text, u.started, u.failedAt = core.LaunchStarted, "", time.Now(), time.Time{}
	e.launched.Store(r.Proc, r.Token)
	e.procs.add(e, r.Proc)
	e.note(u)
	if u.native != "" {
		ev := core.Event{Kind: core.EventLaunched, At: core.InstantOf(time.Now()), Agent: u.Agent, Native: u.native,
			Proc: u.Proc, Alive: true, CWD: u.CWD, Model: u.Model, LaunchToken: u.Token}
		if err := e.take(ev); err != nil {
			e.log.Error("launch not taken", "token", u.Token, "error", err)
		}
	}
	e.log.Info("launched", "agent", u.Agent, "token", u.Token, "pid", u.Proc.PID, "home", u.Home, "terminal", u.Terminal, "note", r.Note)
	u.news()
	wake(e.wakes.poll)
}

// launchMatched ends the waiting: the session is known.
func (e *Engine) launchMatched(l core.LaunchRecord) {
	u := e.launches[l.Token]
	if u == nil {
		return
	}
	delete(e.launches, l.Token)
	u.LaunchRecord = l
	u.state = ""
	u.letGo()
	u.news()
	e.dirty = true
}

// launchFailed tells why a launch came to nothing.
func (e *Engine) launchFailed(u *underway, text string, lines []string) {
	u.EndedAt, u.Failed = core.InstantOf(time.Now()), text
	u.state, u.text, u.lines, u.failedAt = core.LaunchFailed, text, lines, time.Now()
	e.log.Warn("launch failed", "agent", u.Agent, "token", u.Token, "why", text)
	e.note(u)
	u.letGo()
	u.news()
}

// watchLaunches judges every launch under way by a reading of the process table. One that reported since
// may have begun after the table was read, which then says nothing of it.
func (e *Engine) watchLaunches(l *look) {
	now := time.Now()
	for token, u := range e.launches {
		age := now.Sub(u.RequestedAt.Time())
		switch {
		case u.state == core.LaunchFailed:
			if now.Sub(u.failedAt) > failedStay {
				delete(e.launches, token)
				e.dirty = true
			}
		case u.Proc.Known() && u.started.Before(l.before) && !core.Alive(l.table, u.Proc):
			if e.endedByHand(u) {
				u.EndedAt, u.state = core.InstantOf(now), ""
				e.note(u)
				delete(e.launches, token)
				u.letGo()
				u.news()
				break
			}
			e.launchFailed(u, fmt.Sprintf("It ended after %s.", seconds(now.Sub(u.started))), nil)
			e.lastLines(u)
		case age <= toBegin:
		case u.Proc.Known():
			if !u.Expired { // it lives, in a dialog perhaps: only the waiting ends
				u.Expired = true
				e.note(u)
				u.letGo()
				u.news()
			}
		default:
			u.Expired = true
			e.launchFailed(u, fmt.Sprintf("Nothing was heard of it within %.0f s.", toBegin.Seconds()), nil)
		}
	}
}

// endedByHand tells whether END was asked for while the session was still starting: that is no failure.
func (e *Engine) endedByHand(u *underway) bool {
	s := e.picture.Session(u.Expect)
	return s != nil && s.Status == core.StatusKilled && s.EndedAt > u.RequestedAt
}

// overtaken tells whether a launch that was given up must not begin any more: meanwhile its session runs, or
// another launch takes it up.
func (e *Engine) overtaken(u *underway) bool {
	if u.EndedAt == 0 || u.Expect == "" {
		return false
	}
	if s := e.picture.Session(u.Expect); s != nil && !s.Status.Over() {
		return true
	}
	for _, o := range e.launches {
		if o != u && o.Expect == u.Expect && o.Waits() {
			return true
		}
	}
	return false
}

// seconds writes a short time as a person reads it.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// lastLines fetches what a launch that ended showed last, where that can still be had, and clears its
// dead pane away.
func (e *Engine) lastLines(u *underway) {
	if u.Home != core.HomeTmux || u.Pane == "" || e.o.Tmux == nil || !e.actions.begin() {
		return
	}
	token, pane := u.Token, u.Pane
	go func() {
		defer e.actions.wg.Done()
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		text, err := e.o.Tmux.Capture(ctx, pane, 12)
		if err != nil {
			return
		}
		if p, ok, err := e.o.Tmux.Pane(ctx, pane); err == nil && ok && p.Dead && p.TowerID == token {
			if err := e.o.Tmux.Kill(ctx, pane); err != nil {
				e.log.Warn("dead pane not cleared", "pane", pane, "error", err)
			}
		}
		e.post(ctx, func(context.Context) error {
			if u := e.launches[token]; u != nil && u.state == core.LaunchFailed {
				u.lines = tailOf(text, 12)
				e.dirty = true
				u.news()
			}
			return nil
		})
	}()
}

// tailOf returns the last lines that hold anything, bounded.
func tailOf(text string, n int) []string {
	var lines []string
	for l := range strings.Lines(text) {
		if l = line(strings.TrimRight(l, " \r\n"), 300); l != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-n):]
}

// stoppedBy finds out, for launches whose process lives without a session, which dialog stands in the
// way: by the agent's own records and, in the tower's tmux, by what its screen shows. It runs in a worker.
func (e *Engine) stoppedBy(ctx context.Context) error {
	type waiting struct {
		token, dir, pane string
		agent            core.Agent
	}
	var list []waiting
	err := e.post(ctx, func(context.Context) error {
		for _, u := range e.launches {
			if (u.state == core.LaunchStarted || u.state == core.LaunchBlocked) && time.Since(u.started) > toPonder {
				w := waiting{u.Token, u.CWD, "", u.Agent}
				if u.Home == core.HomeTmux {
					w.pane = u.Pane
				}
				list = append(list, w)
			}
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		return err
	}
	for _, w := range list {
		state, text := core.LaunchStarted, "Its session is not known yet. A dialog may stop it: jump to its window to look."
		if d, ok := e.adapters[w.agent].(core.Doorkeeper); ok {
			if asks := d.Dialogs(w.dir); len(asks) > 0 {
				state, text = core.LaunchBlocked, "Stopped by a dialog: it asks "+strings.Join(asks, " and ")+"."
			}
		}
		if s, ok := e.adapters[w.agent].(core.Screener); ok && w.pane != "" && e.o.Tmux != nil {
			p, found, err := e.o.Tmux.Pane(ctx, w.pane)
			shown, err2 := e.o.Tmux.Capture(ctx, w.pane, 50)
			if err == nil && err2 == nil && found {
				if dialog := s.Screen(p.Title, shown).Dialog; dialog != "" {
					state, text = core.LaunchBlocked, "Stopped by a dialog: "+line(dialog, 200)
				}
			}
		}
		e.post(ctx, func(context.Context) error {
			u := e.launches[w.token]
			if u != nil && (u.state == core.LaunchStarted || u.state == core.LaunchBlocked) && (u.state != state || u.text != text) {
				u.state, u.text = state, text
				e.dirty = true
				u.news()
			}
			return nil
		})
	}
	return nil
}

// launching lists the launches under way as faces show them.
func (e *Engine) launching() []core.Launching {
	list := []core.Launching{}
	for _, u := range e.launches {
		if u.state == core.LaunchStarted && u.native != "" && u.text == "" {
			continue // its row says the same
		}
		list = append(list, core.Launching{Token: u.Token, Agent: u.Agent, CWD: u.CWD, Name: u.Name, Terminal: u.Terminal,
			RequestedAt: u.RequestedAt, Expect: u.Expect, State: u.state, Text: u.text, Lines: slices.Clone(u.lines)})
	}
	slices.SortFunc(list, func(a, b core.Launching) int {
		if a.RequestedAt != b.RequestedAt {
			return int(a.RequestedAt - b.RequestedAt)
		}
		return strings.Compare(a.Token, b.Token)
	})
	return list
}

// lineage is what an ancestry says of who drives a session, and by which launch.
type lineage struct {
	core.Lineage
	launch string // the token of the launch that one of the processes began as
}

// lineageOf reads an ancestry. Another agent between a launch and the session makes it that agent's child,
// and a token binds no child, be it of the same agent.
func (e *Engine) lineageOf(boot string, agent core.Agent, chain []core.Ancestor) lineage {
	var l lineage
	// The process that a launch began as comes first; what stands above it launched nothing by hand.
	l.Lineage = core.ReadAncestry(boot, e.agents, agent, chain, func(p core.Process) bool {
		token, ok := e.launched.Load(p)
		if ok {
			l.launch = token.(string)
		}
		return ok
	})
	if l.nested() {
		l.launch = ""
	}
	return l
}

func (l *lineage) nested() bool { return l.Nested != nil && *l.Nested }

// tokenOf finds the launch that a process of an agent belongs to: by its ancestry, or by its environment.
func (e *Engine) tokenOf(t core.Table, p core.Process, agent core.Agent) string {
	if !e.picture.Launching() {
		return ""
	}
	if token, ok := e.launched.Load(p); ok {
		return token.(string)
	}
	if e.picture.Drives(p) != "" {
		return "" // looked at when it was first seen; a look at all ancestors costs
	}
	var chain []core.Ancestor
	row, ok := t.Proc(p.PID)
	for ok && row.PID > 1 && len(chain) < 16 {
		a := core.Ancestor{PID: row.PID, PPID: row.PPID, Created: row.Start}
		a.Exe, _ = t.Exe(row.PID)
		a.Args, _ = t.Args(row.PID)
		chain = append(chain, a)
		row, ok = t.Proc(row.PPID)
		ok = ok && row.Start <= a.Created // a younger one has the number of a parent that is gone
	}
	l := e.lineageOf(t.Boot(), agent, chain)
	if l.launch != "" || l.nested() {
		return l.launch
	}
	env, _ := t.Environ(p.PID)
	return e.inherited(env[core.EnvLaunch])
}

// inherited returns the token that an environment names, if it proves anything: every child inherits it, a
// server that outlives the session included, so it counts for a launch that has not told its process only.
func (e *Engine) inherited(token string) string {
	if l, ok := e.picture.Launch(token); !ok || l.Proc.Known() {
		return ""
	}
	return token
}

// pruneLaunches removes the files of launches that are older than the person wants to keep.
func (e *Engine) pruneLaunches() error {
	dir := e.o.Home.Launches()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	before := time.Now().AddDate(0, 0, -max(1, e.o.Config.RetentionDays))
	errs := []error{err}
	for _, f := range entries {
		info, err := f.Info()
		if err != nil || !launch.Ours(f.Name()) || !info.Mode().IsRegular() || info.ModTime().After(before) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove launch file: %w", err))
		}
	}
	return errors.Join(errs...)
}
