package live

import "tower/core"

// Reasons of ends that the reducer itself decides.
const (
	reasonReplaced = "replaced"
	reasonUnloaded = "unloaded"
	reasonGone     = "process gone"
	reasonKilled   = "ended by you"
)

// inferred are the reasons that stand in until the agent gives its own. That of a replaced session is
// not among them: it was told by the session that took over.
var inferred = map[string]bool{reasonUnloaded: true, reasonGone: true, reasonKilled: true}

// enter prepares a session that is live or starting after the event. It tells whether a run opens.
func (p *Picture) enter(e *entry, s *core.Session, ev *core.Event, was core.Status) bool {
	if was.Over() || was == core.StatusNone {
		s.EndedAt, s.EndReason = 0, ""
	}
	switch ev.Kind {
	case core.EventStart, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve, core.EventSeen, core.EventLaunched, core.EventNotKilled:
	case core.EventNote:
		if was != core.StatusNone {
			return false
		}
	default:
		return false
	}
	if !ev.Proc.Known() || e.drove(ev.Proc) {
		return false
	}
	// A process that is known to be dead is not opened as a second run of a living session.
	if was == core.StatusLive && !ev.Alive && ev.Kind != core.EventSeen && len(e.open) > 0 {
		return false
	}
	return true
}

// leave fills in how and when a session ended.
func (p *Picture) leave(e *entry, s *core.Session, ev *core.Event, was core.Status) {
	s.EndedAt = ev.At
	switch ev.Kind {
	case core.EventEnd:
		s.EndReason = ev.Reason
	case core.EventGone:
		s.EndReason = reasonGone
		if was == core.StatusStarting {
			s.EndReason = core.ReasonLaunchFailed
		} else if s.LastSeen != 0 {
			s.EndedAt = s.LastSeen
		}
	case core.EventExpired:
		s.EndReason = core.ReasonLaunchFailed
	case core.EventUnseen:
		s.EndReason = reasonUnloaded
	case core.EventReplaced:
		s.EndReason = reasonReplaced
		if ev.Reason == "clear" || ev.Reason == "resume" {
			s.EndReason = ev.Reason
		}
	case core.EventKill:
		s.EndReason = reasonKilled
		if e.dying = ev.Proc; !ev.Proc.Known() && len(e.open) > 0 {
			e.dying = e.open[len(e.open)-1].Proc
		}
	case core.EventFacts:
		s.EndedAt, s.EndReason = 0, "" // learn sets it from the transcript
	}
}

// closed closes the runs an event ends.
func (p *Picture) closed(e *entry, s *core.Session, ev *core.Event, o *Outcome) {
	// One that is being killed keeps its run until the process is known to be gone.
	all := s.Status.Over() && s.Status != core.StatusKilled
	one := ev.Kind == core.EventEnd || ev.Kind == core.EventGone || ev.Kind == core.EventReplaced || ev.Kind == core.EventUnseen
	if !all && !one {
		return
	}
	kept := e.open[:0:0]
	for _, r := range e.open {
		if !all && !(one && r.Proc == ev.Proc) {
			kept = append(kept, r)
			continue
		}
		r.EndedAt = ev.At
		o.Runs = append(o.Runs, r)
		e.last = r
		if p.drives[r.Proc] == r.Session {
			delete(p.drives, r.Proc)
		}
	}
	e.open = kept
	// A session that ended before any run of it was known still has the process that told so.
	if ev.Kind == core.EventEnd && ev.Proc.Known() && s.Status.Over() && e.last.Proc != ev.Proc && len(o.Runs) == 0 {
		e.last = core.Run{Session: s.ID, Proc: ev.Proc, StartedAt: ev.At, EndedAt: ev.At, Shared: ev.Shared}
		o.Runs = append(o.Runs, e.last)
		if !ev.Shared {
			p.drove[ev.Proc] = s.ID
		}
	}
}

