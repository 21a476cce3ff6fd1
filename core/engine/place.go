package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	boot   string
	on     map[core.Process]bool // who had the device as its terminal

	mux    Panes
	pane   tmux.Pane
	window *term.Window
	unsure string // why nobody can say whether it is in a pane, or ""
}

// where finds out where a proven process shows. What cannot be found out stays empty.
func (e *Engine) where(ctx context.Context, p proven) place {
	at := place{device: p.row.TTY, boot: p.table.Boot(), on: map[core.Process]bool{}}
	if p.row.TTY == 0 {
		return at
	}
	at.tty = ttyPath(p.row.TTY)
	at.leader, _ = p.table.Proc(p.row.SID)
	p.table.All(func(q core.Proc) bool {
		if q.TTY == p.row.TTY {
			at.on[core.Process{Boot: at.boot, PID: q.PID, Start: q.Start}] = true
		}
		return true
	})
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
	if err != nil || !ok || !above(p.table, pane.PID, p.Proc.PID) {
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

// above tells whether pid up is the process down itself or one of its ancestors.
func above(t core.Table, up, down int) bool {
	for at, n := down, 0; at > 1 && n < 64; n++ {
		if at == up {
			return true
		}
		row, ok := t.Proc(at)
		if !ok {
			return false
		}
		at = row.PPID
	}
	return false
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
	for {
		closed, err := e.isClosed(ctx, at)
		if closed {
			return &yes, ""
		}
		if err != nil {
			why = err.Error()
		}
		if !hung {
			left, reason := e.hangUp(ctx, at)
			hung = left
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
	// A terminal of one window may hold on to it without the device; one of several keeps others open.
	if at.window != nil && at.window.Kind == "x11" && !at.window.Shared && at.window.Terminal != "kitty" {
		there, err := e.o.Desktop.Exists(ctx, *at.window)
		return err == nil && !there, err
	}
	return true, nil
}

// released tells whether the terminal device is gone, or belongs to others by now.
func (e *Engine) released(at place) bool {
	if at.tty == "" {
		return false
	}
	if _, err := os.Stat(at.tty); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	if e.o.Alive(core.Process{Boot: at.boot, PID: at.leader.PID, Start: at.leader.Start}) {
		return false
	}
	table, err := e.o.Table()
	if err != nil {
		return false
	}
	others := false
	table.All(func(q core.Proc) bool {
		if q.TTY == at.device && !q.Dead() && !at.on[core.Process{Boot: at.boot, PID: q.PID, Start: q.Start}] {
			others = true
		}
		return !others
	})
	return others
}

// shells are the programs that wait on a prompt for the next command.
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "fish": true, "dash": true, "ksh": true, "ksh93": true, "mksh": true, "ash": true, "busybox": true,
	"tcsh": true, "csh": true, "nu": true, "xonsh": true, "elvish": true, "pwsh": true, "yash": true,
}

// hangUp hangs up the shell that leads the terminal, if nothing but the shell is left on it. It tells
// whether it did, and if not, what stands in the way.
func (e *Engine) hangUp(ctx context.Context, at place) (bool, string) {
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
	if !shells[name] {
		return false, fmt.Sprintf("Its terminal belongs to %s (pid %d), which is no shell.", name, leader.PID)
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
	err = e.o.Signal(core.Process{Boot: at.boot, PID: leader.PID, Start: leader.Start}, syscall.SIGHUP)
	if err != nil && !errors.Is(err, proc.ErrGone) {
		return false, fmt.Sprintf("Its shell (pid %d) could not be hung up: %v.", leader.PID, err)
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
