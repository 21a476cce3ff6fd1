package engine

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"tower/core"
)

// settings are the few values that machines change, not the person: kept in the ledger, read from
// memory.
type settings struct {
	mu     sync.RWMutex
	values map[string]string
}

// Get returns a setting.
func (e *Engine) Get(key string) (string, bool) {
	e.settings.mu.RLock()
	defer e.settings.mu.RUnlock()
	v, ok := e.settings.values[key]
	return v, ok
}

// Set keeps a setting.
func (e *Engine) Set(key, value string) error {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if err := e.post(ctx, func(ctx context.Context) error { return e.db.SetSetting(ctx, key, value) }); err != nil {
		return fmt.Errorf("keep setting %q: %w", key, err)
	}
	e.settings.mu.Lock()
	defer e.settings.mu.Unlock()
	e.settings.values[key] = value
	return nil
}

// ResumeCommand says how a session would be taken up again. It starts nothing.
func (e *Engine) ResumeCommand(_ context.Context, id core.SessionID) (core.Launch, error) {
	for _, r := range e.snap.Load().Rows {
		if r.ID != id {
			continue
		}
		a := e.adapters[r.Agent]
		if a == nil {
			return core.Launch{}, &core.Refusal{What: "Not resumed.", Why: fmt.Sprintf("This tower does not know the agent %q.", r.Agent)}
		}
		return a.Resume(*r.Session, "")
	}
	return core.Launch{}, fmt.Errorf("session %q: %w", id, fs.ErrNotExist)
}
