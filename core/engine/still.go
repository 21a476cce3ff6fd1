package engine

import (
	"context"
	"os"
	"slices"
	"time"

	"tower/core"
	"tower/core/ledger"
)

// Still reads the ledger without a running tower and returns the picture as it was last written, with
// AsOf set. What lives is unknown then: no row has a pill.
func Still(ctx context.Context, o Options) (*core.Snapshot, []core.Heat, error) {
	db, err := ledger.OpenReadOnly(ctx, o.Home.Ledger())
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	e, err := build(o, db)
	if err != nil {
		return nil, nil, err
	}
	if err := e.load(ctx); err != nil {
		return nil, nil, err
	}
	days, err := e.readDays(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range days {
		e.picture.SetDays(d.of, d.days)
	}
	for _, a := range o.Adapters {
		e.health.agents = append(e.health.agents, AgentState(a, o.Path, o.Home.HookBinary()))
	}
	e.countBad()
	e.totals(ctx)
	e.publish()
	s := *e.snap.Load()
	s.AsOf = written(o.Home.Ledger())
	s.Counts = unliving(s.Counts)
	s.Agents = slices.Clone(s.Agents)
	for i := range s.Agents {
		s.Agents[i].Counts = unliving(s.Agents[i].Counts)
	}
	s.Rows = slices.Clone(s.Rows)
	for i := range s.Rows {
		s.Rows[i].Live, s.Rows[i].Busy = nil, ""
	}
	return &s, e.Heat(), nil
}

// unliving leaves of counts what is known without looking at what lives.
func unliving(c core.Counts) core.Counts {
	return core.Counts{All: c.All, Visible: c.Visible, Hidden: c.Hidden}
}

// written is when the ledger was last written: the younger of the file and its log.
func written(path string) core.Instant {
	var at time.Time
	for _, p := range []string{path, path + "-wal"} {
		if info, err := os.Stat(p); err == nil && info.ModTime().After(at) && (p == path || info.Size() > 0) {
			at = info.ModTime()
		}
	}
	return core.InstantOf(at)
}

// StillDetail is Detail without a running tower.
func StillDetail(ctx context.Context, o Options, s *core.Snapshot, id core.SessionID) (core.Detail, error) {
	db, err := ledger.OpenReadOnly(ctx, o.Home.Ledger())
	if err != nil {
		return core.Detail{}, err
	}
	defer db.Close()
	return detail(ctx, db, s.Rows, id)
}
