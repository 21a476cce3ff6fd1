package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"tower/core"
	"tower/core/proc"
	"tower/core/term"
	"tower/core/tmux"
)

// place is where a session shows: a pane of a tmux server, a window, or just a terminal device.
type place struct {
	device uint64
	tty    string // its path, or ""
	leader core.Proc
	table  core.Table // as it was then

	mux    Panes
	pane   tmux.Pane
	window *term.Window
	unsure string // why nobody can say whether it is in a pane, or ""
}

// where finds out where a proven process shows. What cannot be found out stays empty.
func (e *Engine) where(ctx context.Context, p proven) place {
	at := place{device: p.row.TTY, table: p.table}
	if p.row.TTY == 0 {
		return at
	}
	at.tty = ttyPath(p.row.TTY)
	at.leader, _ = p.table.Proc(p.row.SID)
	mux, pane, ok, err := e.paneOf(ctx, p)
	if ok {
		at.mux, at.pane = mux, pane
		return at
	}
	at.unsure = unasked(err)
	if w, err := e.o.Desktop.Find(ctx, p.table, p.Proc); err == nil {
		at.window = &w
	}
	return at
}

// paneOf returns the tmux pane a process runs in: the one its environment names, if the pane's own
// process stands above it and shares its terminal. An environment is inherited and proves nothing. An
// error means that its server could not be asked, so that it may be in a pane or not.
func (e *Engine) paneOf(ctx context.Context, p proven) (Panes, tmux.Pane, bool, error) {
	var none tmux.Pane
	env, ok := p.table.Environ(p.Proc.PID)
	if !ok {
		return nil, none, false, nil
	}
	socket, id, ok := tmux.Locate(env)
	if !ok {
		return nil, none, false, nil
	}
	mux := e.server(socket)
	if mux == nil {
		return nil, none, false, nil
	}
	pane, ok, err := mux.Pane(ctx, id)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) {
		return nil, none, false, err
	}
	if err != nil || !ok || !tmux.Below(p.table, p.Proc.PID, pane.PID) {
		return nil, none, false, nil
	}
	if dev, err := tmux.Rdev(pane.TTY); err != nil || dev != p.row.TTY {
		return nil, none, false, nil
	}
	return mux, pane, true, nil
}

// unasked says that a tmux server could not be asked, or nothing.
func unasked(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, tmux.ErrHung):
		return "Its tmux does not answer."
	}
	return "Its tmux cannot be asked: " + line(err.Error(), 200) + "."
}

// orUnasked is a refusal for want of a window. Where a tmux server could not be asked, that is the reason:
// the window is looked for in vain because it may be a pane.
func orUnasked(what string, refused, asked error) error {
	if why := unasked(asked); why != "" {
		return &core.Refusal{What: what, Why: why, Hint: "Try again in a moment."}
	}
	return refused
}

// server returns the tmux server behind a socket: the tower's own, or a person's.
func (e *Engine) server(socket string) Panes {
	if same(socket, e.o.Home.TmuxSocket()) {
		return e.o.Tmux
	}
	if e.o.Foreign == nil {
		return nil
	}
	return e.o.Foreign(socket)
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return a == b || err1 == nil && err2 == nil && os.SameFile(x, y)
}

// leads is the process that leads the terminal.
func (at *place) leads() core.Process {
	return core.Process{Boot: at.table.Boot(), PID: at.leader.PID, Start: at.leader.Start}
}

// ttyPath returns the path of a pseudo terminal by its device number, or "".
func ttyPath(device uint64) string {
	minor := device&0xff | device>>12&0xfff00
	path := fmt.Sprintf("/dev/pts/%d", minor)
	if got, err := tmux.Rdev(path); err != nil || got != device {
		return ""
	}
	return path
}

