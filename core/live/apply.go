package live

import (
	"reflect"

	"tower/core"
)

// leaving is how long after the told end of a process its evidence may still stand, in milliseconds.
const leaving = 10_000

// Apply takes one Event. An Event without a session id changes nothing. Duplicates are the caller's
// business: the ledger knows which event ids were applied.
func (p *Picture) Apply(ev core.Event) Outcome {
	var o Outcome
	if ev.Native == "" {
		return o
	}
	id := ev.Session()
	e := p.entries[id]
	fresh := e == nil
	if fresh {
		e = &entry{s: &core.Session{ID: id, Agent: ev.Agent, Native: ev.Native}}
	}
	t := step(e.s.Status, ev.Kind, func(c Condition) bool { return p.holds(c, e, &ev) })
	if ev.ID != "" {
		o.Events = append(o.Events, ev)
	}
	if t.To == core.StatusNone {
		return o
	}
	if fresh {
		p.entries[id] = e
	}

	before, liveBefore := e.s, e.live
	s := *e.s
	was := s.Status
	s.Status = t.To
	describe(&s, &ev)
	opens := false
	switch {
	case t.To == core.StatusLive || t.To == core.StatusStarting:
		opens = p.enter(e, &s, &ev, was)
	case was == core.StatusLive || was == core.StatusStarting || fresh:
		p.leave(e, &s, &ev, was)
	case ev.Kind == core.EventEnd && ev.Reason != "" && (s.EndReason == "" || inferred[s.EndReason]):
		s.EndReason = ev.Reason
	}
	p.closed(e, &s, &ev, &o)
	if opens {
		o.add(p.openRun(e, &s, &ev))
	}
	p.bind(&s, &ev, &o)
	if ev.Facts != nil {
		p.learn(e, &s, &ev)
	}
	if s.CWD != before.CWD {
		s.Harness = p.harness(s.CWD)
	}
	e.s = &s
	if s.Status == core.StatusLive || s.Status == core.StatusStarting || len(e.open) > 0 {
		p.active[id] = e
	} else {
		delete(p.active, id)
	}
	p.paint(e, &ev, was)
	if fresh || !reflect.DeepEqual(before, &s) {
		o.Sessions = append(o.Sessions, s)
		o.Shown = true
		o.Counted = o.Counted || (before.HiddenWhy() == "") != (s.HiddenWhy() == "")
	}
	if !reflect.DeepEqual(liveBefore, e.live) {
		o.Shown = true
	}
	return o
}

// holds judges a condition of the table.
func (p *Picture) holds(c Condition, e *entry, ev *core.Event) bool {
	switch c {
	case Proven:
		d := p.drives[ev.Proc]
		return ev.Proc.Known() && ev.Alive && (ev.Kind == core.EventStart || d == "" || d == e.s.ID)
	case Refuted:
		return ev.Proc.Known() && !ev.Alive
	case Newer:
		return ev.Source == "resume" && ev.At > e.s.EndedAt
	case OtherRun:
		for _, r := range e.open {
			if r.Proc != ev.Proc && ev.Proc.Known() {
				return true
			}
		}
		return false
	case Leaving:
		return ev.Proc == e.last.Proc && e.s.EndReason != reasonReplaced && ev.At-e.s.EndedAt < leaving
	case NewRun:
		return ev.Proc != e.last.Proc && ev.Proc != e.dying
	case OldRun:
		return ev.Proc.Known() && (ev.Proc == e.last.Proc || ev.Proc == e.dying)
	}
	return false
}

func (e *entry) drove(proc core.Process) bool {
	for _, r := range e.open {
		if r.Proc == proc {
			return true
		}
	}
	return false
}

// describe takes over what an event says of the session itself. Empty says nothing.
func describe(s *core.Session, ev *core.Event) {
	set := func(to *string, v string) {
		if v != "" {
			*to = v
		}
	}
	if s.CWD == "" || ev.Kind == core.EventStart && ev.Source != "compact" {
		set(&s.CWD, ev.CWD)
	}
	if ev.Transcript != "" && s.Transcript == "" {
		s.Transcript = ev.Transcript
	}
	set(&s.Model, ev.Model)
	set(&s.AgentTitle, ev.Title)
	set(&s.Entrypoint, ev.Entrypoint)
	if ev.Class != "" {
		s.Class = ev.Class
	}
	if ev.Nested != nil {
		s.Nested = ev.Nested
	}
	if ev.Kind == core.EventStart {
		set(&s.Source, ev.Source)
	}
	if ev.Kind == core.EventPrompt && s.FirstMessage == "" {
		s.FirstMessage = ev.Prompt
	}
	if ev.Proc.Known() {
		shared := ev.Shared
		s.PIDShared = &shared
	}
	if x := ev.Sighting; x != nil {
		if s.CWD == "" {
			s.CWD = x.CWD
		}
		if s.Transcript == "" {
			s.Transcript = x.Transcript
		}
		set(&s.AgentTitle, x.Title)
		set(&s.Entrypoint, x.Entrypoint)
		set(&s.Version, x.Version)
		if s.Model == "" {
			s.Model = x.Model
		}
		if x.Class != "" {
			s.Class = x.Class
		}
		rename(s, x.Name)
	}
	if d := ev.Edit; d != nil {
		edit(s, d)
	}
	active(s, ev)
}

// rename takes over a name given inside the agent, once: a name given in the tower later stays until
// the agent's own changes again.
func rename(s *core.Session, name string) {
	if name != "" && name != s.AgentName {
		s.AgentName, s.Name = name, name
	}
}

func edit(s *core.Session, d *core.Edit) {
	if d.Name != nil {
		s.Name = *d.Name
	}
	if d.Description != nil {
		s.Description = *d.Description
	}
	if d.Tags != nil {
		s.Tags = *d.Tags
	}
	if d.Hidden != nil {
		s.ByHand = *d.Hidden
	}
}

// active moves first and last activity by what is evidence of activity; looking is not.
func active(s *core.Session, ev *core.Event) {
	at := ev.At
	switch ev.Kind {
	case core.EventSeen:
		at = ev.Sighting.At
	case core.EventEnd:
		if s.EndedAt != 0 {
			return // it is over: a goodbye that comes late says why, not that it went on
		}
	case core.EventStart, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve, core.EventNote, core.EventLaunched:
	default:
		return
	}
	if at == 0 {
		if s.StartedAt != 0 {
			return
		}
		at = ev.At // evidence without an instant still proves that it runs now
	}
	if at > s.LastSeen {
		s.LastSeen = at
	}
	if s.StartedAt == 0 || at < s.StartedAt {
		s.StartedAt = at
	}
}
