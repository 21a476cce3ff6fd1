package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"tower/core"
	"tower/core/claim"
	"tower/core/live"
)

// publish replaces the Snapshot and wakes who waits for one.
func (e *Engine) publish() {
	e.dirty, e.lastPub = false, time.Now()
	e.revision++
	rows, counts, per := e.picture.Rows()
	s := &core.Snapshot{
		Revision: e.revision, At: core.InstantOf(time.Now()),
		Mode: e.o.Config.Mode, Name: e.o.Config.Name, Accent: e.o.Config.Accent,
		Build: e.o.Build, Zone: e.zone.String(), Counts: counts, Rows: rows,
	}
	s.Launches = e.launching()
	e.busy(rows)
	if s.Zone == "Local" {
		s.Zone = zoneName(e.zone)
	}
	s.Health, s.Agents, s.Import = e.health.report(per)
	folders(s.Agents, rows)
	if e.heatMoved || e.heat.Load() == nil { // a sum over all sessions
		heat := heatOf(e.picture.Heat())
		e.heat.Store(&heat)
		e.heatMoved = false
	}
	e.movedM.Lock()
	e.snap.Store(s)
	close(e.moved)
	e.moved = make(chan struct{})
	e.movedM.Unlock()
}

// busy writes into the rows which of them an action is under way on.
func (e *Engine) busy(rows []core.Row) {
	if e.claims.Len() == 0 {
		return
	}
	for i := range rows {
		if c, ok := e.claims.Get(claim.Session(rows[i].ID)); ok {
			rows[i].Busy = c.What
		}
	}
}

// mostFolders is how many recent folders of an agent are offered for the next launch; lookedAt how many
// rows are looked through for them.
const (
	mostFolders = 8
	lookedAt    = 2000
)

// folders writes into the agents where they worked last. The rows come newest first within a group, and
// those that run now before the others.
func folders(agents []core.AgentState, rows []core.Row) {
	for i := range agents {
		agents[i].Folders = []string{}
	}
	full := 0
	for n := range rows {
		if n == lookedAt || full == len(agents) {
			return
		}
		r := &rows[n]
		if r.Hidden != "" || r.CWD == "" {
			continue
		}
		for i := range agents {
			a := &agents[i]
			if a.Agent == r.Agent && len(a.Folders) < mostFolders && !slices.Contains(a.Folders, r.CWD) {
				if a.Folders = append(a.Folders, r.CWD); len(a.Folders) == mostFolders {
					full++
				}
			}
		}
	}
}

// zoneName names the machine's zone by its abbreviation, since its IANA name is not known.
func zoneName(z *time.Location) string {
	name, _ := time.Now().In(z).Zone()
	return name
}

func (h *health) report(per map[core.Agent]core.Counts) (core.Health, []core.AgentState, core.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := core.Health{
		Loops: slices.Clone(h.loops), Problems: []core.Problem{}, BadFiles: h.bad, BadLines: h.badLines, UnknownTypes: maps.Clone(h.unknown), DiskBuild: h.disk,
	}
	h.stuck(out.Loops, time.Now())
	for _, id := range slices.Sorted(maps.Keys(h.problems)) {
		out.Problems = append(out.Problems, h.problems[id])
	}
	agents := slices.Clone(h.agents)
	for i := range agents {
		agents[i].Counts = per[agents[i].Agent]
	}
	return out, agents, h.progress
}

// Snapshot returns the newest picture, with the health of this moment. It is never nil.
func (e *Engine) Snapshot() *core.Snapshot {
	s := *e.snap.Load()
	per := map[core.Agent]core.Counts{}
	for _, a := range s.Agents {
		per[a.Agent] = a.Counts
	}
	s.Health, _, s.Import = e.health.report(per)
	if a := e.addr.Load(); a != nil {
		s.URL, s.Health.Ports = a.url, a.ports
	}
	return &s
}

// Wait returns as soon as the Snapshot's revision is beyond since, or when ctx ends.
func (e *Engine) Wait(ctx context.Context, since int64) *core.Snapshot {
	for {
		e.movedM.Lock()
		moved, s := e.moved, e.snap.Load()
		e.movedM.Unlock()
		if s.Revision > since {
			return e.Snapshot()
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return e.Snapshot()
		}
	}
}

// Moved returns a channel that is closed at the next Snapshot.
func (e *Engine) Moved() <-chan struct{} {
	e.movedM.Lock()
	defer e.movedM.Unlock()
	return e.moved
}

// Heat returns the turns per day and agent of all visible sessions, oldest day first.
func (e *Engine) Heat() []core.Heat { return *e.heat.Load() }

func heatOf(sum map[core.Agent]map[int32]int32) []core.Heat {
	out := []core.Heat{}
	for agent, days := range sum {
		for day, n := range days {
			out = append(out, core.Heat{Day: live.DayName(day), Agent: agent, Turns: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b core.Heat) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Agent, b.Agent)) })
	return out
}
