package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tower/core"
	"tower/core/term"
	"tower/core/tmux"
)

// way is how a text gets to a session.
type way struct {
	how    string
	silent bool         // it needs no window
	tool   *core.Launch // the agent's own
	mux    Panes
	pane   string
	window *term.Window
}

// wayTo finds the way, or says why there is none.
func (e *Engine) wayTo(ctx context.Context, su *subject, p proven, text string) (way, error) {
	if d, ok := e.adapters[su.Agent].(core.Deliverer); ok {
		if l, ok := d.Deliver(su.Session, p.Sighting, text); ok {
			return way{how: "by " + p.info.Display + "'s own queue", silent: true, tool: &l}, nil
		}
	}
	if p.Shared {
		return way{}, &core.Refusal{What: notDelivered, Why: noOwnWindow, Hint: "Type it in its own window."}
	}
	if p.row.TTY == 0 {
		return way{}, &core.Refusal{What: notDelivered, Why: "It has no terminal to type into."}
	}
	mux, pane, ok, asked := e.paneOf(ctx, p)
	if ok {
		w := way{how: "by its tmux pane " + pane.ID, mux: mux, pane: pane.ID}
		return w, e.still(ctx, su, w, text)
	}
	w, err := e.o.Desktop.Find(ctx, p.table, p.Proc)
	if err == nil && w.CanType() {
		at := way{how: "by " + w.Terminal + "'s remote control", window: &w}
		return at, e.still(ctx, su, at, text)
	}
	name := "Its terminal"
	if err == nil && w.Terminal != "" {
		name = w.Terminal
	}
	return way{}, orUnasked(notDelivered, &core.Refusal{What: notDelivered, Why: name + " takes no text from outside, so nothing can be proven to arrive.",
		Hint: "Jump to it and paste. Sessions that are launched in kitty or in tmux take text."}, asked)
}

// provePane is the whole proof that keys sent to a pane reach this agent and nothing else.
func (e *Engine) provePane(p proven, pane tmux.Pane) error {
	dev, err := tmux.Rdev(pane.TTY)
	if err != nil {
		return &core.Refusal{What: notDelivered, Why: "The pane's terminal cannot be looked at: " + err.Error() + "."}
	}
	return tmux.Prove(notDelivered, p.table, p.Proc, pane, dev, p.family)
}

// family tells whether a process is one of the agent's programs.
func (p *proven) family(pid int) bool {
	exe, _ := p.table.Exe(pid)
	args, _ := p.table.Args(pid)
	return p.info.MatchExe(exe, args)
}

// ending is what keeps the last word of a text from meaning something to an input box: a backslash would
// take the Enter for a line break, a file's name after @ would take it for a choice. Agents drop the blank.
func ending(text string) string {
	word := text[strings.LastIndexAny(text, " \t\n")+1:]
	if strings.HasSuffix(text, "\\") || strings.HasPrefix(word, "@") || strings.HasPrefix(word, "$") {
		return " "
	}
	return ""
}

// still proves that keys sent this way reach the agent's input box and nothing else. The pane is looked at
// before the processes are: what is in it then was there when it was proven.
func (e *Engine) still(ctx context.Context, su *subject, w way, text string) error {
	var pane tmux.Pane
	if w.mux != nil {
		var ok bool
		var err error
		if pane, ok, err = w.mux.Pane(ctx, w.pane); err != nil {
			return fmt.Errorf("look at the pane: %w", err)
		}
		if !ok {
			return &core.Refusal{What: notDelivered, Why: "Its pane is gone."}
		}
	}
	p, err := e.hears(ctx, su.ID)
	if err != nil {
		return err
	}
	// A text that waits for its turn is given to the agent without the blank that guards it.
	if strings.HasPrefix(text, " /") && p.Pill != core.PillIdle && p.Pill != "" {
		return &core.Refusal{What: notDelivered, Why: "It works, and a text that begins with / would run as a command once it is its turn.",
			Hint: "Send it when the session is idle, or begin it with another character."}
	}
	if w.mux == nil {
		if err := tmux.InFront(notDelivered, p.table, p.Proc, p.family); err != nil {
			return err
		}
		shown, err := e.o.Desktop.Text(ctx, *w.window)
		if err != nil {
			return verdict(notDelivered, err)
		}
		return e.boxShown(su, "", shown)
	}
	if err := e.provePane(p, pane); err != nil {
		return err
	}
	shown, err := w.mux.Capture(ctx, w.pane, 60)
	if err != nil {
		return fmt.Errorf("look at the pane: %w", err)
	}
	return e.boxShown(su, pane.Title, shown)
}

// boxShown refuses when the screen shows a dialog, or something else than the input box. An agent whose
// screen nobody reads is believed by its records alone.
func (e *Engine) boxShown(su *subject, title, shown string) error {
	s, ok := e.adapters[su.Agent].(core.Screener)
	if !ok {
		return nil
	}
	seen := s.Screen(title, shown)
	switch {
	case seen.Dialog != "":
		return &core.Refusal{What: notDelivered, Why: "A dialog is open: " + line(seen.Dialog, 200), Hint: "Jump to it and answer."}
	case !seen.Input:
		return &core.Refusal{What: notDelivered, Why: "Its screen shows no input box.", Hint: "Jump to look."}
	}
	return nil
}

func (e *Engine) paste(ctx context.Context, w way, text string) error {
	if w.mux != nil {
		if err := w.mux.Paste(ctx, w.pane, text); err != nil {
			return fmt.Errorf("paste: %w", err)
		}
		return nil
	}
	if err := e.o.Desktop.SendText(ctx, *w.window, text); err != nil {
		return fmt.Errorf("paste: %w", err)
	}
	return nil
}

func (e *Engine) enter(ctx context.Context, w way) error {
	if w.mux != nil {
		return w.mux.Enter(ctx, w.pane)
	}
	return e.o.Desktop.SendEnter(ctx, *w.window)
}

// drawn waits until the screen has stopped changing after a paste: agents draw their input box when they
// come to it, and an Enter that is faster is taken for a part of what was pasted.
func (e *Engine) drawn(ctx context.Context, w way, text string) {
	if w.mux == nil {
		pause(ctx, toDraw)
		return
	}
	longest := time.Now().Add(toDraw*2 + time.Duration(len(text)/100)*time.Millisecond)
	began := time.Now()
	last, steady := "", time.Now()
	for time.Now().Before(longest) && ctx.Err() == nil {
		shown, err := w.mux.Capture(ctx, w.pane, 60)
		if err != nil {
			return
		}
		if shown != last {
			last, steady = shown, time.Now()
		}
		if time.Since(steady) >= toDraw/2 && time.Since(began) >= toDraw {
			return
		}
		pause(ctx, 25*time.Millisecond)
	}
}
