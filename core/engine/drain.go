package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tower/core"
	"tower/core/inbox"
	"tower/core/launch"
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
	text := ""
	if len(b.Unreadable) > 0 {
		text = fmt.Sprintf("%d event files cannot be read: %s: %s", len(b.Unreadable), b.Unreadable[0].Name, b.Unreadable[0].Reason)
	}
	if e.health.problem("inbox", text, "Check the permissions of "+e.o.Home.Inbox()+".") {
		wake(e.wakes.faces)
	}
	ids := make([]string, len(b.Items))
	for i, it := range b.Items {
		ids[i] = it.Envelope.EventID
	}
	known, err := e.db.KnownEvents(ctx, ids)
	if err != nil {
		return false, fmt.Errorf("drain inbox: %w", err)
	}
	events, reports, good, bad := e.decode(b.Items, known)
	errs := []error{e.quarantine(append(b.Bad, bad...))}
	var refused []inbox.Bad
	// With nothing new, what the ledger refused before is tried again: no file will wake it.
	err = e.post(ctx, func(ctx context.Context) error {
		for _, r := range reports {
			e.reported(r)
		}
		for _, ev := range events {
			if e.applied[ev.ID] {
				continue
			}
			if ev.LaunchToken == "" {
				ev.LaunchToken = e.inherited(ev.inherited)
			}
			if err := e.take(ev.Event); err != nil {
				refused = append(refused, inbox.Bad{Name: ev.file, Reason: reason(err)})
			}
		}
		return e.commit(ctx)
	})
	if err != nil {
		if len(good) > 0 {
			e.health.behind("drain", fmt.Sprintf("%d event files wait for the ledger", len(good)))
		}
		return false, errors.Join(append(errs, err)...)
	}
	e.health.behind("drain", "")
	errs = append(errs, e.quarantine(refused)) // before the others: what is gone from the inbox is not archived
	for _, it := range good {
		errs = append(errs, e.box.Archive(it))
	}
	if len(good) > 0 {
		wake(e.wakes.poll)
	}
	return b.More, errors.Join(errs...)
}

// quarantine moves files away that will never be events, each told in one line.
func (e *Engine) quarantine(list []inbox.Bad) error {
	if len(list) == 0 {
		return nil
	}
	var errs []error
	for _, bad := range list {
		line, err := e.box.Quarantine(bad)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		e.log.Warn("event file moved aside", "file", line)
	}
	e.countBad()
	return errors.Join(errs...)
}

// filed is an event and the file it came in.
type filed struct {
	core.Event
	file      string
	inherited string // see place
}

// reason is an error without the stack that a panic brings.
func reason(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// decode turns envelopes into events. One of an agent nobody here knows, or that its adapter does not
// understand, is bad; it never stops the others. Good are the files that may be archived once the
// events are kept.
func (e *Engine) decode(items []inbox.Item, known map[string]bool) (events []filed, reports []launch.Report, good []inbox.Item, bad []inbox.Bad) {
	alive := map[core.Process]bool{}
	for _, it := range items {
		env := it.Envelope
		if known[env.EventID] {
			good = append(good, it)
			continue
		}
		if r, ok := launch.ReportOf(env); ok {
			if r.Error == "" {
				e.launched.Store(r.Proc, r.Token) // the hooks of this very batch may be of its agent
			}
			reports, good = append(reports, r), append(good, it)
			continue
		}
		var ev core.Event
		err := guarded(context.Background(), func(context.Context) (err error) {
			a := e.adapters[env.Agent]
			if a == nil {
				return fmt.Errorf("no agent %q is known", env.Agent)
			}
			ev, err = a.Decode(env)
			return err
		})
		if err != nil {
			bad = append(bad, inbox.Bad{Name: it.Name, Reason: reason(err)})
			continue
		}
		good = append(good, it)
		ev.ID, ev.Name, ev.Raw, ev.Agent = env.EventID, env.Event, env.Payload, env.Agent
		if ev.At == 0 {
			ev.At = env.TS
		}
		inherited := e.place(&ev, &env)
		if ev.Proc.Known() {
			live, ok := alive[ev.Proc]
			if !ok {
				live = e.o.Alive(ev.Proc)
				alive[ev.Proc] = live
			}
			ev.Alive = live
		}
		events = append(events, filed{ev, it.Name, inherited})
	}
	return events, reports, good, bad
}

// alive asks the system itself, which is cheaper than a whole table for the few processes of a drain.
func alive(p core.Process) bool {
	row, found := proc.Row(p.PID)
	return found && row.Start == p.Start && !row.Dead() && p.Boot == proc.Boot()
}

// place computes from the recorded ancestry which process drives the session and whether another
// agent started it. The hook's own hints are not used: it knew an older list of agents. What it returns is
// the token that the environment alone names.
func (e *Engine) place(ev *core.Event, env *core.Envelope) (inherited string) {
	if env.Ancestors == nil || env.BootID == nil {
		return ""
	}
	l := e.lineageOf(*env.BootID, env.Agent, env.Ancestors)
	ev.Proc, ev.Shared, ev.Nested, ev.LaunchToken = l.Proc, l.Shared, l.Nested, l.launch
	if ev.LaunchToken == "" && !l.nested() && env.LaunchToken != nil {
		inherited = *env.LaunchToken
	}
	return inherited
}

func (e *Engine) countBad() {
	if e.health.badFiles(int64(e.box.CountBad())) {
		wake(e.wakes.faces)
	}
}

// retain removes what is older than the person wants to keep.
func (e *Engine) retain(context.Context) error {
	e.drainM.Lock()
	defer e.drainM.Unlock()
	e.countBad()
	unpruned := e.pruneLaunches()
	n, err := e.box.Prune(time.Now(), max(1, e.o.Config.RetentionDays))
	if n > 0 {
		e.log.Info("archive pruned", "files", n)
	}
	return errors.Join(err, unpruned)
}
