package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	clients, err := attached(ctx, mux, pane)
	if err != nil {
		return err
	}
	var none error
	for _, client := range clients { // the newest may be one from afar, which has no window here
		w, err := e.clientWindow(ctx, p.table, client)
		if err != nil {
			if none == nil {
				none = err
			}
			continue
		}
		if err := mux.Show(ctx, client.Name, pane.ID); err != nil {
			return fmt.Errorf("show its pane: %w", err)
		}
		return e.o.Desktop.Focus(ctx, w)
	}
	return none
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

// attached returns the clients of persons: those of the pane's own session first, then by who used theirs
// last. Without any it refuses.
func attached(ctx context.Context, mux Panes, pane tmux.Pane) ([]tmux.Client, error) {
	clients, err := mux.Clients(ctx)
	if err != nil {
		return nil, fmt.Errorf("look who is attached: %w", err)
	}
	clients = slices.DeleteFunc(slices.Clone(clients), func(c tmux.Client) bool { return c.Control || c.PID == 0 })
	if len(clients) == 0 {
		return nil, &core.Refusal{What: noWindow, Why: fmt.Sprintf("It runs in tmux (pane %s) and no window is attached to it.", pane.ID),
			Hint: "Attach to it, or end it."}
	}
	slices.SortStableFunc(clients, func(a, b tmux.Client) int {
		if own := a.Session == pane.Session; own != (b.Session == pane.Session) {
			if own {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Activity, a.Activity)
	})
	return clients, nil
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
