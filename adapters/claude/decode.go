package claude

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"tower/core"
)

// payload are the fields of a hook's object that mean something to the tower. The agent's other
// fields, and fields of another type than expected, are passed over.
type payload struct {
	Session      string `json:"session_id"`
	Transcript   string `json:"transcript_path"`
	CWD          string `json:"cwd"`
	Event        string `json:"hook_event_name"`
	AgentID      string `json:"agent_id"`
	Source       string `json:"source"`
	Model        string `json:"model"`
	Title        string `json:"session_title"`
	Reason       string `json:"reason"`
	Prompt       string `json:"prompt"`
	Message      string `json:"message"`
	Notification string `json:"notification_type"`
	Last         string `json:"last_assistant_message"`
	Error        string `json:"error"`
	Tool         string `json:"tool_name"`
	Input        struct {
		Command   string `json:"command"`
		FilePath  string `json:"file_path"`
		Notebook  string `json:"notebook_path"`
		Path      string `json:"path"`
		URL       string `json:"url"`
		Pattern   string `json:"pattern"`
		Skill     string `json:"skill"`
		Text      string `json:"description"`
		Questions []struct {
			Question string `json:"question"`
		} `json:"questions"`
	} `json:"tool_input"`
	Background []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"background_tasks"`
}

// ErrNoSession says that a hook call named no session.
var ErrNoSession = errors.New("the hook call names no session")

// maxAsk is how much of a question a row shows, in runes.
const maxAsk = 200

// Decode turns a hook call into an event, see [core.Adapter]. What is told from inside a sub-agent
// carries the id of the session above it and must not move that session: it is a note.
func (a *Adapter) Decode(env core.Envelope) (core.Event, error) {
	var p payload
	// A field of another type than expected is left empty; the others are read all the same.
	_ = json.Unmarshal(env.Payload, &p)
	e := core.Event{
		ID:          env.EventID,
		Kind:        core.EventNote,
		At:          env.TS,
		Agent:       a.info.Agent,
		Native:      told(env.AgentSessionID, p.Session),
		Name:        env.Event,
		Raw:         env.Payload,
		CWD:         told(env.CWD, p.CWD),
		Transcript:  told(env.TranscriptPath, p.Transcript),
		Model:       p.Model,
		Title:       p.Title,
		Entrypoint:  told(env.Entrypoint, ""),
		LaunchToken: told(env.LaunchToken, ""),
	}
	if e.Native == "" {
		return core.Event{}, ErrNoSession
	}
	if e.Name == "" {
		e.Name = p.Event
	}
	e.Class = classOf(e.Entrypoint)
	if p.AgentID != "" {
		return e, nil
	}
	switch e.Name {
	case "SessionStart":
		e.Kind, e.Source = core.EventStart, told(env.Source, p.Source)
	case "UserPromptSubmit":
		e.Kind = core.EventPrompt
		if !strings.HasPrefix(p.Prompt, "<task-notification") {
			e.Prompt = p.Prompt
		}
	case "Stop":
		e.Message = p.Last
		if !p.busy() {
			e.Kind = core.EventStop
		}
	case "StopFailure":
		e.Kind, e.Message, e.Reason = core.EventStop, p.Last, p.Error
	case "SessionEnd":
		e.Kind, e.Reason = core.EventEnd, told(env.Source, p.Reason)
	case "PermissionRequest":
		e.Kind = core.EventWait
		e.Wait, e.Ask = p.asks()
	case "PreToolUse":
		if p.Tool == askTool || p.Tool == planTool {
			e.Kind = core.EventWait
			e.Wait, e.Ask = p.asks()
		}
	case "PostToolUse":
		if p.Tool == askTool || p.Tool == planTool {
			e.Kind = core.EventResolve
		}
	case "Notification":
		// A reminder of what PermissionRequest told some seconds ago in more words, or of an idle
		// prompt: it tells nothing new, and as a wait it would turn a question into a permission.
		e.Ask = brief(p.Message)
	}
	return e, nil
}

// The tools by which the model asks the person.
const (
	askTool  = "AskUserQuestion"
	planTool = "ExitPlanMode"
)

// busy tells whether the session goes on by itself although its turn has ended: a sub-agent in the
// background answers to it. A shell command in the background does not count.
func (p *payload) busy() bool {
	for _, t := range p.Background {
		if t.Type != "shell" && t.Status == "running" {
			return true
		}
	}
	return false
}

// asks tells what the person is asked, and in which words.
func (p *payload) asks() (core.Wait, string) {
	in := &p.Input
	switch p.Tool {
	case askTool:
		if len(in.Questions) > 0 {
			return core.WaitQuestion, brief(in.Questions[0].Question)
		}
		return core.WaitQuestion, ""
	case planTool:
		return core.WaitPermission, "approve the plan"
	}
	for _, s := range []string{in.Command, in.FilePath, in.Notebook, in.Path, in.URL, in.Skill, in.Pattern, in.Text} {
		if s != "" {
			return core.WaitPermission, brief(p.Tool + ": " + s)
		}
	}
	return core.WaitPermission, brief(p.Tool)
}

// told returns what the hook recorded, else what the payload says.
func told(s *string, other string) string {
	if s != nil && *s != "" {
		return *s
	}
	return other
}

// brief puts a text on one line and cuts it to maxAsk runes.
func brief(s string) string {
	if len(s) > 8*maxAsk {
		s = strings.ToValidUTF8(s[:8*maxAsk], "")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > maxAsk {
		return string(r[:maxAsk-1]) + "…"
	}
	return s
}
