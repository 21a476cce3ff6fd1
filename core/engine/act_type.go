package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tower/core"
	"tower/core/claim"
	"tower/core/tmux"
)

const notDelivered = "Not delivered."

// How long TYPE waits: for the input box to have drawn the text, for a turn to begin, and before Enter
// is pressed once more.
const (
	toDraw    = 200 * time.Millisecond
	toArrive  = 5 * time.Second
	toRepress = 2500 * time.Millisecond
	slowly    = 40_000 // bytes that an agent may take a second for
)

// typeText gives a text to a running session as one prompt.
func (e *Engine) typeText(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	return e.typeInto(ctx, c, &su, c.Text, true)
}

// typeInto delivers a text: by the agent's own way where it has one, else pasted into the proven pane,
// with Enter apart. Guarded, a text cannot be taken for a command of the agent. What counts is the agent's
// own sign that the text arrived: a hook, or its records.
func (e *Engine) typeInto(ctx context.Context, c core.Command, su *subject, raw string, guard bool) (core.Result, error) {
	if err := prompt(notDelivered, raw); err != nil {
		return core.Result{}, err
	}
	text, removed, err := tmux.Clean(raw, guard)
	if err != nil {
		return core.Result{}, verdict(notDelivered, err)
	}
	if strings.TrimSpace(text) == "" {
		return core.Result{}, &core.Refusal{What: notDelivered, Why: "The text is empty."}
	}
	p, err := e.hears(ctx, su.ID)
	if err != nil {
		return core.Result{}, err
	}
	way, err := e.wayTo(ctx, su, p, text)
	if err != nil {
		return core.Result{}, err
	}
	release, err := e.claim(notDelivered, c, "typing", claim.Session(su.ID))
	if err != nil {
		return core.Result{}, err
	}
	defer release()
	in, err := e.intend(ctx, c, "")
	if err != nil {
		return core.Result{}, fmt.Errorf("write down what is to be typed, so nothing was: %w", err)
	}
	heard, done := e.listen(ctx, su, text)
	defer done()
	since := core.InstantOf(time.Now())
	if c.By != "crew" && !way.silent {
		// A person wants to see where the text goes. That there is no window to show stops nothing.
		if err := e.raise(ctx, su, p); err != nil {
			e.log.Info("typing without a jump", "session", su.Native, "why", err)
		}
	}
	err = e.deliver(ctx, su, way, text, since, heard)
	e.settle(ctx, in, err, way.how)
	if err != nil {
		return core.Result{}, err
	}
	said := "Delivered to " + su.called() + " " + way.how + "."
	if removed > 0 {
		said += fmt.Sprintf(" %d control characters were left out.", removed)
	}
	return core.Result{Said: said}, nil
}

// hears proves that the session runs at this moment and asks nothing: a text typed into a dialog would answer
// it.
func (e *Engine) hears(ctx context.Context, id core.SessionID) (proven, error) {
	su, err := e.subject(ctx, id)
	if err != nil {
		return proven{}, err
	}
	if !su.running() {
		return proven{}, &core.Refusal{What: notDelivered, Why: "It is over.", Hint: "Resume it, then send again."}
	}
	p, err := e.prove(ctx, notDelivered, &su)
	if err != nil {
		return p, err
	}
	now, err := e.subject(ctx, id) // a hook may have told meanwhile what the evidence does not
	if err != nil {
		return p, err
	}
	waits := p.Pill == core.PillWaiting || now.live != nil && now.live.Pill == core.PillWaiting
	switch {
	case waits:
		what := "permission"
		if now.live != nil && now.live.Wait != "" {
			what = string(now.live.Wait)
		}
		return p, &core.Refusal{What: notDelivered, Why: "This session waits on a " + what + "; typed text would answer it.",
			Hint: "Jump to it, or send again when it works on."}
	case now.Status == core.StatusStarting:
		return p, &core.Refusal{What: notDelivered, Why: "It is still starting; a dialog may be open.", Hint: "Jump to it, or send again when it is up."}
	case p.row.State == 'T':
		return p, &core.Refusal{What: notDelivered, Why: fmt.Sprintf("Process %d is suspended; the text would go to the shell before it.", p.Proc.PID),
			Hint: "Bring it back with fg in its terminal."}
	}
	return p, nil
}

