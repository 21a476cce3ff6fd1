package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"tower/core"
	"tower/core/claim"
	"tower/core/proc"
)

// How long END waits: for the process after the signal, for its window after the process, and for what it
// had started.
const (
	toDie    = 5 * time.Second
	toClose  = 2500 * time.Millisecond
	toFollow = 300 * time.Millisecond
)

const notEnded = "Not ended."

// end stops a session and closes the window it lives in. What is reported is the consequence: a session
// that did not end is live again, and a window that stayed is said to have stayed.
func (e *Engine) end(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	p, err := e.endable(ctx, &su, c.Force)
	if err != nil {
		return core.Result{}, err
	}
	release, err := e.claim(notEnded, c, "ending", claim.Session(su.ID))
	if err != nil {
		return core.Result{}, err
	}
	defer release()
	if stop, ok := e.ownStop(&su, p.Sighting); ok {
		return e.endByCommand(ctx, c, &su, p, stop)
	}
	spot := e.where(ctx, p)
	kill := core.Event{Kind: core.EventKill, At: core.InstantOf(time.Now()), Agent: su.Agent, Native: su.Native, Proc: p.Proc}
	in, err := e.intend(ctx, c, "", kill)
	if err != nil {
		e.alive(ctx, in, &su, p, err)
		return core.Result{}, fmt.Errorf("write down that it is to be ended, so nothing was signalled: %w", err)
	}
	// What was proven before the ledger was written is proven again: a moment is enough for a pid to be
	// another's.
	again, err := e.endable(ctx, &su, c.Force)
	if err == nil && again.Proc != p.Proc {
		err = &core.Refusal{What: notEnded, Why: fmt.Sprintf("It went on in another process meanwhile: %d, then %d.", p.Proc.PID, again.Proc.PID), Hint: "Try once more."}
	}
	if err != nil {
		return core.Result{}, errors.Join(err, e.alive(ctx, in, &su, p, err))
	}
	children := descendants(again.table, again.MustGo)
	if err := e.signal(ctx, again, c.Force); err != nil {
		return core.Result{}, errors.Join(err, e.alive(ctx, in, &su, p, err))
	}
	if left := e.outlived(ctx, again.MustGo, toDie); len(left) > 0 {
		how := "after SIGTERM"
		if c.Force {
			how = "after SIGKILL"
		}
		detail := fmt.Sprintf("Process %d still runs %.0f s %s.", left[0].PID, toDie.Seconds(), how)
		e.alive(ctx, in, &su, p, errors.New(detail))
		said := notEnded + " " + detail
		if !c.Force {
			said += " It can be ended by force."
		}
		return core.Result{Said: said, End: &core.EndResult{Detail: detail}}, nil
	}
	gone := core.Event{Kind: core.EventGone, At: core.InstantOf(time.Now()), Agent: su.Agent, Native: su.Native, Proc: p.Proc}
	if err := e.post(ctx, func(ctx context.Context) error { err := e.take(gone); e.publish(); return err }); err != nil {
		return core.Result{}, errors.Join(err, e.settle(ctx, in, err, ""))
	}
	closed, detail := e.closeWindow(ctx, spot)
	if x := e.elsewhere(ctx, &su, again.MustGo); x != nil {
		detail = fmt.Sprintf("Process %d has ended, but process %d has the session open as well.", p.Proc.PID, x.Proc.PID)
		p.Proc = x.Proc
		e.alive(ctx, in, &su, p, errors.New(detail))
		return core.Result{Said: notEnded + " " + detail + " End it once more for that one.",
			End: &core.EndResult{WindowClosed: closed, Detail: detail}}, nil
	}
	said := "Ended " + su.called() + "."
	if closed != nil && !*closed {
		said += " Its window is still open. " + detail
	}
	if left := e.leftRunning(ctx, again.table.Boot(), children); left != "" {
		detail = strings.TrimSpace(detail + " " + left)
		said += " " + left
	}
	e.settle(ctx, in, nil, detail)
	return core.Result{Said: said, End: &core.EndResult{Ended: true, WindowClosed: closed, Detail: detail}}, nil
}

// elsewhere returns where a session goes on although its process has ended: it can be open twice.
func (e *Engine) elsewhere(ctx context.Context, su *subject, ended []core.Process) *core.Sighting {
	seen, _, err := e.sight(ctx, su.Agent)
	if err != nil {
		return nil
	}
	if x := of(seen, su); x != nil && !slices.Contains(ended, x.Proc) {
		return x
	}
	return nil
}

// endable proves the session's process and that ending it ends nothing else.
func (e *Engine) endable(ctx context.Context, su *subject, force bool) (proven, error) {
	if !su.running() {
		return proven{}, &core.Refusal{What: notEnded, Why: "It is over already.", Hint: "Resume takes it up again."}
	}
	p, err := e.prove(ctx, notEnded, su)
	if err != nil {
		return p, err
	}
	_, stops := e.ownStop(su, p.Sighting)
	switch {
	case p.NoEnd != "":
		return p, &core.Refusal{What: notEnded, Why: p.NoEnd, Hint: "Nothing was signalled."}
	case len(p.Signal) == 0 && !stops:
		why := p.Caution
		if why == "" {
			why = "No process is its own."
		}
		return p, &core.Refusal{What: notEnded, Why: why, Hint: "Nothing was signalled."}
	case p.row.State == 'T' && !force && !stops:
		return p, &core.Refusal{What: notEnded, Why: fmt.Sprintf("Process %d is suspended and would not hear the signal.", p.Proc.PID),
			Hint: "Bring it back with fg in its terminal, or end it by force."}
	}
	for _, q := range p.targets(force) {
		// What only has to be gone may be machinery of this very session.
		if _, err := identify(notEnded, p.table, q, &p.info, !slices.Contains(p.Signal, q)); err != nil {
			return p, err
		}
	}
	return p, nil
}