// openRun opens a run. A process drives at most one session, unless it is shared: whoever drove it
// before is ended, even if its end was never told.
func (p *Picture) openRun(e *entry, s *core.Session, ev *core.Event) Outcome {
	var o Outcome
	if !ev.Shared {
		old := p.drives[ev.Proc]
		if old == "" {
			old = p.cleared(ev)
		}
		if old != "" && old != s.ID {
			if s.Follows == "" && ev.Source != "resume" {
				s.Follows = old
			}
			o.add(p.replace(old, ev))
		}
	}
	r := core.Run{Session: s.ID, Proc: ev.Proc, LaunchToken: ev.LaunchToken, StartedAt: ev.At, StartSource: ev.Source, Shared: ev.Shared}
	e.open = append(e.open, r)
	p.drive(r)
	o.Runs = append(o.Runs, r)
	return o
}

// cleared returns the session that left the process by /clear, whoever tells first of the one after it:
// its own start, or evidence that was quicker.
func (p *Picture) cleared(ev *core.Event) core.SessionID {
	id := p.drove[ev.Proc]
	if e := p.entries[id]; e != nil && (e.s.EndReason == "clear" || ev.Kind == core.EventStart && ev.Source == "clear") {
		return id
	}
	return ""
}

// replace ends the session that drove a process until another took it over.
func (p *Picture) replace(old core.SessionID, by *core.Event) Outcome {
	e := p.entries[old]
	if e == nil || e.s.Status.Over() {
		return Outcome{}
	}
	return p.Apply(core.Event{Kind: core.EventReplaced, At: by.At, Agent: e.s.Agent, Native: e.s.Native, Proc: by.Proc, Reason: by.Source})
}

// binds are the kinds of events that prove that the agent is there; a launch that was only noted does not.
var binds = map[core.EventKind]bool{
	core.EventStart: true, core.EventPrompt: true, core.EventStop: true, core.EventWait: true, core.EventResolve: true, core.EventSeen: true,
}

// bind ties a session to the launch whose token its event carries. A token binds one session for ever,
// and one that was told which session to become binds no other.
func (p *Picture) bind(s *core.Session, ev *core.Event, o *Outcome) {
	if ev.LaunchToken == "" {
		return
	}
	l, ok := p.tokens[ev.LaunchToken]
	if !ok || l.Matched != "" || l.Expect != "" && l.Expect != s.ID {
		return
	}
	if s.Name == "" && l.Name != "" {
		s.Name = l.Name
	}
	if s.Continues == "" {
		s.Continues = l.Continues
	}
	if !binds[ev.Kind] || s.Status != core.StatusLive {
		return
	}
	if l.Resumes {
		s.ResumedBy = l.AskedBy
	}
	l.Matched, l.MatchedAt = s.ID, ev.At
	p.tokens[l.Token] = l
	o.Launches = append(o.Launches, l)
}

// Note takes a launch over, so that the agent it starts is known by its token or by its process. One
// that ended without a session binds none any more.
func (p *Picture) Note(l core.LaunchRecord) {
	if l.EndedAt != 0 && l.Matched == "" {
		delete(p.tokens, l.Token)
		return
	}
	p.tokens[l.Token] = l
}

// Launch returns a launch that may still bind, or has bound.
func (p *Picture) Launch(token string) (core.LaunchRecord, bool) {
	l, ok := p.tokens[token]
	return l, ok
}

// LaunchOf returns the launch that led to a session last, as long as its process is not known to be gone.
func (p *Picture) LaunchOf(id core.SessionID) (last core.LaunchRecord, ok bool) {
	for _, l := range p.tokens {
		if l.Matched == id && l.MatchedAt >= last.MatchedAt {
			last, ok = l, true
		}
	}
	return last, ok
}

// Launching tells whether a launch may still bind a session.
func (p *Picture) Launching() bool {
	for _, l := range p.tokens {
		if l.Matched == "" {
			return true
		}
	}
	return false
}