// deliver sends the text and waits for the sign that it arrived. A second try presses Enter only: the
// text is in the box already.
func (e *Engine) deliver(ctx context.Context, su *subject, w way, text string, since core.Instant, heard <-chan struct{}) error {
	if w.tool != nil {
		if said, err := e.runTool(ctx, su.Agent, *w.tool); err != nil {
			return fmt.Errorf("hand the text to the agent: %w (%s)", err, said)
		}
		if e.arrives(ctx, su, text, since, heard, 2*toArrive) {
			return nil
		}
		return &core.Refusal{What: notDelivered, Why: "The agent's queue took the text, but nothing shows that it arrived.", Hint: "Jump to look."}
	}
	if err := e.paste(ctx, w, text+ending(text)); err != nil {
		return err
	}
	e.drawn(ctx, w, text)
	// Between the paste and the key a dialog may have opened, or the agent may have gone.
	press := func() error {
		err := e.still(ctx, su, w, text)
		if err == nil {
			err = e.enter(ctx, w)
		}
		return err
	}
	if err := press(); err != nil {
		return unsent("The text was pasted, but Enter was not pressed. ", err)
	}
	more := time.Duration(len(text)/slowly) * time.Second
	if e.arrives(ctx, su, text, since, heard, toRepress+more) {
		return nil
	}
	// Where the key may not be pressed a second time, the first one was heard perhaps.
	again := press()
	if e.arrives(ctx, su, text, since, heard, toArrive-toRepress+more) {
		return nil
	}
	if again != nil {
		return unsent("The text was pasted and Enter was pressed, but nothing shows that it arrived. ", again)
	}
	return &core.Refusal{What: notDelivered, Why: fmt.Sprintf("The text was pasted and Enter pressed, but no turn began within %.0f s.", toArrive.Seconds()),
		Hint: "Jump to look: it may still be in the input box, or be a command that the agent does not know."}
}

// unsent says how far a text came that something stood in the way of.
func unsent(far string, err error) error {
	var r *core.Refusal
	if errors.As(err, &r) {
		return &core.Refusal{What: notDelivered, Why: far + r.Why, Hint: r.Hint}
	}
	return fmt.Errorf("press enter: %w", err)
}

// arrives waits for a sign that the text arrived: the hook's prompt, or the agent's own records.
func (e *Engine) arrives(ctx context.Context, su *subject, text string, since core.Instant, heard <-chan struct{}, longest time.Duration) bool {
	end := time.NewTimer(longest)
	defer end.Stop()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-heard:
			return true
		case <-look.C:
			if e.recorded(ctx, su, text, since) {
				return true
			}
		case <-end.C:
			return e.recorded(ctx, su, text, since)
		case <-ctx.Done():
			return false
		}
	}
}

// recorded asks the agent's own records.
func (e *Engine) recorded(ctx context.Context, su *subject, text string, since core.Instant) bool {
	now, err := e.subject(ctx, su.ID) // its transcript may have come into being by this very prompt
	if err != nil {
		return false
	}
	if d, ok := e.adapters[su.Agent].(core.Deliverer); ok {
		if done, err := d.Delivered(ctx, now.Session, text, since); err == nil && done {
			return true
		}
	}
	if t, ok := e.adapters[su.Agent].(core.Confirmer); ok {
		done, err := t.Typed(ctx, now.Session, text, since)
		return err == nil && done
	}
	return false
}

// listen has the session's next prompt event with this text close a channel. done ends the listening.
func (e *Engine) listen(ctx context.Context, su *subject, text string) (heard <-chan struct{}, done func()) {
	c := make(chan struct{})
	id := su.ID
	want := strings.TrimSpace(text)
	l := &listener{session: id, hear: func(prompt string) bool {
		prompt = strings.TrimSpace(prompt)
		// What the reducer keeps of a prompt is cut.
		if prompt == want || len(prompt) >= 1000 && strings.HasPrefix(want, prompt) {
			close(c)
			return true
		}
		return false
	}}
	e.post(ctx, func(context.Context) error { e.listeners[l] = true; return nil })
	return c, func() {
		e.post(context.WithoutCancel(ctx), func(context.Context) error { delete(e.listeners, l); return nil })
	}
}

// listener waits for one prompt of one session.
type listener struct {
	session core.SessionID
	hear    func(prompt string) bool
}

// heardPrompt tells the listeners of a prompt.
func (e *Engine) heardPrompt(ev *core.Event) {
	for l := range e.listeners {
		if l.session == ev.Session() && l.hear(ev.Prompt) {
			delete(e.listeners, l)
		}
	}
}