// closeWindow sees to it that the place is gone once its session has ended. A shell that was left on its
// prompt is hung up when nothing else lives on its terminal; the terminal's own process never is: it may
// hold other people's windows. nil means that there was no window.
func (e *Engine) closeWindow(ctx context.Context, at place) (*bool, string) {
	yes, no := true, false
	if at.device == 0 {
		return nil, "It had no terminal."
	}
	deadline := time.Now().Add(toClose)
	hung, why := false, ""
	var alone time.Time // since when the shell is
	for {
		closed, err := e.isClosed(ctx, at)
		if closed {
			return &yes, ""
		}
		if err != nil {
			why = err.Error()
		}
		if !hung {
			left, reason := e.abandoned(at)
			switch {
			case !left:
				alone = time.Time{}
			case alone.IsZero():
				alone = time.Now()
			case time.Since(alone) >= settled:
				hung, reason = e.hangUp(at)
			}
			if reason != "" {
				why = reason
			}
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	if why == "" {
		why = at.unsure
	}
	if why == "" {
		why = "The terminal keeps it open."
	}
	return &no, why
}

// isClosed tells whether the place is no more.
func (e *Engine) isClosed(ctx context.Context, at place) (bool, error) {
	if at.mux != nil {
		pane, ok, err := at.mux.Pane(ctx, at.pane.ID)
		switch {
		case errors.Is(err, tmux.ErrNoServer), err == nil && !ok, err == nil && pane.PID != at.pane.PID:
			return true, nil
		case err != nil:
			return false, err
		case pane.Dead:
			return false, at.mux.Kill(ctx, at.pane.ID)
		}
		return false, nil
	}
	if !e.released(at) {
		return false, nil
	}
	// A terminal of one window may hold on to it without the device, unlike kitty, which only takes its time;
	// with several windows or tabs it keeps the others open.
	if at.window != nil && at.window.Kind == term.KindX11 && !at.window.Shared && at.window.Terminal != "kitty" && !at.tabbed() {
		there, err := e.o.Desktop.Exists(ctx, *at.window)
		return err == nil && !there, err
	}
	return true, nil
}

// tabbed tells whether the window's process has another terminal in it.
func (at *place) tabbed() bool {
	for _, pid := range at.table.Children(at.window.PID) {
		if q, ok := at.table.Proc(pid); ok && q.TTY != 0 && q.TTY != at.device && !q.Dead() {
			if up, ok := at.table.Proc(at.window.PID); !ok || q.TTY != up.TTY {
				return true
			}
		}
	}
	return false
}

// released tells whether the terminal device is gone, or belongs to others by now. The end of the process that
// leads a terminal takes it from all that had it, so whoever has it afterwards was given it anew.
func (e *Engine) released(at place) bool {
	if at.tty == "" {
		return false
	}
	if _, err := os.Stat(at.tty); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	if at.leader.PID == 0 || e.o.Alive(at.leads()) {
		return false
	}
	table, err := e.o.Table()
	if err != nil {
		return false
	}
	others := false
	table.All(func(q core.Proc) bool {
		others = q.TTY == at.device && !q.Dead()
		return !others
	})
	return others
}

// settled is how long a shell must have been alone on its terminal before it is hung up: a script that has just
// seen its agent end is on its way to its next command.
const settled = 150 * time.Millisecond

// console is the major number of the machine's own consoles on Linux.
const console = 4

// afar are the programs below which a shell is a person's log-in from elsewhere and no window here.
var afar = map[string]bool{"sshd": true, "sshd-session": true, "dropbear": true, "mosh-server": true}

// abandoned tells whether the terminal is led by a shell that waits on its prompt, and nothing but the shell is
// left on it. If not, what stands in the way may be told, too.
func (e *Engine) abandoned(at place) (bool, string) {
	table, err := e.o.Table()
	if err != nil {
		return false, err.Error()
	}
	leader, ok := table.Proc(at.leader.PID)
	if !ok || leader.Start != at.leader.Start || leader.Dead() {
		return false, "" // on its way out
	}
	exe, _ := table.Exe(leader.PID)
	name := strings.TrimSuffix(filepath.Base(strings.TrimSuffix(exe, " (deleted)")), ".exe")
	if leader.TTY != at.device || leader.SID != leader.PID {
		return false, fmt.Sprintf("Process %d, which led its terminal, leads it no more.", leader.PID)
	}
	if !core.IsShell(name) {
		return false, fmt.Sprintf("Its terminal belongs to %s (pid %d), which is no shell.", name, leader.PID)
	}
	if up, ok := table.Proc(leader.PPID); ok && afar[up.Comm] {
		return false, fmt.Sprintf("Its shell (pid %d) is a log-in from afar, which is left to its person.", leader.PID)
	}
	if runtime.GOOS == "linux" && at.device>>8&0xfff == console {
		return false, fmt.Sprintf("Its shell (pid %d) is a log-in on the machine's console, which is left to its person.", leader.PID)
	}
	if leader.TPGID != leader.Group {
		return false, "" // the shell has not taken the terminal back yet, or runs something else
	}
	var other core.Proc
	table.All(func(q core.Proc) bool {
		if q.TTY == at.device && q.PID != leader.PID && !q.Dead() {
			other = q
		}
		return other.PID == 0
	})
	if other.PID != 0 {
		return false, fmt.Sprintf("%s (pid %d) runs in it as well.", other.Comm, other.PID)
	}
	return true, ""
}

// hangUp hangs up a shell that was left. It tells whether it did, and if not, why.
func (e *Engine) hangUp(at place) (bool, string) {
	if err := e.o.Signal(at.leads(), syscall.SIGHUP); err != nil && !errors.Is(err, proc.ErrGone) {
		return false, fmt.Sprintf("Its shell (pid %d) could not be hung up: %v.", at.leader.PID, err)
	}
	return true, ""
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
