package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tower/core"
)

// payload is what the agent hands to a hook. Every event has the first four.
type payload struct {
	SessionID  string          `json:"session_id"`
	Transcript *string         `json:"transcript_path"`
	CWD        string          `json:"cwd"`
	Event      string          `json:"hook_event_name"`
	AgentID    *string         `json:"agent_id"` // of a sub-agent, whose session_id is its parent's
	Model      string          `json:"model"`
	Source     string          `json:"source"`
	Reason     string          `json:"reason"`
	Prompt     string          `json:"prompt"`
	Message    *string         `json:"last_assistant_message"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
}

// Decode turns a recorded hook call into an event. Whatever a sub-agent's hook tells is a note: it
// carries its parent's id and would speak for it.
func (a *Adapter) Decode(e core.Envelope) (core.Event, error) {
	var p payload
	if len(e.Payload) > 0 {
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return core.Event{}, fmt.Errorf("decode hook %q: %w", e.Event, err)
		}
	}
	native := p.SessionID
	if native == "" && e.AgentSessionID != nil {
		native = *e.AgentSessionID
	}
	if native == "" {
		return core.Event{}, fmt.Errorf("decode hook %q: %w", e.Event, errNoSession)
	}
	name := p.Event
	if name == "" {
		name = e.Event
	}
	ev := core.Event{
		ID: e.EventID, Kind: core.EventNote, At: e.TS, Agent: a.info.Agent, Native: native,
		Name: name, Raw: e.Payload, CWD: p.CWD, Model: p.Model,
		Entrypoint: text(e.Entrypoint), LaunchToken: text(e.LaunchToken),
	}
	if ev.CWD == "" {
		ev.CWD = text(e.CWD)
	}
	if p.AgentID != nil {
		ev.CWD, ev.Model = "", ""
		return ev, nil
	}
	ev.Transcript = text(p.Transcript)
	ev.Class = a.classIn(e.Ancestors)
	switch name {
	case "SessionStart":
		ev.Kind, ev.Source = core.EventStart, p.Source
	case "UserPromptSubmit":
		ev.Kind, ev.Prompt = core.EventPrompt, p.Prompt
	case "Stop":
		ev.Kind, ev.Message = core.EventStop, text(p.Message)
	case "SessionEnd":
		ev.Kind, ev.Reason = core.EventEnd, p.Reason
	case "PermissionRequest":
		ev.Kind, ev.Wait, ev.Ask = core.EventWait, core.WaitPermission, p.ask()
	case "Interrupt":
		ev.Kind = core.EventResolve
	}
	return ev, nil
}

var errNoSession = errors.New("it names no session")

// classIn tells from the nearest process of this agent whether the session runs without a terminal.
// Anything else is not told by a command line.
func (a *Adapter) classIn(chain []core.Ancestor) core.Class {
	for _, p := range chain {
		if !a.info.MatchExe(p.Exe, p.Args) {
			continue
		}
		if !a.info.IsHelper(p.Args) && headless(subcommand(p.Args)) {
			return core.ClassHeadless
		}
		return ""
	}
	return ""
}

// askBytes is the longest question a face gets.
const askBytes = 200

// ask puts what is asked into one line: the tool, what it would do, and the agent's reason.
func (p *payload) ask() string {
	var in struct {
		Command     any    `json:"command"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(p.Input, &in) // an input of another shape has neither
	parts := []string{p.Tool}
	switch c := in.Command.(type) {
	case string:
		parts = append(parts, c)
	case []any:
		for _, word := range c {
			if s, ok := word.(string); ok {
				parts = append(parts, s)
			}
		}
	}
	line := strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
	if why := strings.Join(strings.Fields(in.Description), " "); why != "" {
		line += " (" + why + ")"
	}
	return cut(strings.ToValidUTF8(line, "\uFFFD"), askBytes)
}

// cut shortens a line to so many bytes, at a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := 0
	for i := range s {
		if i > limit-len("…") {
			break
		}
		end = i
	}
	return s[:end] + "…"
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
