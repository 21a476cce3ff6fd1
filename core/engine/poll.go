package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tower/core"
	"tower/core/claim"
)

// look is what one poll saw, judged later by the owner.
type look struct {
	at        core.Instant
	before    time.Time // when the table began to be read
	table     core.Table
	sightings []core.Sighting
	answered  map[core.Agent]bool       // whose evidence could be read
	runs      []core.Run                // open before the table was read
	living    []core.SessionID          // live or starting before the table was read
	adopted   map[core.SessionID]string // tokens of launches, by the threads they began
}

// pollEvery is how often the process table is read when nothing wakes the poll before.
var pollEvery = every(5 * time.Second)

// poll asks every adapter what runs and has the owner judge it. The order matters: the runs to judge
// are noted first, then the table is read, then the inbox is drained, so that a session that said
// goodbye is never taken for one that vanished, and one that began meanwhile is not judged by a table
// that is older than it.
func (e *Engine) poll(ctx context.Context) error {
	var l look
	err := e.post(ctx, func(context.Context) error {
		l.runs, l.living = e.picture.OpenRuns(), e.picture.Living()
		return nil
	})
	if err != nil {
		return err
	}
	l.before = time.Now()
	table, err := e.o.Table()
	if err != nil {
		return fmt.Errorf("read process table: %w", err)
	}
	l.table, l.at = table, core.InstantOf(time.Now())
	unseen := e.evidence(ctx, &l)
	undrained := e.drain(ctx)
	unasked := e.stoppedBy(ctx)
	adopted, unadopted := e.adopt(ctx, &l)
	l.adopted = adopted
	err = e.post(ctx, func(ctx context.Context) error {
		unjudged := e.judge(&l)
		e.watchLaunches(&l)
		e.unkill(&l)
		// The table may be older than a process that the drain told of.
		dead := func(p core.Process) bool { return !core.Alive(l.table, p) && !e.o.Alive(p) }
		e.picture.Forget(dead)
		e.forgetLaunched(dead)
		return errors.Join(unjudged, e.commit(ctx))
	})
	e.refreshGrown(l.living)
	return errors.Join(unseen, undrained, unasked, unadopted, err)
}

// evidence asks all adapters at the same time.
func (e *Engine) evidence(ctx context.Context, l *look) error {
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		errs []error
	)
	l.answered = map[core.Agent]bool{}
	for _, a := range e.o.Adapters {
		wg.Go(func() {
			var seen []core.Sighting
			err := guarded(ctx, func(ctx context.Context) (err error) {
				seen, err = a.Evidence(ctx, l.table)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("look for running sessions of %s: %w", a.Agent().Agent, err))
				return
			}
			l.answered[a.Agent().Agent] = true
			l.sightings = append(l.sightings, seen...)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// judge turns a look into events: first who is there, then who is not.
func (e *Engine) judge(l *look) error {
	var errs []error
	take := func(ev core.Event) { errs = append(errs, e.take(ev)) }
	sighted := map[core.SessionID]bool{}
	for i := range l.sightings {
		x := &l.sightings[i]
		ev := core.Event{
			Kind: core.EventSeen, At: l.at, Agent: x.Agent, Native: x.Native,
			Proc: x.Proc, Alive: true, Shared: x.Shared, Sighting: x, LaunchToken: e.tokenOf(l.table, x.Proc, x.Agent),
		}
		if ev.LaunchToken == "" {
			ev.LaunchToken = l.adopted[ev.Session()]
		}
		sighted[ev.Session()] = true
		take(ev)
	}
	for _, r := range l.runs {
		s := e.picture.Session(r.Session)
		if s == nil || !e.isOpen(r) {
			continue
		}
		ev := core.Event{At: l.at, Agent: s.Agent, Native: s.Native, Proc: r.Proc, Shared: r.Shared}
		switch {
		case !core.Alive(l.table, r.Proc):
			ev.Kind = core.EventGone
			take(ev)
		case r.Shared && l.answered[s.Agent] && !sighted[r.Session]:
			ev.Kind = core.EventUnseen
			take(ev)
		}
	}
	// A session believed to live of which no process is known: a hook told of it, nothing shows it.
	for _, id := range l.living {
		s := e.picture.Session(id)
		if s == nil || s.Status != core.StatusLive || sighted[id] || !l.answered[s.Agent] || e.picture.HasRun(id) {
			continue
		}
		take(core.Event{Kind: core.EventGone, At: l.at, Agent: s.Agent, Native: s.Native})
	}
	return errors.Join(errs...)
}

func (e *Engine) isOpen(r core.Run) bool {
	for _, o := range e.picture.OpenRunsOf(r.Session) {
		if o.Proc == r.Proc {
			return true
		}
	}
	return false
}

// unkillAfter is how long a process may take to die of an END that the end of the tower interrupted.
const unkillAfter = 10 * time.Second

// unkill takes back, once, the kills that a tower which ended meanwhile never carried out: the session
// reads as ended by the person, and its process lives.
func (e *Engine) unkill(l *look) {
	if e.unkilled || time.Since(e.began) < unkillAfter {
		return
	}
	e.unkilled = true
	for _, r := range l.runs {
		s := e.picture.Session(r.Session)
		if s == nil || s.Status != core.StatusKilled || !core.Alive(l.table, r.Proc) {
			continue
		}
		if _, held := e.claims.Get(claim.Session(s.ID)); held {
			continue
		}
		if err := e.take(core.Event{Kind: core.EventNotKilled, At: l.at, Agent: s.Agent, Native: s.Native, Proc: r.Proc, Alive: true}); err != nil {
			e.log.Error("kill not taken back", "session", s.Native, "error", err)
		}
	}
}

// forgetLaunched drops launches by processes that are no more.
func (e *Engine) forgetLaunched(dead func(core.Process) bool) {
	e.launched.Range(func(p, _ any) bool {
		if dead(p.(core.Process)) {
			e.launched.Delete(p)
		}
		return true
	})
}
