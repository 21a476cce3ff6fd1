package engine

import (
	"context"
	"os"
	"time"

	"tower/core"
	"tower/core/ledger"
	"tower/core/live"
)

// Still reads the ledger without a running tower and returns the picture as it was last written, with
// AsOf set. What lives is unknown then: no row has a pill.
func Still(ctx context.Context, o Options) (*core.Snapshot, []core.Heat, error) {
	db, err := ledger.OpenReadOnly(ctx, o.Home.Ledger())
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	e := &Engine{o: o, zone: time.Local, moved: make(chan struct{}), health: newHealth(), db: db}
	if o.Config.Timezone != "" {
		if z, err := time.LoadLocation(o.Config.Timezone); err == nil {
			e.zone = z
		}
	}
	if err := e.load(ctx); err != nil {
		return nil, nil, err
	}
	var at []core.Instant
	var of core.SessionID
	flush := func() {
		if len(at) > 0 {
			e.picture.SetDays(of, live.Days(at, e.zone))
			at = at[:0]
		}
	}
	err = db.Turns(ctx, func(id core.SessionID, i core.Instant) error {
		if id != of {
			flush()
			of = id
		}
		at = append(at, i)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	flush()
	for _, a := range o.Adapters {
		e.health.agents = append(e.health.agents, AgentState(a, o.Path, o.Home.HookBinary()))
	}
	e.totals(ctx)
	e.publish()
	s := *e.snap.Load()
	s.AsOf = written(o.Home.Ledger())
	rows := s.Rows
	s.Rows = make([]core.Row, len(rows))
	s.Counts = core.Counts{All: s.Counts.All, Visible: s.Counts.Visible, Hidden: s.Counts.Hidden}
	for i, r := range rows {
		r.Live = nil
		s.Rows[i] = r
	}
	return &s, e.Heat(), nil
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
	var d core.Detail
	for _, r := range s.Rows {
		if r.ID == id {
			d.Row = r
		}
	}
	db, err := ledger.OpenReadOnly(ctx, o.Home.Ledger())
	if err != nil {
		return d, err
	}
	defer db.Close()
	d.Runs, d.Skills, d.Folders, err = db.Detail(ctx, id)
	return d, err
}
