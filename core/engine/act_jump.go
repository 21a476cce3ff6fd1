package engine

import (
	"context"
	"errors"
	"fmt"

	"tower/core"
	"tower/core/term"
	"tower/core/tmux"
)

const (
	noWindow    = "No window to jump to."
	noOwnWindow = "Its process serves other sessions too, so no window is provably its own."
)

// jump brings the session's window to the front, and verifies that it is there.
func (e *Engine) jump(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	if !su.running() {
		return core.Result{}, &core.Refusal{What: noWindow, Why: "It is over.", Hint: "Resume takes it up again."}
	}
	p, err := e.prove(ctx, noWindow, &su)
	if err != nil {
		return core.Result{}, err
	}
	if err := e.raise(ctx, &su, p); err != nil {
		return core.Result{}, err
	}
	return core.Result{Said: "Jumped to " + su.called() + "."}, nil
}

// raise finds the window of a proven process by the surest way there is and focuses it.
func (e *Engine) raise(ctx context.Context, su *subject, p proven) error {
	if err := p.shown(su); err != nil {
		return verdict(noWindow, err)
	}
	if p.row.TTY == 0 {
		hint := "End it here, or look at its transcript."
		if _, ok := e.ownAttach(su, p.Sighting); ok {
			hint = "Attach to it, or end it."
		}
		return &core.Refusal{What: noWindow, Why: fmt.Sprintf("It runs without a terminal (pid %d).", p.Proc.PID), Hint: hint}
	}
	mux, pane, ok, asked := e.paneOf(ctx, p)
	if !ok {
		w, err := e.o.Desktop.Find(ctx, p.table, p.Proc)
		if err != nil {
			return orUnasked(noWindow, err, asked)
		}
		return e.o.Desktop.Focus(ctx, w)
	}
	client, err := newest(ctx, mux, pane)
	if err != nil {
		return err
	}
	w, err := e.clientWindow(ctx, p.table, client)
	if err != nil {
		return err
	}
	if err := mux.Show(ctx, client.Name, pane.ID); err != nil {
		return fmt.Errorf("show its pane: %w", err)
	}
	return e.o.Desktop.Focus(ctx, w)
}

// shown turns what is proven of a process that serves many sessions into what is proven of the one that was
// launched for this session: the window of the former is nobody's own.
func (p *proven) shown(su *subject) error {
	if !p.Shared {
		return nil
	}
	row, err := identify("", p.table, su.tied.Proc, &p.info, true)
	if err != nil {
		return &core.Refusal{Why: noOwnWindow, Hint: "Look at its transcript."}
	}
	p.Proc, p.row = su.tied.Proc, row
	return nil
}

// newest returns the client that a person used last: of the pane's own session, else of any other.
func newest(ctx context.Context, mux Panes, pane tmux.Pane) (tmux.Client, error) {
	clients, err := mux.Clients(ctx)
	if err != nil {
		return tmux.Client{}, fmt.Errorf("look who is attached: %w", err)
	}
	var best tmux.Client
	for _, c := range clients {
		if c.Control || c.PID == 0 {
			continue
		}
		own, bestOwn := c.Session == pane.Session, best.Session == pane.Session
		if best.PID == 0 || own && !bestOwn || own == bestOwn && c.Activity > best.Activity {
			best = c
		}
	}
	if best.PID == 0 {
		return best, &core.Refusal{What: noWindow, Why: fmt.Sprintf("It runs in tmux (pane %s) and no window is attached to it.", pane.ID),
			Hint: "Attach to it, or end it."}
	}
	return best, nil
}

// clientWindow finds the window in which a tmux client runs. Its environment is the terminal's own; that
// of the panes is whatever the server was started with.
func (e *Engine) clientWindow(ctx context.Context, t core.Table, c tmux.Client) (term.Window, error) {
	row, ok := t.Proc(c.PID)
	if !ok {
		fresh, err := e.o.Table() // it may have come after the table was read
		if err != nil {
			return term.Window{}, fmt.Errorf("read process table: %w", err)
		}
		if row, ok = fresh.Proc(c.PID); !ok {
			return term.Window{}, &core.Refusal{What: noWindow, Why: "The tmux client that shows it has just ended.", Hint: "Attach to it, or end it."}
		}
		t = fresh
	}
	return e.o.Desktop.Find(ctx, t, core.Process{Boot: t.Boot(), PID: row.PID, Start: row.Start})
}

const notAttached = "Not attached."

// attach opens a window on a session that runs without one, or says what to run in the asker's own
// terminal.
func (e *Engine) attach(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	if !su.running() {
		return core.Result{}, &core.Refusal{What: notAttached, Why: "It is over.", Hint: "Resume takes it up again."}
	}
	p, err := e.prove(ctx, notAttached, &su)
	if err != nil {
		return core.Result{}, err
	}
	l, err := e.attachment(ctx, &su, p)
	if err != nil {
		return core.Result{}, err
	}
	if c.Here {
		return core.Result{Said: "Run this in a terminal.", Run: &l}, nil
	}
	name, err := e.o.Desktop.Choose(e.terminal(c.Terminal))
	var r *core.Refusal
	if errors.As(err, &r) {
		return core.Result{}, &core.Refusal{What: notAttached, Why: r.Why, Hint: "Run in a terminal: tower attach " + su.Native}
	}
	if err != nil {
		return core.Result{}, err
	}
	o, err := e.o.Desktop.Open(ctx, name, term.Spec{Title: su.Title(), Dir: e.o.Home.Data, Argv: l.Argv, Env: e.windowEnv()})
	if err != nil {
		return core.Result{}, fmt.Errorf("open %s: %w", name, err)
	}
	select {
	case <-o.Done():
		if err := o.Err(); err != nil {
			return core.Result{}, fmt.Errorf("open %s: %w", name, err)
		}
	default:
	}
	return core.Result{Said: "Attaching to " + su.called() + " in " + name + "."}, nil
}

// attachment is the command that shows the session.
func (e *Engine) attachment(ctx context.Context, su *subject, p proven) (core.Launch, error) {
	if l, ok := e.ownAttach(su, p.Sighting); ok {
		l.Argv[0] = e.program(su.Agent, l.Argv[0])
		return l, nil
	}
	if err := p.shown(su); err != nil {
		return core.Launch{}, verdict(notAttached, err)
	}
	mux, pane, ok, asked := e.paneOf(ctx, p)
	if !ok {
		return core.Launch{}, orUnasked(notAttached,
			&core.Refusal{What: notAttached, Why: "It runs in a terminal of its own, not in tmux.", Hint: "Jump to it."}, asked)
	}
	return core.Launch{Argv: mux.AttachArgv(pane), Dir: e.o.Home.Data, Unset: []string{"TMUX", "TMUX_PANE"}}, nil
}

func (e *Engine) ownAttach(su *subject, x core.Sighting) (core.Launch, bool) {
	if a, ok := e.adapters[su.Agent].(core.Attacher); ok {
		return a.Attach(su.Session, x)
	}
	return core.Launch{}, false
}
