package engine

import (
	"context"
	"sync"
	"time"

	"tower/core"
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
}

func newRefresher(e *Engine) *refresher {
	return &refresher{e: e, wake: make(chan struct{}, 1), due: map[core.SessionID]time.Time{}, last: map[core.SessionID]time.Time{}}
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
			err := guarded(ctx, func(ctx context.Context) error { return r.one(ctx, id) })
			if ctx.Err() == nil && r.e.health.tick("refresh", err, r.e.log) {
				r.e.post(ctx, func(context.Context) { r.e.dirty = true })
			}
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
	if !e.post(ctx, func(context.Context) {
		if s := e.picture.Session(id); s != nil {
			agent, path = s.Agent, s.Transcript
		}
	}) || path == "" {
		return nil
	}
	a := e.adapters[agent]
	f, err := sweep.Stat(path)
	if err != nil || a == nil {
		return nil
	}
	if k, ok := e.index.Get(path); ok && !k.Hot && k.Fingerprint == f {
		return nil
	}
	e.sweepM.Lock()
	defer e.sweepM.Unlock()
	res, err := sweep.One(ctx, e.sweepOptions(), a, core.Source{Agent: agent, Path: path, Fingerprint: f})
	if err != nil {
		return err
	}
	e.post(ctx, func(ctx context.Context) {
		e.found(res)
		err = e.commit(ctx)
	})
	return err
}
