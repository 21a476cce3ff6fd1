package live

import (
	"maps"
	"slices"

	"tower/core"
)

// Picture is everything known of every session. It belongs to one goroutine.
type Picture struct {
	// Harness tells whether a folder belongs to a harness; sessions in one are hidden.
	harness func(cwd string) bool

	entries map[core.SessionID]*entry
	active  map[core.SessionID]*entry       // live, starting, or with a run that is not closed
	drives  map[core.Process]core.SessionID // who drives a process now; shared ones are not here
	drove   map[core.Process]core.SessionID // who drove it last, until Forget
	tokens  map[string]core.LaunchRecord
}

// entry is one session and what is only known while the program runs.
type entry struct {
	s      *core.Session // replaced, never written to
	open   []core.Run
	last   core.Run     // the run closed last
	dying  core.Process // whose end was asked for
	live   *core.Live
	hook   waiting
	weight int64 // size of the transcript the facts come from
	days   []Day
}

// Day is the number of turns of a session on one day, as days since 1970 in the zone of the views.
type Day struct {
	Day   int32
	Turns int32
}

// New returns an empty Picture. harness may be nil.
func New(harness func(cwd string) bool) *Picture {
	if harness == nil {
		harness = func(string) bool { return false }
	}
	return &Picture{
		harness: harness,
		entries: map[core.SessionID]*entry{},
		active:  map[core.SessionID]*entry{},
		drives:  map[core.Process]core.SessionID{},
		drove:   map[core.Process]core.SessionID{},
		tokens:  map[string]core.LaunchRecord{},
	}
}

// Load fills an empty Picture with what the ledger kept. The result has to be kept again: sessions
// whose folder became a harness's, or ceased to be, since they were written.
func (p *Picture) Load(sessions []core.Session, open, closed []core.Run, launches []core.LaunchRecord, weight func(path string) int64) core.Writes {
	var w core.Writes
	for i := range sessions {
		s := sessions[i]
		if h := s.CWD != "" && p.harness(s.CWD); h != s.Harness {
			s.Harness = h
			w.Sessions = append(w.Sessions, s)
		}
		e := &entry{s: &s}
		if s.Transcript != "" && weight != nil {
			e.weight = weight(s.Transcript)
		}
		p.entries[s.ID] = e
		if s.Status == core.StatusLive || s.Status == core.StatusStarting {
			e.live = &core.Live{Pill: core.PillStarting, Since: s.LastSeen}
			if s.Status == core.StatusLive {
				e.live.Pill = core.PillIdle
			}
			p.active[s.ID] = e
		}
	}
	// A process whose session's end was told may be on its way out still: its evidence must not bring the
	// session back only because the tower was restarted meanwhile.
	for _, r := range closed {
		if e := p.entries[r.Session]; e != nil {
			e.last = r
			if !r.Shared && r.Proc.Known() {
				p.drove[r.Proc] = r.Session
			}
		}
	}
	for _, r := range open {
		if e := p.entries[r.Session]; e != nil {
			e.open = append(e.open, r)
			if e.s.Status == core.StatusKilled {
				e.dying = r.Proc
			}
			p.active[r.Session] = e
			p.drive(r)
			if e.live != nil {
				e.live.Proc, e.live.Shared = r.Proc, r.Shared
			}
		}
	}
	for _, l := range launches {
		p.tokens[l.Token] = l
	}
	return w
}

// Session returns a session, or nil.
func (p *Picture) Session(id core.SessionID) *core.Session {
	if e := p.entries[id]; e != nil {
		return e.s
	}
	return nil
}

// Live returns what a session is doing, or nil.
func (p *Picture) Live(id core.SessionID) *core.Live {
	if e := p.entries[id]; e != nil {
		return e.live
	}
	return nil
}

// Len returns the number of sessions.
func (p *Picture) Len() int { return len(p.entries) }

// OpenRuns returns every run that is not closed.
func (p *Picture) OpenRuns() []core.Run {
	var runs []core.Run
	for _, e := range p.active {
		runs = append(runs, e.open...)
	}
	return runs
}

// Living returns the ids of all sessions that are live or starting.
func (p *Picture) Living() []core.SessionID {
	var ids []core.SessionID
	for id, e := range p.active {
		if e.s.Status == core.StatusLive || e.s.Status == core.StatusStarting {
			ids = append(ids, id)
		}
	}
	return ids
}

// Drives returns the session that drives a process now, or "".
func (p *Picture) Drives(proc core.Process) core.SessionID { return p.drives[proc] }

// Forget drops what is only remembered of processes in case they go on, for those that are dead.
func (p *Picture) Forget(dead func(core.Process) bool) {
	maps.DeleteFunc(p.drove, func(proc core.Process, _ core.SessionID) bool { return p.drives[proc] == "" && dead(proc) })
	maps.DeleteFunc(p.tokens, func(_ string, l core.LaunchRecord) bool { return l.Matched != "" && l.Proc.Known() && dead(l.Proc) })
}

// SetDays replaces the days of a session. It tells whether they differ from what was known.
func (p *Picture) SetDays(id core.SessionID, days []Day) bool {
	e := p.entries[id]
	if e == nil || slices.Equal(e.days, days) {
		return false
	}
	e.days = days
	return true
}

// SetTurns notes the number of a session's own turns as the ledger counted them.
func (p *Picture) SetTurns(id core.SessionID, n int64) bool {
	e := p.entries[id]
	if e == nil || e.s.Turns != nil && *e.s.Turns == n {
		return false
	}
	s := *e.s
	s.Turns = &n
	e.s = &s
	return true
}

// drive notes that a run's process drives its session.
func (p *Picture) drive(r core.Run) {
	if r.Shared || !r.Proc.Known() {
		return
	}
	p.drives[r.Proc] = r.Session
	p.drove[r.Proc] = r.Session
}

// Outcome is what an Event led to.
type Outcome struct {
	core.Writes
	Shown   bool // a fact that some face shows has moved
	Counted bool // a session came to be counted, or ceased to
}

func (o *Outcome) add(other Outcome) {
	o.Writes.Add(other.Writes)
	o.Shown = o.Shown || other.Shown
	o.Counted = o.Counted || other.Counted
}

// OpenRunsOf returns the runs of a session that are not closed.
func (p *Picture) OpenRunsOf(id core.SessionID) []core.Run {
	if e := p.entries[id]; e != nil {
		return e.open
	}
	return nil
}

// HasRun tells whether a run of the session is open.
func (p *Picture) HasRun(id core.SessionID) bool { return len(p.OpenRunsOf(id)) > 0 }

// DaysUnknown tells whether no days were ever set for a session.
func (p *Picture) DaysUnknown(id core.SessionID) bool {
	e := p.entries[id]
	return e != nil && e.days == nil
}
