package engine

import (
	"context"
	"runtime/debug"
	"time"

	"tower/core"
	"tower/core/live"
)

// countAgain is how long a ledger whose turns could not be read is left alone.
const countAgain = 30 * time.Second

// countDays fills the heat map from the turns kept, once after start. The first Snapshot does not wait
// for it.
func (e *Engine) countDays(ctx context.Context) error {
	for {
		err := guarded(ctx, func(ctx context.Context) error {
			days, err := e.readDays(ctx)
			if err != nil {
				return err
			}
			return e.post(ctx, func(context.Context) error {
				for _, d := range days {
					if e.picture.DaysUnknown(d.of) { // else a write counted them meanwhile
						e.picture.SetDays(d.of, d.days)
					}
				}
				e.dirty, e.heatMoved = true, true
				return nil
			})
		})
		if ctx.Err() != nil {
			return nil
		}
		if e.health.tick("heat map", err, e.log) {
			wake(e.wakes.faces)
		}
		if err == nil {
			debug.FreeOSMemory() // a start leaves garbage, as an import does
			return nil
		}
		select {
		case <-time.After(countAgain):
		case <-ctx.Done():
			return nil
		}
	}
}

type sessionDays struct {
	of   core.SessionID
	days []live.Day
}

// readDays cuts the turns kept into days, session by session.
func (e *Engine) readDays(ctx context.Context) ([]sessionDays, error) {
	var all []sessionDays
	var of core.SessionID
	var at []core.Instant
	flush := func() {
		if len(at) > 0 {
			all = append(all, sessionDays{of, live.Days(at, e.zone)})
			at = at[:0]
		}
	}
	err := e.db.Turns(ctx, func(id core.SessionID, i core.Instant) error {
		if id != of {
			flush()
			of = id
		}
		at = append(at, i)
		return nil
	})
	flush()
	return all, err
}
