package engine

import (
	"context"
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
	closed bool
	wg     sync.WaitGroup
}

func (a *actions) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.wg.Add(1)
	return true
}

// close lets no further action begin and waits a moment for those under way.
func (a *actions) close(longest time.Duration) {
	a.mu.Lock()
	a.closed = true
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

// intend records what was asked for before it is begun. The ledger refusing it is a reason not to begin.
func (e *Engine) intend(ctx context.Context, c core.Command, token string, more ...core.Event) (core.Intent, error) {
	in := core.Intent{ID: core.UUID4(), Action: c.Kind, Session: c.Session, Token: token, AskedBy: c.By, AskedAt: core.InstantOf(time.Now())}
	err := e.post(ctx, func(ctx context.Context) error {
		e.pending.Intents = append(e.pending.Intents, in)
		for _, ev := range more {
			if err := e.take(ev); err != nil {
				return err
			}
		}
		err := e.commit(ctx)
		e.publish()
		return err
	})
	return in, err
}

// settle records how an intent ended, with what the reducer has to hear of it.
func (e *Engine) settle(ctx context.Context, in core.Intent, failed error, detail string, more ...core.Event) error {
	in.EndedAt, in.Outcome, in.Detail = core.InstantOf(time.Now()), core.IntentDone, detail
	if failed != nil {
		in.Outcome, in.Detail = core.IntentFailed, failed.Error()
	}
	return e.post(ctx, func(ctx context.Context) error {
		e.pending.Intents = append(e.pending.Intents, in)
		for _, ev := range more {
			if err := e.take(ev); err != nil {
				return err
			}
		}
		err := e.commit(ctx)
		e.publish()
		return err
	})
}

// called is what a sentence calls a session.
func (s *subject) called() string {
	if t := s.Title(); t != "" {
		return fmt.Sprintf("%q", t)
	}
	return fmt.Sprintf("session %.8s", s.Native)
}
