package live

import (
	"strings"

	"tower/core"
)

// learn takes over what a transcript told. A session can stand in several files (a copy in another
// folder, an archive): the largest speaks for it. Facts of no lines and no class carry names
// only, from an agent's own index.
func (p *Picture) learn(e *entry, s *core.Session, ev *core.Event) {
	f := ev.Facts
	rename(s, f.Name)
	if f.AgentTitle != "" {
		s.AgentTitle = f.AgentTitle
	}
	if f.NamesOnly() {
		s.Archived = f.Archived
		if f.Thread != "" {
			s.ThreadSource = f.Thread
		}
		p.date(s, f)
		return
	}
	same := s.Transcript == "" || s.Transcript == ev.Transcript
	if !same && !ev.Moved && (f.Bytes < e.weight || f.Bytes == e.weight && f.Archived) {
		return
	}
	s.Transcript, e.weight = ev.Transcript, f.Bytes
	s.Archived = f.Archived
	if f.Class != "" && !(f.Class == core.ClassNone && s.Class != "") {
		s.Class = f.Class
	}
	if f.Thread != "" {
		s.ThreadSource = f.Thread
	}
	if f.CWD != "" {
		s.CWD = f.CWD
	}
	if f.First != "" {
		s.FirstMessage = f.First
	}
	if f.Summary != "" {
		s.Summary = f.Summary
	}
	if f.Version != "" {
		s.Version = f.Version
	}
	if f.Entrypoint != "" {
		s.Entrypoint = f.Entrypoint
	}
	// The hook's word for the model can say more than the transcript's: "opus[1m]" against "opus".
	if f.Model != "" && !strings.HasPrefix(s.Model, f.Model+"[") {
		s.Model = f.Model
	}
	if f.Parent != "" {
		s.Parent = core.NewSessionID(s.Agent, f.Parent)
	}
	if f.ForkedFrom != "" {
		s.ForkedFrom = core.NewSessionID(s.Agent, f.ForkedFrom)
	}
	s.ContextTokens, s.ContextStale = f.ContextTokens, f.ContextStale
	if f.ContextWindow != nil {
		s.ContextWindow = f.ContextWindow
	}
	s.Closeout = f.Closeout
	if s.Turns == nil {
		n := f.Turns
		s.Turns = &n
	}
	p.date(s, f)
}

// date moves first and last activity by the instants of the transcript's lines.
func (p *Picture) date(s *core.Session, f *core.Facts) {
	if f.FirstAt != 0 && (s.StartedAt == 0 || f.FirstAt < s.StartedAt) {
		s.StartedAt = f.FirstAt
	}
	if f.LastAt > s.LastSeen {
		s.LastSeen = f.LastAt
	}
	// An imported session ended with its last line, as far as anyone can say.
	if s.Status == core.StatusEnded && s.EndReason == "" || s.Status == core.StatusLost {
		s.EndedAt = s.LastSeen
	}
}
