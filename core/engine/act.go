package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tower/core"
	"tower/core/claim"
)

// longestAction bounds every action; each step of one has a bound of its own far below it.
const longestAction = 70 * time.Second

// lastAction is how long the end of the tower waits for actions under way.
const lastAction = 4 * time.Second

// actions are the actions under way.
type actions struct {
	mu     sync.Mutex
	closed chan struct{} // once the tower ends: what only waits for what may never come leaves
	wg     sync.WaitGroup
}

func (a *actions) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.closed:
		return false
	default:
		a.wg.Add(1)
		return true
	}
}

// close lets no further action begin and waits a moment for those under way.
func (a *actions) close(longest time.Duration) {
	a.mu.Lock()
	close(a.closed)
	a.mu.Unlock()
	done := make(chan struct{})
	go func() { a.wg.Wait(); close(done) }()
	t := time.NewTimer(longest)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// act has f run in a worker to its end, also when who asked leaves meanwhile: an action that was begun
// is finished and its consequence is told to the ledger.
func (e *Engine) act(ctx context.Context, f func(context.Context) (core.Result, error)) (core.Result, error) {
	if !e.actions.begin() {
		return core.Result{}, errStopped
	}
	type answer struct {
		r   core.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer e.actions.wg.Done()
		whole, stop := context.WithTimeout(context.WithoutCancel(ctx), longestAction)
		defer stop()
		var a answer
		a.err = guarded(whole, func(ctx context.Context) (err error) {
			a.r, err = f(ctx)
			return err
		})
		e.shown(whole)
		done <- a
	}()
	select {
	case a := <-done:
		return a.r, a.err
	case <-ctx.Done():
		return core.Result{}, context.Cause(ctx)
	}
}

// shown publishes what an action changed, its claims let go included: who asked looks at the picture next.
func (e *Engine) shown(ctx context.Context) {
	_ = e.post(ctx, func(context.Context) error {
		select {
		case <-e.wakes.faces:
			e.dirty = true
		default:
		}
		if e.dirty {
			e.publish()
		}
		return nil
	}) // without an owner nobody looks either
}

// subject is a session as the owner knew it when an action on it began.
type subject struct {
	core.Session
	live *core.Live
	runs []core.Run        // open
	tied core.LaunchRecord // the launch that led to it last, if any
}

// subject returns what is known of a session.
func (e *Engine) subject(ctx context.Context, id core.SessionID) (subject, error) {
	var su subject
	err := e.post(ctx, func(context.Context) error {
		s := e.picture.Session(id)
		if s == nil {
			return &core.Refusal{What: "Not found.", Why: fmt.Sprintf("No session %q is known.", id)}
		}
		su = subject{Session: *s, runs: slices.Clone(e.picture.OpenRunsOf(id))}
		if l := e.picture.Live(id); l != nil {
			copied := *l
			su.live = &copied
		}
		su.tied, _ = e.picture.LaunchOf(id)
		return nil
	})
	return su, err
}

// running tells whether the ledger believes that the session runs.
func (s *subject) running() bool {
	return s.Status == core.StatusLive || s.Status == core.StatusStarting
}

// take claims what an action is about. Somebody else's claim is a refusal.
func (e *Engine) claim(what string, c core.Command, doing string, keys ...claim.Key) (func(), error) {
	release, held := e.claims.Take(claim.Claim{What: doing, By: c.By, Since: core.InstantOf(time.Now())}, keys...)
	if held != nil {
		return nil, &core.Refusal{What: what, Why: fmt.Sprintf("Another action is under way on it: %s, asked for by the %s.", held.Claim.What, face(held.Claim.By)),
			Hint: "Wait for it to end."}
	}
	return release, nil
}

// face names where a command came from.
func face(by string) string {
	switch by {
	case "cli":
		return "command line"
	case "":
		return "tower"
	}
	return by
}

// intend records what was asked for before it is begun. The ledger refusing it is a reason not to begin: what
// stays pending then says that it came to nothing.
func (e *Engine) intend(ctx context.Context, c core.Command, token string, more ...core.Event) (core.Intent, error) {
	in := core.Intent{ID: core.UUID4(), Action: c.Kind, Session: c.Session, Token: token, AskedBy: c.By, AskedAt: core.InstantOf(time.Now())}
	err := e.record(ctx, in, more)
	if err != nil {
		e.settle(ctx, in, err, "")
	}
	return in, err
}

// settle records how an intent ended, with what the reducer has to hear of it. It does so also when the time
// of the action is over.
func (e *Engine) settle(ctx context.Context, in core.Intent, failed error, detail string, more ...core.Event) error {
	in.EndedAt, in.Outcome, in.Detail = core.InstantOf(time.Now()), core.IntentDone, detail
	if failed != nil {
		in.Outcome, in.Detail = core.IntentFailed, failed.Error()
	}
	err := e.record(context.WithoutCancel(ctx), in, more)
	if err != nil {
		e.log.Error("the end of an action was not written", "action", in.Action, "error", err)
	}
	return err
}

// record keeps an intent and takes what happened.
func (e *Engine) record(ctx context.Context, in core.Intent, more []core.Event) error {
	return e.post(ctx, func(ctx context.Context) error {
		e.pending.Intents = append(e.pending.Intents, in)
		var errs []error
		for _, ev := range more {
			errs = append(errs, e.take(ev))
		}
		errs = append(errs, e.commit(ctx))
		e.publish()
		return errors.Join(errs...)
	})
}

// called is what a sentence calls a session.
func (s *subject) called() string {
	if t := s.Title(); t != "" {
		return fmt.Sprintf("%q", t)
	}
	return fmt.Sprintf("session %.8s", s.Native)
}
