package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"tower/core"
	"tower/core/classify"
	"tower/core/sweep"
)

// Transcripts of living sessions are read again when they grew: soon after a turn began or ended,
// at most once a second; otherwise at most every half minute; and once more after the end, when
// whatever the agent wrote on its way out is there.
const (
	refreshGap   = time.Second
	refreshGrown = 30 * time.Second
	refreshAfter = 3 * time.Second
)

// refresher reads single transcripts on its own goroutine.
type refresher struct {
	e    *Engine
	wake chan struct{}

	mu   sync.Mutex
	due  map[core.SessionID]time.Time
	last map[core.SessionID]time.Time

	// judged are the transcripts whose last message was judged, as they were then. Only run touches it.
	judged map[core.SessionID]core.Fingerprint

	// failed are the sessions whose transcript could not be read when it was last looked at: one that
	// can be read meanwhile does not make the loop well again. Only run touches it.
	failed map[core.SessionID]error
}

func newRefresher(e *Engine) *refresher {
	return &refresher{
		e: e, wake: make(chan struct{}, 1),
		due: map[core.SessionID]time.Time{}, last: map[core.SessionID]time.Time{}, failed: map[core.SessionID]error{},
		judged: map[core.SessionID]core.Fingerprint{},
	}
}

// want has a session's transcript read soon.
func (r *refresher) want(s *core.Session) {
	wait := 150 * time.Millisecond
	if s.Status.Over() {
		wait = refreshAfter
	}
	r.mu.Lock()
	at := time.Now().Add(wait)
	if next := r.last[s.ID].Add(refreshGap); next.After(at) {
		at = next
	}
	if old, ok := r.due[s.ID]; !ok || s.Status.Over() || at.Before(old) {
		r.due[s.ID] = at
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// refreshGrown has the transcripts of living sessions looked at that were not for a while.
func (e *Engine) refreshGrown(living []core.SessionID) {
	r := e.refresh
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, id := range living {
		if _, ok := r.due[id]; !ok && now.Sub(r.last[id]) >= refreshGrown {
			r.due[id] = now
		}
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *refresher) run(ctx context.Context) error {
	for {
		ids, next := r.take(time.Now())
		for _, id := range ids {
			if err := guarded(ctx, func(ctx context.Context) error { return errors.Join(r.one(ctx, id), r.hear(ctx, id)) }); err != nil {
				r.failed[id] = err
			} else {
				delete(r.failed, id)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if r.e.health.tick("refresh", r.trouble(), r.e.log) {
			wake(r.e.wakes.faces)
		}
		t := time.NewTimer(next)
		select {
		case <-t.C:
		case <-r.wake:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		t.Stop()
	}
}

// trouble is the first of what failed, by session, so that the same failures read the same. A session
// that is looked at no more is the import's business.
func (r *refresher) trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.failed {
		if _, ok := r.last[id]; !ok {
			delete(r.failed, id)
		}
	}
	for id := range r.judged {
		if _, ok := r.last[id]; !ok {
			delete(r.judged, id)
		}
	}
	if len(r.failed) == 0 {
		return nil
	}
	err := r.failed[slices.Min(slices.Collect(maps.Keys(r.failed)))]
	if n := len(r.failed); n > 1 {
		return fmt.Errorf("%w (and %d more)", err, n-1)
	}
	return err
}

// take returns what is due and how long nothing will be.
func (r *refresher) take(now time.Time) (ids []core.SessionID, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait = time.Hour
	for id, at := range r.due {
		if d := at.Sub(now); d > 0 {
			wait = min(wait, d)
			continue
		}
		delete(r.due, id)
		r.last[id] = now
		ids = append(ids, id)
	}
	for id, at := range r.last {
		if now.Sub(at) > 10*refreshGrown {
			delete(r.last, id)
		}
	}
	return ids, wait
}

// one reads a session's transcript when it changed. A transcript that is not there yet is no error:
// agents name the file before they write it.
func (r *refresher) one(ctx context.Context, id core.SessionID) error {
	e := r.e
	var agent core.Agent
	var path string
	err := e.post(ctx, func(context.Context) error {
		if s := e.picture.Session(id); s != nil {
			agent, path = s.Agent, s.Transcript
		}
		return nil
	})
	if err != nil || path == "" {
		return err
	}
	a := e.adapters[agent]
	f, err := sweep.Stat(path)
	if err != nil || a == nil {
		return nil
	}
	if k, ok := e.index.Get(path); ok && !k.Hot && k.Fingerprint == f {
		return nil
	}
	if e.health.sick("ledger") != "" {
		return nil // what is read now could only wait in memory; the next look finds it again
	}
	if err := e.reading.take(ctx); err != nil {
		return err
	}
	defer e.reading.give()
	res, err := sweep.One(ctx, e.sweepOptions(), a, core.Source{Agent: agent, Path: path, Fingerprint: f})
	if err != nil {
		return err
	}
	return e.post(ctx, func(ctx context.Context) error {
		e.found(res)
		return e.commit(ctx)
	})
}

// hear judges the last message of a session that rests and whose output no hook told: hooks are missing, or
// the tower was not there when it was said.
func (r *refresher) hear(ctx context.Context, id core.SessionID) error {
	e := r.e
	var s core.Session
	err := e.post(ctx, func(context.Context) error {
		l := e.picture.Live(id)
		if l != nil && l.Said == nil && l.Pill == core.PillIdle {
			s = *e.picture.Session(id)
		}
		return nil
	})
	t, ok := e.adapters[s.Agent].(core.Teller)
	if err != nil || !ok || s.Transcript == "" {
		return err
	}
	f, err := sweep.Stat(s.Transcript)
	if err != nil || r.judged[id] == f {
		return nil
	}
	text, err := t.LastMessage(ctx, s)
	if err != nil {
		return fmt.Errorf("read last message: %w", err)
	}
	r.judged[id] = f
	said := classify.Last(text)
	if said.Class == "" {
		return nil
	}
	said.At = s.LastSeen
	return e.post(ctx, func(context.Context) error {
		return e.take(core.Event{Kind: core.EventFacts, Agent: s.Agent, Native: s.Native, Said: &said})
	})
}
