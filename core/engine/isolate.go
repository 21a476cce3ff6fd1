package engine

import (
	"context"
	"errors"
	"fmt"

	"tower/core"
	"tower/core/ledger"
)

// never tells an error of a write that would fail again however often it is tried: a row that cannot
// be one, or a decision of the ledger against it.
func never(err error) bool {
	var refused *core.Refusal
	return errors.Is(err, ledger.ErrInvalid) || errors.As(err, &refused)
}

// isolate keeps of what is pending all that can be kept, source by source, so that one write that
// never will be does not hold up every other. What is left out is told, and its source is read again
// at the next import.
func (e *Engine) isolate(ctx context.Context) error {
	parts := []core.Writes{{Events: e.pending.Events, Sessions: e.pending.Sessions, Runs: e.pending.Runs, Launches: e.pending.Launches,
		Intents: e.pending.Intents}}
	at := map[string]int{}
	part := func(source string) *core.Writes {
		if _, ok := at[source]; !ok {
			at[source] = len(parts)
			parts = append(parts, core.Writes{})
		}
		return &parts[at[source]]
	}
	for _, t := range e.pending.Turns {
		w := part(t.Source)
		w.Turns = append(w.Turns, t)
	}
	for _, s := range e.pending.Sources {
		w := part(s.Path)
		w.Sources = append(w.Sources, s)
	}
	e.pending = core.Writes{}
	clear(e.applied)
	var left error
	for i, w := range parts {
		if w.Empty() {
			continue
		}
		done, err := e.db.Apply(ctx, w)
		switch {
		case err == nil:
			for _, s := range w.Sources {
				e.index.Put(s)
			}
			e.kept(done)
		case never(err) && i == 0 && len(w.Events)+len(w.Sessions)+len(w.Runs)+len(w.Launches)+len(w.Intents) > 1:
			left = errors.Join(left, e.rows(ctx, w))
		case never(err):
			left = errors.Join(left, err)
		default:
			e.later(w)
		}
	}
	if e.pending.Empty() {
		e.health.tick("ledger", nil, e.log)
		e.health.behind("ledger", "")
	}
	text := ""
	if left != nil {
		text = fmt.Sprintf("The ledger refused what it can never keep: %v", left)
		e.log.Error("write refused for good", "error", left)
	}
	if e.health.problem("refused write", text, "The rest was kept. If the transcript named is whole, run: tower import --full") {
		e.dirty = true
	}
	return nil
}

// later puts back what may pass at another time.
func (e *Engine) later(w core.Writes) {
	e.pending.Add(w)
	for _, ev := range w.Events {
		e.applied[ev.ID] = true
	}
}

// rows keeps rows one by one.
func (e *Engine) rows(ctx context.Context, w core.Writes) (left error) {
	one := func(w core.Writes) {
		done, err := e.db.Apply(ctx, w)
		switch {
		case err == nil:
			e.kept(done)
		case never(err):
			left = errors.Join(left, err)
		default:
			e.later(w)
		}
	}
	for _, s := range w.Sessions {
		one(core.Writes{Sessions: []core.Session{s}})
	}
	for _, r := range w.Runs {
		one(core.Writes{Runs: []core.Run{r}})
	}
	for _, l := range w.Launches {
		one(core.Writes{Launches: []core.LaunchRecord{l}})
	}
	for _, in := range w.Intents {
		one(core.Writes{Intents: []core.Intent{in}})
	}
	for _, ev := range w.Events {
		one(core.Writes{Events: []core.Event{ev}})
	}
	return left
}