// targets are the processes that END signals: force asks none of them to pass it on.
func (p *proven) targets(force bool) []core.Process {
	if force {
		return p.MustGo
	}
	return p.Signal
}

// signal sends the signal to every process of the session that takes one, each through a descriptor
// that was checked against its start.
func (e *Engine) signal(ctx context.Context, p proven, force bool) error {
	sig := syscall.SIGTERM
	if force {
		sig = syscall.SIGKILL
	}
	for i, q := range p.targets(force) {
		err := e.o.Signal(q, sig)
		switch {
		case err == nil, errors.Is(err, proc.ErrGone):
		case errors.Is(err, proc.ErrOther) && i > 0: // it followed the one before it
		case errors.Is(err, proc.ErrOther):
			return &core.Refusal{What: notEnded, Why: fmt.Sprintf("Process %d is not the one that was recorded.", q.PID), Hint: "Nothing was signalled."}
		default:
			return fmt.Errorf("signal process %d: %w", q.PID, err)
		}
	}
	return ctx.Err()
}

// descendants returns the processes below those that END ends.
func descendants(t core.Table, roots []core.Process) []core.Proc {
	var all []core.Proc
	seen := map[int]bool{}
	for _, r := range roots {
		seen[r.PID] = true
	}
	for at := slices.Collect(maps.Keys(seen)); len(at) > 0; {
		var next []int
		for _, pid := range at {
			for _, child := range t.Children(pid) {
				if row, ok := t.Proc(child); ok && !seen[child] {
					seen[child] = true
					all, next = append(all, row), append(next, child)
				}
			}
		}
		at = next
	}
	return all
}

// leftRunning says which of a session's own processes go on without it: a server it started, say. Nobody
// asked for their end, so they get no signal, but a moment to follow by themselves.
func (e *Engine) leftRunning(ctx context.Context, boot string, children []core.Proc) string {
	ctx, stop := context.WithTimeout(ctx, toFollow)
	defer stop()
	var names []string
	for _, c := range children {
		p := core.Process{Boot: boot, PID: c.PID, Start: c.Start}
		if p.Known() && e.o.Gone(ctx, p) != nil {
			names = append(names, fmt.Sprintf("%s (pid %d)", line(c.Comm, 40), c.PID))
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - 5; more > 0 {
		names = append(names[:5], fmt.Sprintf("%d more", more))
	}
	return "It left running: " + strings.Join(names, ", ") + "."
}

// outlived returns which of the processes live on after a while.
func (e *Engine) outlived(ctx context.Context, procs []core.Process, longest time.Duration) []core.Process {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	var left []core.Process
	for _, q := range procs {
		if e.o.Gone(ctx, q) != nil {
			left = append(left, q)
		}
	}
	return left
}

// alive takes the kill back: the process was found alive, or nothing was signalled.
func (e *Engine) alive(ctx context.Context, in core.Intent, su *subject, p proven, why error) error {
	ev := core.Event{Kind: core.EventNotKilled, At: core.InstantOf(time.Now()), Agent: su.Agent, Native: su.Native, Proc: p.Proc, Alive: true}
	err := e.settle(ctx, in, why, "", ev)
	wake(e.wakes.poll)
	if err != nil {
		return fmt.Errorf("write down that it was not ended: %w", err)
	}
	return nil
}

// ownStop returns the agent's own command for ending a session that takes no signal.
func (e *Engine) ownStop(su *subject, x core.Sighting) (core.Launch, bool) {
	s, ok := e.adapters[su.Agent].(core.Stopper)
	if !ok || len(x.Signal) > 0 {
		return core.Launch{}, false
	}
	return s.Stop(su.Session, x)
}

// endByCommand has the agent end a session of its background.
func (e *Engine) endByCommand(ctx context.Context, c core.Command, su *subject, p proven, stop core.Launch) (core.Result, error) {
	kill := core.Event{Kind: core.EventKill, At: core.InstantOf(time.Now()), Agent: su.Agent, Native: su.Native, Proc: p.Proc}
	in, err := e.intend(ctx, c, "", kill)
	if err != nil {
		e.alive(ctx, in, su, p, err)
		return core.Result{}, fmt.Errorf("write down that it is to be ended, so nothing was done: %w", err)
	}
	out, err := e.runTool(ctx, su.Agent, stop)
	if err != nil {
		err = fmt.Errorf("end it by %s's own command: %w", p.info.Display, err)
		return core.Result{}, errors.Join(err, e.alive(ctx, in, su, p, err))
	}
	if left := e.outlived(ctx, p.MustGo, toDie); len(left) > 0 {
		detail := fmt.Sprintf("Process %d still runs after %s's own stop command. %s", left[0].PID, p.info.Display, out)
		e.alive(ctx, in, su, p, errors.New(detail))
		return core.Result{Said: notEnded + " " + detail, End: &core.EndResult{Detail: detail}}, nil
	}
	detail := "Ended by " + p.info.Display + "'s own command."
	gone := core.Event{Kind: core.EventGone, At: core.InstantOf(time.Now()), Agent: su.Agent, Native: su.Native, Proc: p.Proc}
	if err := e.settle(ctx, in, nil, detail, gone); err != nil {
		return core.Result{}, err
	}
	return core.Result{Said: "Ended " + su.called() + ".", End: &core.EndResult{Ended: true, Detail: detail}}, nil
}
