package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tower/core"
	"tower/core/inbox"
	"tower/core/proc"
)

var drainEvery = every(2 * time.Second)

// drain applies what hooks recorded. A file leaves the inbox only after its event is kept: when the
// ledger refuses the write, the event stays decided in memory and its file where it is, and the next
// drain catches up.
func (e *Engine) drain(ctx context.Context) error {
	e.drainM.Lock()
	defer e.drainM.Unlock()
	var errs []error
	for {
		more, err := e.drainOnce(ctx)
		if err != nil {
			errs = append(errs, err)
		}
		if !more || err != nil || ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}

func (e *Engine) drainOnce(ctx context.Context) (more bool, err error) {
	b, err := e.box.Drain()
	if err != nil {
		return false, fmt.Errorf("drain inbox: %w", err)
	}
	var errs []error
	for _, bad := range b.Bad {
		line, err := e.box.Quarantine(bad)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.log.Warn("event file moved aside", "file", line)
		e.countBad(ctx)
	}
	text := ""
	if len(b.Unreadable) > 0 {
		text = fmt.Sprintf("%d event files cannot be read: %s: %s", len(b.Unreadable), b.Unreadable[0].Name, b.Unreadable[0].Reason)
	}
	if e.health.problem("inbox", text, "Check the permissions of "+e.o.Home.Inbox()+".") {
		e.post(ctx, func(context.Context) { e.dirty = true })
	}
	e.health.behind("drain", "")
	if len(b.Items) == 0 {
		// What the ledger refused before has no file to wake it: try again.
		e.post(ctx, func(ctx context.Context) {
			if cerr := e.commit(ctx); cerr != nil {
				errs = append(errs, cerr)
			}
		})
		return b.More, errors.Join(errs...)
	}
	ids := make([]string, len(b.Items))
	for i, it := range b.Items {
		ids[i] = it.Envelope.EventID
	}
	known, err := e.db.KnownEvents(ctx, ids)
	if err != nil {
		return false, errors.Join(append(errs, fmt.Errorf("drain inbox: %w", err))...)
	}
	events := e.decode(b.Items, known)
	var kept error
	if !e.post(ctx, func(ctx context.Context) {
		for _, ev := range events {
			if !e.applied[ev.ID] {
				e.take(ev)
			}
		}
		kept = e.commit(ctx)
	}) {
		return false, nil
	}
	if kept != nil {
		e.health.behind("drain", fmt.Sprintf("%d event files wait for the ledger", len(b.Items)))
		return false, errors.Join(append(errs, kept)...)
	}
	for _, it := range b.Items {
		if err := e.box.Archive(it); err != nil {
			errs = append(errs, err)
		}
	}
	wake(e.wakes.poll)
	return b.More, errors.Join(errs...)
}

// decode turns envelopes into events. One that its adapter refuses is kept in the archive and told;
// it never stops the others.
func (e *Engine) decode(items []inbox.Item, known map[string]bool) []core.Event {
	var events []core.Event
	alive := map[core.Process]bool{}
	for _, it := range items {
		env := it.Envelope
		if known[env.EventID] {
			continue
		}
		a := e.adapters[env.Agent]
		if a == nil {
			e.log.Warn("event of an unknown agent", "agent", env.Agent, "file", it.Name)
			continue
		}
		var ev core.Event
		err := guarded(context.Background(), func(context.Context) (err error) {
			ev, err = a.Decode(env)
			return err
		})
		if err != nil {
			e.log.Warn("event not understood", "agent", env.Agent, "event", env.Event, "file", it.Name, "error", err)
			continue
		}
		ev.ID, ev.Name, ev.Raw, ev.Agent = env.EventID, env.Event, env.Payload, env.Agent
		if ev.At == 0 {
			ev.At = env.TS
		}
		e.place(&ev, &env)
		if ev.Proc.Known() {
			live, ok := alive[ev.Proc]
			if !ok {
				live = e.o.Alive(ev.Proc)
				alive[ev.Proc] = live
			}
			ev.Alive = live
		}
		events = append(events, ev)
	}
	return events
}

// alive asks the system itself, which is cheaper than a whole table for the few processes of a drain.
func alive(p core.Process) bool {
	start, found := proc.Start(p.PID)
	return found && start == p.Start && p.Boot == proc.Boot()
}

// place computes from the recorded ancestry which process drives the session and whether another
// agent started it. The hook's own hints are not used: it knew an older list of agents.
func (e *Engine) place(ev *core.Event, env *core.Envelope) {
	if env.Ancestors == nil || env.BootID == nil {
		return
	}
	l := core.ReadAncestry(*env.BootID, e.agents, env.Agent, env.Ancestors, nil)
	ev.Proc, ev.Shared, ev.Nested = l.Proc, l.Shared, l.Nested
	if env.LaunchToken != nil && (l.Nested == nil || !*l.Nested) {
		ev.LaunchToken = *env.LaunchToken
	}
}

func (e *Engine) countBad(ctx context.Context) {
	n := int64(e.box.CountBad())
	e.health.mu.Lock()
	moved := e.health.bad != n
	e.health.bad = n
	e.health.mu.Unlock()
	if moved {
		e.post(ctx, func(context.Context) { e.dirty = true })
	}
}

// retain removes what is older than the person wants to keep.
func (e *Engine) retain(ctx context.Context) error {
	e.drainM.Lock()
	defer e.drainM.Unlock()
	e.countBad(ctx)
	n, err := e.box.Prune(time.Now(), max(1, e.o.Config.RetentionDays))
	if n > 0 {
		e.log.Info("archive pruned", "files", n)
	}
	return err
}
