package live

import (
	"fmt"
	"testing"

	"tower/core"
)

// TestTableIsTotal asks for rows of every status and every kind, the last of which always applies and
// none of which stands behind one that always applies.
func TestTableIsTotal(t *testing.T) {
	for _, s := range core.Statuses {
		for _, k := range core.EventKinds {
			rows := pairs[pair{s, k}]
			if len(rows) == 0 {
				t.Errorf("no row for %q x %q", s, k)
				continue
			}
			for i, r := range rows {
				if last := i == len(rows)-1; last != (r.When == Always) {
					t.Errorf("row %d of %q x %q has condition %q", i, s, k, r.When)
				}
			}
		}
	}
	if want := len(core.Statuses) * len(core.EventKinds); len(pairs) != want {
		t.Errorf("table has %d pairs, want %d", len(pairs), want)
	}
}

// world brings a session into a status with a condition holding, and makes the event of the row.
type world struct {
	p  *Picture
	ev core.Event
}

const (
	agent = core.Agent("claude")
	me    = "11111111-0000-4000-8000-000000000001"
	other = "22222222-0000-4000-8000-000000000002"
)

var (
	first  = core.Process{Boot: "b", PID: 100, Start: 1000}
	second = core.Process{Boot: "b", PID: 200, Start: 2000}
)

func (w *world) do(k core.EventKind, change func(*core.Event)) Outcome {
	w.ev.At += 1000
	ev := core.Event{Kind: k, At: w.ev.At, Agent: agent, Native: me}
	switch k {
	case core.EventSeen:
		ev.Proc, ev.Alive = first, true
		ev.Sighting = &core.Sighting{Agent: agent, Native: me, Proc: first, Pill: core.PillIdle, Final: true, Grade: core.GradeRecord}
	case core.EventFacts:
		ev.Facts = &core.Facts{Agent: agent, Native: me, Lines: 3, Bytes: 100, Turns: 1}
	case core.EventEdit:
		ev.Edit = &core.Edit{}
	}
	if change != nil {
		change(&ev)
	}
	return w.p.Apply(ev)
}

func (w *world) status() core.Status {
	if s := w.p.Session(core.NewSessionID(agent, me)); s != nil {
		return s.Status
	}
	return core.StatusNone
}

func in(t *testing.T, s core.Status) *world {
	t.Helper()
	w := &world{p: New(nil), ev: core.Event{At: 1_700_000_000_000}}
	alive := func(ev *core.Event) { ev.Proc, ev.Alive = first, true }
	switch s {
	case core.StatusStarting:
		w.do(core.EventLaunched, nil)
	case core.StatusLive, core.StatusEnded, core.StatusLost, core.StatusKilled:
		w.do(core.EventStart, alive)
	}
	switch s {
	case core.StatusEnded:
		w.do(core.EventEnd, func(ev *core.Event) { ev.Proc, ev.Reason = first, "other" })
	case core.StatusLost:
		w.do(core.EventGone, func(ev *core.Event) { ev.Proc = first })
	case core.StatusKilled:
		w.do(core.EventKill, nil)
	}
	if got := w.status(); got != s {
		t.Fatalf("brought to %q, want %q", got, s)
	}
	return w
}

// TestEveryRow takes every row of the table with its condition holding and, for a row with none, with
// no condition holding, and asks where the status went.
func TestEveryRow(t *testing.T) {
	for i, row := range Table {
		t.Run(fmt.Sprintf("%02d %s %s %s", i, row.From, row.On, row.When), func(t *testing.T) {
			w := in(t, row.From)
			w.do(row.On, func(ev *core.Event) {
				switch row.When {
				case Proven:
					ev.Proc, ev.Alive = second, true
				case Refuted:
					ev.Proc, ev.Alive = second, false
				case Newer:
					ev.Source, ev.Proc = "resume", second
				case OtherRun:
					w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Source = second, true, "resume" })
					ev.Proc = first
				case Leaving:
					ev.Proc = first
				case OldRun:
					ev.Proc, ev.Alive, ev.Source = first, true, "resume"
					ev.At++
				case NewRun:
					ev.Proc, ev.Sighting.Proc = second, second
				case Always:
					switch {
					case row.On == core.EventSeen && row.From != core.StatusKilled:
						ev.Proc, ev.Sighting.Proc = second, second
					case row.From == core.StatusLost && row.On != core.EventSeen:
						// nothing known of the process: neither proven nor refuted
					}
				}
			})
			if got := w.status(); got != row.To {
				t.Errorf("%q on %q (%s) went to %q, want %q", row.From, row.On, row.When, got, row.To)
			}
		})
	}
}
